"""Fit main effects and two-way interactions of a factorial design, by least squares on logarithms.

The fit is least squares on the logarithm with sum-to-zero contrasts. A nested factor exists within one
level of another factor only; its contrasts are 0 elsewhere. Each combination of the other factors has weight
1, divided among the cells of its nested factors: a filesystem with three data modes does not count three
times. If no cell is missing, all terms are orthogonal, and their shares of the variance and the residual add
up to 1.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Row = Mapping[str, str | None]  # factor: level, None outside the level that it is nested in


@dataclass(frozen=True)
class Factor:
    """A factor and its levels. within: the factor and level in which it exists, or None."""

    name: str
    levels: tuple[str, ...]
    within: tuple[str, str] | None = None


@dataclass(frozen=True)
class Term:
    """A main effect or an interaction. share: part of the variance that is lost without the term.

    effects: level or pair of levels → ratio to the prediction of the lower terms.
    """

    factors: tuple[str, ...]
    freedom: int
    share: float
    effects: Mapping[tuple[str, ...], float]

    @property
    def name(self) -> str:
        """Return `a`, or `a × b`."""
        return " × ".join(self.factors)


@dataclass(frozen=True)
class Fit:
    """mean: the geometric mean; residual: share of the variance that no term explains.

    unshared: 1 minus all shares and the residual; 0 unless cells are missing.
    """

    mean: float
    terms: tuple[Term, ...]
    residual: float
    unshared: float

    def term(self, *factors: str) -> Term | None:
        """Return the term of one factor, or of two in either order."""
        return next((term for term in self.terms if set(term.factors) == set(factors)), None)

    def ratio(self, factor: str, a: str, b: str, given: Mapping[str, str]) -> float:
        """Return a over b of a factor, at given levels of others, by two-way interactions."""
        product = 1.0
        for level, sign in ((a, 1), (b, -1)):
            main = self.term(factor)
            assert main is not None
            product *= main.effects[(level,)] ** sign
            for other, at in given.items():
                if (term := self.term(factor, other)) is not None:
                    key = (level, at) if term.factors[0] == factor else (at, level)
                    product *= term.effects.get(key, 1.0) ** sign
        return product


class TooFewCells(Exception):
    """The cells do not determine all effects."""


def fit(factors: Sequence[Factor], rows: Sequence[Row], values: Sequence[float]) -> Fit:
    """Fit main effects and two-way interactions to the logarithms. Raises TooFewCells."""
    if not rows:
        raise TooFewCells
    crossed = [factor.name for factor in factors if factor.within is None]
    parents = [tuple(row[name] for name in crossed) for row in rows]
    counts = Counter(parents)
    weight = np.sqrt([1 / counts[parent] for parent in parents])
    blocks = {}
    for term in terms_of(factors):
        block = np.array([contrast(term, [row[factor.name] for factor in term]) for row in rows])
        if block.any():
            blocks[term] = block
    matrix = np.column_stack([np.ones(len(rows)), *blocks.values()]) * weight[:, None]
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        raise TooFewCells
    y = np.log(np.asarray(values, dtype=float)) * weight
    solution, left = solve(matrix, y)
    total = solve(weight[:, None], y)[1]
    terms, at = [], 1
    for term, block in blocks.items():
        width = block.shape[1]
        without = np.delete(matrix, range(at, at + width), axis=1)
        share = (solve(without, y)[1] - left) / total if total > 0 else 0.0
        effects = ratios(term, solution[at : at + width])
        terms.append(Term(tuple(factor.name for factor in term), width, share, effects))
        at += width
    residual = left / total if total > 0 else 0.0
    unshared = 1 - residual - sum(term.share for term in terms) if total > 0 else 0.0
    return Fit(float(np.exp(solution[0])), tuple(terms), residual, unshared)


def solve(matrix: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (coefficients, sum of squared residuals) of least squares."""
    solution = np.linalg.lstsq(matrix, y, rcond=None)[0]
    return solution, float(np.sum((y - matrix @ solution) ** 2))


def terms_of(factors: Sequence[Factor]) -> list[tuple[Factor, ...]]:
    """Return each factor, then each pair, but no factor with the one that it is nested in."""
    pairs = [
        (a, b)
        for a, b in itertools.combinations(factors, 2)
        if a.name != (b.within or ("",))[0] and b.name != (a.within or ("",))[0]
    ]
    return [*[(factor,) for factor in factors], *pairs]


def contrast(term: Sequence[Factor], levels: Sequence[str | None]) -> np.ndarray:
    """Return the sum-to-zero contrasts of a term at levels of its factors.

    Of a factor: 1 in the level's column, -1 in all for the last level, 0 where it does not exist.
    """
    parts = []
    for factor, level in zip(term, levels, strict=True):
        rows = np.vstack([np.eye(len(factor.levels) - 1), np.full(len(factor.levels) - 1, -1.0)])
        parts.append(rows[0] * 0 if level is None else rows[factor.levels.index(level)])
    return functools.reduce(np.kron, parts)


def ratios(term: Sequence[Factor], solution: np.ndarray) -> dict[tuple[str, ...], float]:
    """Return the effect of each level or pair of levels as a ratio."""
    every = itertools.product(*(factor.levels for factor in term))
    return {levels: float(np.exp(contrast(term, levels) @ solution)) for levels in every}
