"""Fill in the Jinja templates of claims.yml, such as a claim's explanation, with numbers of stored runs.

    {{ tps(mode='wal') }}                          rate of the timed cell
    {{ per('fua', op='insert', mode='truncate') }} per transaction, from the watched run
    {{ device('fua', mode='truncate') }}           the device's ms per transaction for a cause, timed cell
    {{ authors('default_mixed') }}                 median TPS of the authors' runs
    {{ authors('wal_mixed', 'default_mixed') }}    ratio of their means
    {{ paper('P-02') }}                            the paper's ratio

Settings override the paper's constants; op is all by default.
"""

from statistics import median
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateError

from analysis.schemas.ledger import LABELS
from base.errors import BadInputError, LabError
from base.text import decimals
from commitpath.papers.judge import artifact_ratio, cell_of
from commitpath.papers.paper import Paper
from commitpath.results import costs
from commitpath.results.costs import COUNTS, TIMES, device_ms
from commitpath.results.metrics import WHOLE
from commitpath.results.metrics import number as metric
from commitpath.results.query import Found, Results

# ms by cause, as `per` names them.
MILLISECONDS = {name.removesuffix("_ns"): name for name in TIMES}


class NotMeasuredError(LabError):
    """A number that a text uses is in no run."""


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
        """Return the text, or a note if one of its runs is missing. Raises BadInputError."""
        if template is None:
            return None
        try:
            return self.environment.from_string(template).render().strip()
        except NotMeasuredError as error:
            return f"(This text cannot be written: {error}.)"
        except (TemplateError, TypeError, KeyError) as error:
            raise BadInputError(f"claims.yml: {template.strip()[:60]!r}…: {error}") from error

    def tps(self, op: str = WHOLE, **settings: Any) -> float:
        """Return transactions per second of a timed cell."""
        value = self.timed(settings).number("tps", op).value
        assert value is not None  # timed() has a run
        return value

    def device(self, cause: str, **settings: Any) -> float:
        """Return the device's ms per transaction for a cause, or for all causes (`total`)."""
        spent = device_ms(self.timed(settings).runs[-1])
        return sum(spent.values()) if cause == "total" else spent.get(cause, 0.0)

    def timed(self, settings: dict[str, Any]) -> Found:
        """Return the timed cell with these settings. Raises NotMeasuredError without a run."""
        cell = self.results.find(cell_of(self.paper, settings))
        if not cell.runs:
            raise NotMeasuredError(f"{words(settings)}: {cell.reason}")
        return cell

    def per(self, quantity: str, op: str = WHOLE, **settings: Any) -> float:
        """Return a mean per transaction: of COUNTS, `KiB`, `window KiB`, a label in KiB, or MILLISECONDS."""
        run = self.results.watched(cell_of(self.paper, settings), stored=True)
        if run is None:
            raise NotMeasuredError(f"{words(settings)}: no watched run")
        means = costs.of_run(run)[op]
        if quantity in COUNTS:
            return means[quantity]
        if quantity == "KiB":
            return means["bytes"] / 1024
        if quantity == "window KiB":
            return metric(run, "kib", WHOLE)
        return means[quantity] / 1024 if quantity in LABELS else means[MILLISECONDS[quantity]] / 1e6

    def authors(self, cell: str, over: str | None = None) -> float:
        """Return the median of the authors' runs of a cell of their spreadsheet, or a ratio of means."""
        if over is not None:
            return float(artifact_ratio(self.paper, (cell, over))["ratio"])
        return median([tps for tps, _ in self.paper.artifact[cell]])

    def paper_value(self, name: str) -> float:
        """Return the paper's ratio in a claim."""
        return float({claim.id: claim.expected for claim in self.paper.claims}[name])


def words(settings: dict[str, Any]) -> str:
    """Return settings as text for a message."""
    return " ".join(f"{name}={value}" for name, value in settings.items())


def number(value: float) -> str:
    """Return a number with three digits, as on the page: 0.0123, 1.23, 12.3, 1230."""
    return "0" if value == 0 else f"{value:.{decimals(value, 3)}f}"
