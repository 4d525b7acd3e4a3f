"""Factor attribution: effects that were put in come out, and what is left is said."""

import itertools

import pytest

from commitpath.papers import factors
from commitpath.papers.effects import Factor, Fit, TooFewCells, fit

MODE = Factor("journal mode", ("delete", "wal"))
SYNC = Factor("synchronous", ("full", "normal"))
FS = Factor("filesystem", ("ext4", "F2FS"))
DATA = Factor("ext4 data mode", ("ordered", "writeback", "journal"), ("filesystem", "ext4"))
SIZE = Factor("WAL size", ("15 frames", "1000 frames"), ("journal mode", "wal"))
FACTORS = [MODE, SYNC, FS, DATA, SIZE]

Made = dict[str, str | None]


def rows() -> list[Made]:
    """Every cell of the design; a nested factor is None outside its parent."""
    made: list[Made] = []
    for mode, sync, fs in itertools.product(MODE.levels, SYNC.levels, FS.levels):
        for data in DATA.levels if fs == "ext4" else [None]:
            for size in SIZE.levels if mode == "wal" else [None]:
                names = (factor.name for factor in FACTORS)
                made.append(dict(zip(names, (mode, sync, fs, data, size), strict=True)))
    return made


def tps(row: Made) -> float:
    """wal 4x, of it normal 3x more but in delete none; journal data a half; the size 1.21x in WAL."""
    value = 100.0
    value *= 2.0 if row["journal mode"] == "wal" else 0.5
    if row["journal mode"] == "wal" and row["synchronous"] == "normal":
        value *= 3
    value *= {"ordered": 1.0, "writeback": 1.0, "journal": 0.5, None: 1.0}[row["ext4 data mode"]]
    value *= {"15 frames": 1 / 1.1, "1000 frames": 1.1, None: 1.0}[row["WAL size"]]
    return value


def made(keep: slice = slice(None)) -> Fit:
    some = rows()[keep]
    return fit(FACTORS, some, [tps(row) for row in some])


def test_known_effects_are_recovered() -> None:
    found = made()
    assert found.ratio("journal mode", "wal", "delete", {"synchronous": "full"}) == pytest.approx(4)
    assert found.ratio("journal mode", "wal", "delete", {"synchronous": "normal"}) == pytest.approx(12)
    assert found.ratio("synchronous", "normal", "full", {"journal mode": "delete"}) == pytest.approx(1)
    assert found.ratio("ext4 data mode", "ordered", "journal", {}) == pytest.approx(2)
    assert found.ratio("WAL size", "1000 frames", "15 frames", {}) == pytest.approx(1.21)
    # data=journal is a third of ext4's weight: its geometric mean is 2 ** (1/3) below F2FS
    assert found.ratio("filesystem", "F2FS", "ext4", {}) == pytest.approx(2 ** (1 / 3))


def test_shares_add_up_where_no_cell_is_missing() -> None:
    found = made()
    assert found.residual == pytest.approx(0, abs=1e-12)
    assert found.unshared == pytest.approx(0, abs=1e-12)
    assert sum(term.share for term in found.terms) == pytest.approx(1)
    zero = found.term("synchronous", "filesystem")
    assert zero is not None and zero.share == pytest.approx(0, abs=1e-12)
    assert found.term("filesystem", "ext4 data mode") is None


def test_what_three_factors_do_together_is_the_residual() -> None:
    some = rows()
    values = [
        tps(row)
        * (
            5
            if (row["journal mode"], row["synchronous"], row["filesystem"]) == ("wal", "full", "F2FS")
            else 1
        )
        for row in some
    ]
    found = fit(FACTORS, some, values)
    assert found.residual > 0.001
    assert found.unshared == pytest.approx(0, abs=1e-12)


def test_missing_cells_are_said_and_too_few_refused() -> None:
    found = made(slice(1, None))
    assert abs(found.unshared) > 0.0005
    assert "Cells are missing" in " ".join(factors.sentences(found, "all"))
    assert found.ratio("journal mode", "wal", "delete", {"synchronous": "normal"}) == pytest.approx(12)
    for keep in (slice(0, 5), slice(0, 0)):
        with pytest.raises(TooFewCells):
            made(keep)
