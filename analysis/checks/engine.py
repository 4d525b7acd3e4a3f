"""Did the engine do what its settings say?"""

from __future__ import annotations

from analysis.run import Run


def as_set(run: Run) -> list[str]:
    """The engine's calls of its files are those of the settings that were in effect."""
    made = run.ledger
    if made is None or not made.given.calls:
        return []
    return run.driver.engine.contradicted(run.driver.config["effective"], made.vfs)
