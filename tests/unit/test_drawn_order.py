"""In which order a lab board runs what is repeated."""

from commitpath.experiment import drawn_order
from commitpath.sweep import drive


def test_of_two_turns_either_has_one_first() -> None:
    for seed in range(20):
        firsts = [drawn_order(2, seed, turn)[0] for turn in range(1, 11)]
        assert all(sum(firsts[at : at + 2]) == 1 for at in range(0, 10, 2))
    drawn = [drawn_order(2, seed, 1)[0] for seed in range(100)]
    assert 30 < sum(drawn) < 70
    assert drawn == [drawn_order(2, seed, 1)[0] for seed in range(100)]
    assert drawn_order(1, 1, 1) == drawn_order(1, 1, 2) == [0]


def test_a_sweep_of_a_lab_board_is_in_a_drawn_order() -> None:
    def settings(**place: str) -> list[tuple[str, ...]]:
        runs = drive.in_order(drive.planned({"GRID": "apsys17-fig1"}, place)[0])
        return [(run.cell["sqlite"], run.cell["fs"], run.cell["journal_mode"]) for run in runs.values()]

    lab = {"BOARD": "another", "CLOCK": "real", "DEVICE": "own"}
    written, drawn = settings(), settings(**lab)
    assert drawn == settings(**lab) != written
    assert sorted(drawn) == sorted(written)
