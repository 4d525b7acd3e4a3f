"""What bench_analysis.py measures of `make inspect TRACE=`: python tests/bench/matcher.py TRACE

Reads a trace and matches its commands. Prints the seconds and CPU seconds of that, from after the imports.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy.ma  # noqa: F401 - Polars imports it when the first series is made, 0.02 s later

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from analysis.inspect import external_trace

if __name__ == "__main__":
    begin, cpu = time.perf_counter(), time.process_time()
    external_trace.read(sys.argv[1])
    print(json.dumps({"seconds": time.perf_counter() - begin, "cpu": time.process_time() - cpu}))
