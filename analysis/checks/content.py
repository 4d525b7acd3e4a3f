"""Do the bytes that were written contradict what the ledger says of them?"""

from __future__ import annotations

from analysis.run import Run


def contradicts_nothing(run: Run) -> list[str]:
    """No bytes are positively something else, of another place or of another commit than the ledger says."""
    if run.content is None or run.content.wrong.is_empty():
        return []
    wrong = run.content.wrong
    first = wrong.row(0, named=True)
    return [
        f"content: {wrong['bytes'].sum()} bytes contradict the ledger, first {first['label']} at sector "
        f"{first['sector']}: {first['rule']}"
    ]
