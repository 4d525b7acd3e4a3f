"""Time our analysis, raw files to ledger, for bench_analysis.py: python tests/bench/ours.py RUN_DIR

Reads the driver's files, the probes' records and blktrace's, correlates them into the ledger's
tables, and compares what both counted. Prints the seconds and CPU seconds of that, from after
the imports. What `make analyse` does besides (the events of the older tables, figures, report,
hashes) is not in it.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy.ma  # noqa: F401 - Polars imports it when the first series is made, 0.02 s later

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from analysis.adapters import board, driver  # noqa: E402
from analysis.ledger import build, records  # noqa: E402
from analysis.observers import blktrace  # noqa: E402


def analyse(raw: Path) -> build.Ledger:
    """Everything from the files in raw/ to the tables; exits if the two witnesses disagree."""
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(driver.read, raw / "driver")
        # behind it in the same thread
        counting = pool.submit(lambda: blktrace.count(raw / "blktrace", *reading.result().window))
        found = records.read(raw / "probes.bin")
        ran = reading.result()
        layout = board.read(raw, ran.config["driver"]["database"]).layout
        if ran.vfs is None or layout is None:
            sys.exit(f"ours: {raw}: not all that a ledger needs was recorded")
        made = build.build(
            build.Input(
                records=found,
                dev=found.devices[0],
                layout=layout,
                vfs=ran.vfs,
                transactions=ran.transactions,
                phases=ran.phases,
                window=ran.window,
                databases={Path(ran.config["driver"]["database"]).name},
                calls=True,
            )
        )
        trace = counting.result()
    if trace.devices != [f"{dev >> 20}:{dev & 0xFFFFF}" for dev in found.devices]:
        sys.exit(f"ours: blktrace watched {trace.devices}, the probes {found.devices}")
    if (counted := sum(trace.commands.values())) != made.ledger.height:
        sys.exit(f"ours: blktrace has {counted} commands, the ledger {made.ledger.height}")
    return made


def main() -> None:
    raw = Path(sys.argv[1]) / "raw"
    begin, cpu = time.perf_counter(), time.process_time()
    analyse(raw)
    print(json.dumps({"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu}))


if __name__ == "__main__":
    main()
