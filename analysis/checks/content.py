"""Check that the bytes written to the device do not contradict the ledger."""

from __future__ import annotations

from analysis.run import Run


def contradicts_nothing(run: Run) -> list[str]:
    """Reject bytes whose content shows another type, place or commit than the ledger records."""
    if run.content is None or run.content.wrong.is_empty():
        return []
    wrong = run.content.wrong
    first = wrong.row(0, named=True)
    return [
        f"content: {wrong['bytes'].sum()} bytes contradict the ledger, first {first['label']} at sector "
        f"{first['sector']}: {first['rule']}"
    ]
