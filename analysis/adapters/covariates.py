"""Read covariates.json: a lab board's counters, clocks and temperatures around a run."""

from pathlib import Path

from analysis.run_files.reading import read_document
from base.errors import FileError
from base.strict_json import UnfitError
from model.covariates import Covariates, parse


def read(raw: Path) -> Covariates | None:
    """Return the covariates of a run; None if there is no file. Raises FileError."""
    path = raw / "board/covariates.json"
    if not path.exists():
        return None
    document = read_document(path, "covariates")
    try:
        return parse(document)
    except UnfitError as error:
        raise FileError(path, "end", str(error), "a later time_ns") from None
