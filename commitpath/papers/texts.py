"""The texts of claims.yml: Jinja templates whose numbers are looked up, so that none can be stale.

    {{ tps(mode='wal') }}                          of the timed cell
    {{ per('fua', op='insert', mode='truncate') }} of a transaction, from the watched run
    {{ device('fua', mode='truncate') }}           the device's ms per transaction for a cause, timed cell
    {{ authors('default_mixed') }}                 median TPS of the authors' runs
    {{ authors('wal_mixed', 'default_mixed') }}    ratio of their means
    {{ paper('P-02') }}                            the paper's ratio

Settings are those of a cell, in place of the paper's constants; op is all, if not given.
"""

from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError

from analysis.schemas.ledger import LABELS
from base.errors import BadInputError, LabError
from commitpath.papers.judge import cell_of, of_artifact
from commitpath.papers.measured import COUNTS, TIMES, causes, device_ms
from commitpath.papers.paper import Paper
from commitpath.reporting.statistics import median
from commitpath.results.metrics import WHOLE
from commitpath.results.query import Found, Results

# What `per` takes: counts; KiB of all that was written, or of a label; ms of a cause.
MILLISECONDS = {name.removesuffix("_ns"): name for name in TIMES}


class NotMeasuredError(LabError):
    """A number that a text wants and that no run has."""


class Writer:
    """Fill in templates from the results database."""

    def __init__(self, paper: Paper, results: Results) -> None:
        self.paper, self.results = paper, results
        self.environment = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True)
        self.environment.globals.update(
            tps=self.tps, per=self.per, device=self.device, authors=self.authors, paper=self.paper_value
        )
        self.environment.filters["n"] = number

    def write(self, template: str | None) -> str | None:
        """The text; where one of its runs is missing, that is said in its place. Raises BadInputError."""
        if template is None:
            return None
        try:
            return self.environment.from_string(template).render().strip()
        except NotMeasuredError as error:
            return f"(This text cannot be written: {error}.)"
        except (TemplateError, TypeError, KeyError) as error:
            raise BadInputError(f"claims.yml: {template.strip()[:60]!r}…: {error}") from error

    def tps(self, op: str = WHOLE, **settings: Any) -> float:
        """Transactions per second."""
        value = self.find(settings).number("tps", op).value
        assert value is not None  # find() has a run
        return value

    def device(self, cause: str, **settings: Any) -> float:
        """The device's time for a cause (`total`: all of them), ms per transaction of the run."""
        spent = device_ms(self.find(settings).runs[-1])
        return sum(spent.values()) if cause == "total" else spent.get(cause, 0.0)

    def find(self, settings: dict[str, Any]) -> Found:
        """The timed cell with these settings; NotMeasuredError where it has no run."""
        found = self.results.find(cell_of(self.paper, settings))
        if not found.runs:
            raise NotMeasuredError(f"{words(settings)}: {found.reason}")
        return found

    def per(self, what: str, op: str = WHOLE, **settings: Any) -> float:
        """A mean per transaction: of COUNTS, `KiB`, `window KiB`, a label in KiB, or of MILLISECONDS."""
        found = causes(self.results, cell_of(self.paper, settings))
        if found is None:
            raise NotMeasuredError(f"{words(settings)}: no watched run")
        means = found.ops[op]
        if what in COUNTS:
            return means[what]
        if what == "KiB":
            return means["bytes"] / 1024
        if what == "window KiB":
            return found.window_bytes / 1024
        return means[what] / 1024 if what in LABELS else means[MILLISECONDS[what]] / 1e6

    def authors(self, cell: str, over: str | None = None) -> float:
        """The median of the authors' runs of a cell of their spreadsheet; or a ratio of means."""
        if over is not None:
            return of_artifact(self.paper, (cell, over)).ratio
        return median([tps for tps, _ in self.paper.artifact[cell]])

    def paper_value(self, claim: str) -> float:
        """The paper's ratio in a claim."""
        return float({one.id: one.expected for one in self.paper.claims}[claim])


def words(settings: dict[str, Any]) -> str:
    """Settings for a message."""
    return " ".join(f"{name}={value}" for name, value in settings.items())


def number(value: float) -> str:
    """Three digits, as the page shows numbers: 0.0123, 1.23, 12.3, 1230."""
    if value == 0:
        return "0"
    digits = max(0, 2 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 3
    return f"{value:.{digits}f}"
