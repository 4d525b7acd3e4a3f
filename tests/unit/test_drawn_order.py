"""In which order a lab board runs what is repeated."""

from commitpath.sweep import drive


def test_a_sweep_of_a_lab_board_is_in_a_drawn_order() -> None:
    def settings(**place: str) -> list[tuple[str, ...]]:
        runs = drive.in_order(drive.planned({"GRID": "apsys17-fig1"}, place)[0])
        return [(run.cell.sqlite, run.cell.fs, run.cell.journal_mode) for run in runs.values()]

    lab = {"BOARD": "another", "CLOCK": "real", "DEVICE": "own"}
    written, drawn = settings(), settings(**lab)
    assert drawn == settings(**lab) != written
    assert sorted(drawn) == sorted(written)
