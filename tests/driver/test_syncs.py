"""Table of the sync calls of one-row transactions, which other tests use; tests those of WAL checkpoints."""

import os

import pytest

# fsync and fdatasync calls per transaction, measured with SQLite 3.40.1. In
# WAL there are 3 more for each checkpoint: the log before it, the database
# after it, and the header when the log starts over.
ORACLE = {
    "delete": {"off": 0, "normal": 3, "full": 4, "extra": 5},
    "truncate": {"off": 0, "normal": 3, "full": 5, "extra": 5},
    "persist": {"off": 0, "normal": 4, "full": 5, "extra": 5},
    "memory": {"off": 0, "normal": 1, "full": 1, "extra": 1},
    "off": {"off": 0, "normal": 1, "full": 1, "extra": 1},
    "wal": {"off": 0, "normal": 0, "full": 1, "extra": 1},
}
CELLS = [(mode, level, count) for mode, row in ORACLE.items() for level, count in row.items()]


def sync_counts(driver, *options, **keywords):
    """Run; return {transaction: syncs} and {phase: syncs outside transactions}."""
    log = driver.folder / "syncs"
    environment = {**os.environ, "COMMITPATH_SYNC_LOG": str(log)}
    done = driver.run(*options, env=environment, **keywords)
    assert done.returncode == 0, done.stderr
    inside, outside, transaction, phase = {}, {}, None, None
    for line in log.read_text().splitlines():
        event, *fields = line.split()
        if event == "begin":
            transaction = int(fields[0])
            inside[transaction] = 0
        elif event == "end":
            transaction = None
        elif event == "phase":
            phase = fields[0]
            outside[phase] = 0
        elif transaction is not None:
            inside[transaction] += 1
        elif phase is not None:
            outside[phase] += 1
    return inside, outside


@pytest.mark.parametrize(("level", "commit"), [("off", 0), ("normal", 0), ("full", 1)])
def test_syncs_per_checkpoint(driver, level, commit):
    driver.populate()
    inside, outside = sync_counts(driver, "--checkpoint-every", 5, mode="wal", synchronous=level, n=20)
    checkpoints = 4
    header = 0 if level == "off" else 1
    # The transaction after a checkpoint starts the log over and syncs its header.
    assert [inside[i] for i in range(5, 20)] == ([commit + header] + [commit] * 4) * 3
    assert outside["insert"] == (0 if level == "off" else 2) * checkpoints
