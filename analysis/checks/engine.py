"""Check that an engine's file calls and its own counters fit its settings (hooks of model/engines/)."""

from analysis.adapters.driver import Driver
from analysis.run import Run
from analysis.run_files import databases


def as_set(run: Run) -> list[str]:
    """Check that the engine's file calls are those of its effective settings."""
    made = run.ledger
    if made is None or not made.given.calls:
        return []
    engine, driver = run.driver.engine, run.driver
    return [
        f"{database.title}{wrong}"
        for database in databases.split(driver.config, driver.transactions.height)
        for wrong in engine.contradicted(
            engine.in_effect(database.config), databases.calls_of(made.vfs, database.number)
        )
    ]


def as_counted(run: Run) -> list[str]:
    """Check the engine's counters against each other, its calls, and the bytes that reached the device.

    The baseline run is checked too, without its calls, which are not logged.
    """
    baseline = _miscounted(run, run.twin.driver if run.twin else None)
    return _miscounted(run, run.driver) + [f"the baseline run: {reason}" for reason in baseline]


def _miscounted(run: Run, driver: Driver | None) -> list[str]:
    if driver is None:
        return []
    engine, title, calls = driver.engine, driver.engine.TITLE, driver.vfs
    wrong = databases.unsummed(driver.config, engine.PROPERTIES, engine.COUNTED)
    for database in databases.split(driver.config, driver.transactions.height):
        logged = None if calls is None else databases.calls_of(calls, database.number)
        wrong += [
            f"{database.title}{reason}" for reason in engine.miscounted(database.config, database.ran, logged)
        ]
    if wrong:
        return [f"counters of {title}: {reason}" for reason in wrong]
    packed = run.board.mount is not None and any("compress" in option for option in run.board.mount.options)
    least, written = (
        driver.engine.least_written(driver.config),
        driver.stat_difference()["write_sectors"] * 512,
    )
    if packed or written >= least:
        return []
    return [f"counters of {title}: at least {least} bytes written, but the device got {written}"]
