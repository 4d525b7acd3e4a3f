"""Fit 20 devices with hidden parameters, and predict what no fit saw: `make bench-profile [SEED=… N=…]`.

Each device is drawn within physical limits (hidden.py), measured on the flash model with the host's time and
jitter, or with BOARD=virtual on the virtual board (hidden_board.py), and fitted as by `make profile`. Then
both devices, without jitter, get the sequences of a database and the commands of six recorded cells of
SQLite: the error is the predicted time, or TPS, against the hidden device's. Each is the mean over DRAWS
seeds of the model, which draws the time of a merge. Its other fits are judged in the same way. A geometry's
distance is the sum over its parameters of the doublings from the hidden one. Exit code 1 if fewer than nine
tenths are within 5 % in all rows.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import hidden
import hidden_board
import numpy as np
import recorded_cells

from base.errors import LabError
from commitpath.fitting import prediction
from commitpath.fitting.candidate import HOST_KIB, Candidate
from commitpath.fitting.device_fit import Result, fit
from commitpath.fitting.held_out import sequences

DRAWS = 20
WITHIN = 0.05
SHARE = 0.9
STRUCTURE = (
    *("read_bytes", "dies", "program_bytes", "cache_kib", "cache_reorder", "unit_kib", "open_units"),
    *("log_kib", "pad_bytes", "map_kib", "slc_mib"),
)
EXTENSIONS = {"log_kib": "log", "write_command_ns": "write command", "slc_mib": "SLC", "map_kib": "map"}


def number(given: Mapping[str, str], name: str, default: int) -> int:
    """Return a variable that is a positive number."""
    text = given.get(name, str(default))
    if not text.isdecimal() or not int(text):
        raise LabError(f"{name}={text}: not a positive number")
    return int(text)


def wrong(device: Candidate, result: Result) -> list[str]:
    """Return what of the structure is not as hidden, and not given as undecided."""
    return [
        f"{name} {device.value(name)} not {result.candidate.value(name)}"
        for name in STRUCTURE
        if device.value(name) not in (result.candidate.value(name), *result.alike.get(name, ()))
    ]


def covered(device: Candidate, result: Result) -> tuple[int, int]:
    """Return how many intervals have the hidden value, and how many intervals there are."""
    has = [low <= device.value(name) <= high for name, (low, high) in result.intervals.items()]
    return sum(has), len(has)


def distance(device: Candidate, fitted: Candidate) -> float:
    """Return how many doublings the geometry of a fitted device is from the hidden one."""
    pairs = [(device.value(name) + 1, fitted.value(name) + 1) for name in STRUCTURE]
    return float(sum(abs(np.log2(its / hidden)) for hidden, its in pairs))


def mean_of_draws(device: Candidate, measure: Callable[[Candidate], float]) -> float:
    """Return the mean of `measure` over seeds, where the device's merges take times drawn at random."""
    seeds = range(1, DRAWS + 1) if device.value("merge_spread_ns") else (1,)
    return float(np.mean([measure(device.changed(seed=seed)) for seed in seeds]))


def errors_of(
    device: Candidate, measures: Iterable[Callable[[Candidate], float]], truth: Sequence[float]
) -> list[float]:
    """Return the relative error of each measure. truth: of the hidden device."""
    return [mean_of_draws(device, measure) / true - 1 for measure, true in zip(measures, truth, strict=True)]


def table(errors: np.ndarray, kinds: np.ndarray, names: list[str]) -> list[str]:
    """Return the errors of each sequence, per cent: median, 90 % and largest, by kind of device."""
    lines = [f"{'held out, % (median / p90 / max)':36} {'units':>18} {'pages':>18}"]
    for at, name in enumerate(names):
        columns = []
        for kind in ("units", "pages"):
            mine = 100 * np.abs(errors[kinds == kind, at])
            shown = (np.median(mine), np.quantile(mine, 0.9), mine.max()) if mine.size else ()
            columns.append(" / ".join(f"{value:.1f}" for value in shown))
        lines.append(f"{name:36} {columns[0]:>18} {columns[1]:>18}")
    return lines


def main(words: list[str]) -> int:
    """Fit the devices, and print a line for each and the table."""
    given = dict(word.partition("=")[::2] for word in words)
    first, count = number(given, "SEED", 1), number(given, "N", 20)
    on_board = "BOARD" in given
    errors, kinds, names, shares = list[list[float]](), list[str](), list[str](), [0, 0]
    of_others, nearer, far = list[float](), 0, 0
    cells, host = recorded_cells.cells(), dict[str, list[float]]()
    for seed in range(first, first + count):
        kind, device, draw = hidden.drawn(seed)
        if on_board:
            device = hidden_board.on_board(device)
        measurement = hidden_board.measured(device) if on_board else hidden.measured(device, draw)
        for name, value in hidden_board.host_times(device, measurement).items() if on_board else ():
            host.setdefault(name, []).append(value)
        begin = time.process_time()
        result = fit(measurement)
        seconds = time.process_time() - begin
        fitted = result.candidate.changed(**{HOST_KIB: 0})
        facts = measurement.facts
        measures = {
            name: partial(hidden.time_of, facts=facts, rows=rows) for name, rows in sequences(facts).items()
        }
        measures |= {f"TPS, {name}": partial(cell.tps, facts=facts) for name, cell in cells.items()}
        names = [*measures]
        truth = [mean_of_draws(device, measure) for measure in measures.values()]
        found = errors_of(fitted, measures.values(), truth)
        errors.append(found)
        others = [one.changed(**{HOST_KIB: 0}) for one in prediction.confirmed(measurement, result).values()]
        worst_others = [max(map(abs, errors_of(one, measures.values(), truth))) for one in others]
        of_others += worst_others
        own = distance(device, fitted)
        far += own > 0
        nearer += own > min((distance(device, one) for one in others), default=own)
        kinds.append(kind)
        shares = [a + b for a, b in zip(shares, covered(device, result), strict=True)]
        has = ", ".join(text for key, text in EXTENSIONS.items() if device.value(key)) or "plain"
        amiss = "; ".join(wrong(device, result)) or "structure found"
        worst = 100 * max(map(abs, found))
        print(f"{seed:3} {kind} ({has}): worst {worst:.1f} %, cost {result.cost_of_a_cell:.2f}, {amiss}, "
              f"other fits: {', '.join(f'{100 * one:.1f} %' for one in worst_others) or 'none'}, "
              f"{seconds:.1f} s of CPU", flush=True)  # fmt: skip
        if "SHOW" in given:
            values = {
                n: (device.value(n), result.candidate.value(n)) for n in [*STRUCTURE, *result.intervals]
            }
            print(
                "   ",
                {n: v for n, v in values.items() if v != (0, 0)},
                [round(100 * e, 1) for e in found],
                result.alike,
            )
    together = np.array(errors)
    print("\n".join(table(together, np.array(kinds), names)))
    good = int((np.abs(together).max(axis=1) <= WITHIN).sum())
    print(f"{good} of {count} devices are within {WITHIN:.0%} in all {len(names)} rows")
    print(f"{sum(one <= WITHIN for one in of_others)} of {len(of_others)} other fits are, too; "
          f"of {far} devices without the hidden geometry, {nearer} have one that is nearer")  # fmt: skip
    print(f"{shares[0]} of {shares[1]} intervals of times have the hidden value (95 % expected)")
    if host:
        means = ", ".join(f"{name} {np.mean(values):.1f}" for name, values in sorted(host.items()))
        print(f"the host takes, in us: {means}")
    return 0 if good >= SHARE * count else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(f"bench-profile: {error}")
