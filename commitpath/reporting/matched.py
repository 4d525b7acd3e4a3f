"""A cell of a comparison as each of its two sides has it."""

from dataclasses import dataclass

from commitpath.database.select import Run
from commitpath.results.marks import MARKED, made_otherwise, marks


@dataclass(frozen=True)
class Matched:
    """One cell as it is in A and in B: its distinct measurements, and how many runs repeat one of them."""

    label: str
    a: list[Run]
    b: list[Run]
    repeats: tuple[int, int] = (0, 0)

    def marks(self) -> dict[str, str]:
        """What is unequal between the two, and what is to be known of their runs."""
        sides = (("A", self.a), ("B", self.b))
        told = [f"{side}: {mark}" for side, runs in sides for run in runs for mark in run.marks]
        found = {MARKED: "; ".join(dict.fromkeys(told))} if told else {}
        return marks(self.a[0], self.b[0]) | made_otherwise([*self.a, *self.b]) | found
