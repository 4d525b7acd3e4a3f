"""Judge a ratio (and its interval), direction, limit or count by the paper's: reproduced, contradicted, …"""

import math
from collections.abc import Sequence

REPRODUCED = "reproduced"
DIRECTION = "direction only"
CONTRADICTED = "contradicted"
# In place of contradicted, for a claim with a `gap` in claims.yml; or by an interval too wide.
NOT_DECIDED = "not decided"
NOT_TESTABLE = "not testable here"
# No verdict on the paper: the requested runs cannot judge the claim.
NOT_MEASURED = "not measured"
# No verdict: a run that the claim needs failed, was rejected, or does not exist.
MISSING = "missing"
ORDER = (REPRODUCED, DIRECTION, NOT_DECIDED, CONTRADICTED, NOT_MEASURED, MISSING)

# A ratio of the paper is reproduced within this factor.
FACTOR = 1.5
# Two rates this close are equal: neither side is ahead.
EQUAL = 0.01
# A ratio of the paper this close to 1 means "no change"; ours must then be within NO_CHANGE of 1. The
# authors' five runs of one cell spread by about as much.
CLAIMS_NO_CHANGE = 0.05
NO_CHANGE = 0.1

RULE = (
    (
        REPRODUCED,
        f"a ratio on the paper's side of 1, more than {NO_CHANGE:.0%} from it or as far as the paper's, "
        f"and within a factor of {FACTOR} of the paper's; a direction that holds in every pair; a value "
        "that is below the limit that the paper gives it; a count per transaction that is the paper's when "
        f"rounded to a whole number. Where the paper's ratio is within {CLAIMS_NO_CHANGE:.0%} of 1, it says "
        f"that nothing changes, and ours has to be within {NO_CHANGE:.0%} of 1.",
    ),
    (
        DIRECTION,
        f"a ratio on the paper's side of 1 (by more than {EQUAL:.0%}), but farther off than that factor, or "
        "nearer to 1 than that. Or the 95 % interval of a ratio of several runs holds such a ratio.",
    ),
    (CONTRADICTED, "all else: the other side of 1, no difference where one is claimed, another count."),
    (
        NOT_DECIDED,
        "would be contradicted, but by a mechanism that the model is known to lack, and that would bring the "
        "result to the paper's; the gap stands there. Or the 95 % interval of a ratio of several runs holds "
        "ratios that are contradicted and others that are not.",
    ),
    (NOT_TESTABLE, "it needs what this board has not; the reason stands there."),
    (
        NOT_MEASURED,
        "the requested runs cannot judge it: its cells are left out, have fewer transactions or rows than "
        "the paper's, or are not watched; the reason stands there.",
    ),
    (MISSING, "a run that it needs failed, was rejected or was not made; the reason stands there."),
)


def side(ratio: float) -> int:
    """Return 1 for a ratio above 1, -1 below 1, 0 if the two sides are equal."""
    return 0 if abs(ratio - 1) <= EQUAL else 1 if ratio > 1 else -1


def judge(kind: str, left: float, right: float, expected: str) -> str:
    """Judge the values of a comparison by the paper's, of a kind of Claim."""
    if kind == "count":
        return of_counts(left, right, expected)
    if kind == "limit":
        return REPRODUCED if left < float(expected.removeprefix("<")) else CONTRADICTED
    # a count may be 0: two of them are equal, and any other is ahead of one
    ratio = left / right if right else math.inf if left else 1.0
    return (of_direction if kind == "direction" else of_ratio)(ratio, expected)


def span(kind: str, expected: str) -> tuple[float, float]:
    """Return the lowest and the highest ratio that reproduce the paper's, of a kind ratio or direction.

    A direction is >1, <1, or >=1, which also accepts equality.
    """
    if kind == "direction":
        above, below = math.nextafter(1 + EQUAL, math.inf), math.nextafter(1 - EQUAL, 0)
        ends = {">1": (above, math.inf), ">=1": (1 - EQUAL, math.inf), "<1": (0.0, below)}
        return ends[expected]
    ratio = float(expected)
    if abs(ratio - 1) <= CLAIMS_NO_CHANGE:
        return 1 - NO_CHANGE, 1 + NO_CHANGE
    low, high = ratio / FACTOR, ratio * FACTOR
    # more than NO_CHANGE from 1, but a paper's smaller change reproduces itself
    above = min(ratio, math.nextafter(1 + NO_CHANGE, math.inf))
    below = max(ratio, math.nextafter(1 - NO_CHANGE, 0))
    return (max(low, above), high) if ratio > 1 else (low, min(high, below))


def within(interval: tuple[float, float], result: str, kind: str, expected: str) -> str:
    """Return the verdict on a ratio by its interval: the worst in it, or not decided if only some contradict.

    result: the verdict on the ratio itself, of a kind ratio or direction.
    """
    judged = {result, *(judge(kind, end, 1.0, expected) for end in interval)}
    low, high = span(kind, expected)
    if judged == {CONTRADICTED} and not interval[0] < low <= high < interval[1]:
        return CONTRADICTED
    return NOT_DECIDED if CONTRADICTED in judged else over(list(judged))


def of_ratio(ratio: float, expected: str) -> str:
    """Judge a measured ratio by the paper's."""
    low, high = span("ratio", expected)
    if low <= ratio <= high:
        return REPRODUCED
    changes = abs(float(expected) - 1) > CLAIMS_NO_CHANGE
    return DIRECTION if changes and side(ratio) == side(float(expected)) else CONTRADICTED


def of_direction(ratio: float, expected: str) -> str:
    """Judge a measured ratio by the paper's direction, such as `>1`."""
    low, high = span("direction", expected)
    return REPRODUCED if low <= ratio <= high else CONTRADICTED


def of_counts(left: float, right: float, expected: str) -> str:
    """Judge counts per transaction; expected: both per 1000 transactions, as `5000/1000`."""
    wanted = [float(text) / 1000 for text in expected.split("/")]
    return REPRODUCED if [round(left), round(right)] == wanted else CONTRADICTED


def over(verdicts: Sequence[str]) -> str:
    """Return the verdict over pairs: the worst of theirs."""
    return max(verdicts, key=ORDER.index)
