"""Render report.html of a watched command (`make watch`)."""

from typing import Any

from analysis.content import coverage
from analysis.instrument import cpu
from analysis.report.html_page import device_time, environment
from analysis.run import Run
from analysis.run_files.stored_files import NOT_HELD


def render(run: Run, manifest: dict[str, Any], summary: dict[str, Any], docs: str) -> str:
    """Return the page. Every value is escaped. docs: where the pages of docs/ are."""
    return (
        environment()
        .get_template("command/report.html.j2")
        .render(
            summary=summary,
            DOCS=docs,
            manifest=manifest,
            cell={name: value for name, value in run.cell.document().items() if name != "profiles"},
            device_time=device_time(run.board.device_time),
            not_held=NOT_HELD,
            without_content=coverage.WITHOUT,
            instruction_ns=cpu.measured(manifest["clock"]),
            watched={"commands": summary["block"]["writes"] is not None},
        )
    )
