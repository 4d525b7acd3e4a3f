"""A cell of a comparison, with the runs of both sides."""

from dataclasses import dataclass

from commitpath.database.select import Run
from commitpath.results.marks import MARKED, made_otherwise, marks


@dataclass(frozen=True)
class Matched:
    """One cell with its distinct measurements in A and in B, and how many other runs repeat one."""

    label: str
    a: list[Run]
    b: list[Run]
    repeats: tuple[int, int] = (0, 0)

    def marks(self) -> dict[str, str]:
        """Return mark → what is unequal between the two, or special about their runs."""
        sides = (("A", self.a), ("B", self.b))
        marked = [f"{side}: {mark}" for side, runs in sides for run in runs for mark in run.marks]
        special = {MARKED: "; ".join(dict.fromkeys(marked))} if marked else {}
        return marks(self.a[0], self.b[0]) | made_otherwise([*self.a, *self.b]) | special
