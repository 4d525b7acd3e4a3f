"""Did the engine do what its settings say, and as often as it counts?"""

from __future__ import annotations

from analysis.adapters.driver import Driver
from analysis.run import Run
from analysis.run_files import databases


def as_set(run: Run) -> list[str]:
    """The engine's calls of its files are those of the settings that were in effect."""
    made = run.ledger
    if made is None or not made.given.calls:
        return []
    engine, driver = run.driver.engine, run.driver
    return [
        f"{one.title}{wrong}"
        for one in databases.of(driver.config, driver.transactions.height)
        for wrong in engine.contradicted(one.config["effective"], databases.calls_of(made.vfs, one.number))
    ]


def as_counted(run: Run) -> list[str]:
    """What the engine counts of itself agrees with itself, with its calls, and with what reached the device;
    likewise of the untraced twin, whose calls nobody logged."""
    found = _miscounted(run, run.driver)
    return found + [
        f"the untraced twin: {one}" for one in _miscounted(run, run.twin.driver if run.twin else None)
    ]


def _miscounted(run: Run, driver: Driver | None) -> list[str]:
    if driver is None:
        return []
    engine, title, calls = driver.engine, driver.engine.TITLE, driver.vfs
    wrong = databases.unsummed(driver.config, engine.PROPERTIES, engine.COUNTED)
    for one in databases.of(driver.config, driver.transactions.height):
        own = None if calls is None else databases.calls_of(calls, one.number)
        wrong += [f"{one.title}{told}" for told in engine.miscounted(one.config, one.ran, own)]
    if wrong:
        return [f"what {title} counts of itself: {one}" for one in wrong]
    packed = run.board.mount is not None and any("compress" in option for option in run.board.mount.options)
    least, written = (
        driver.engine.least_written(driver.config),
        driver.stat_difference()["write_sectors"] * 512,
    )
    if packed or written >= least:
        return []
    return [f"what {title} counts of itself: {least} bytes at least, and the device was given {written}"]
