"""What a run costs in wall time, with its parts: `make bench`.

Three calls of `make experiment`: from an empty cache (PART=fresh), then the second call
of the default cell and of a small one. Prints a Markdown table; the parts are the steps
that the harness itself reports. PART=second leaves the first out.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP = re.compile(r"^( *)(.+): done, ([0-9.]+) s$")


def experiment(cache: Path | None, *variables: str) -> tuple[float, list[tuple[str, float]]]:
    """(wall seconds, outermost steps with their seconds) of one call; exits if it fails."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    if cache:
        environment["COMMITPATH_CACHE"] = str(cache)
    begin = time.monotonic()
    done = subprocess.run(
        ["make", "-s", "-C", str(ROOT), "experiment", *variables],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    wall = time.monotonic() - begin
    if done.returncode:
        sys.exit(f"bench: make experiment {' '.join(variables)} failed:\n{done.stderr}")
    matches = [STEP.match(line) for line in done.stderr.splitlines()]
    return wall, [(match[2], float(match[3])) for match in matches if match and not match[1]]


def row(name: str, asked: float, wall: float, steps: list[tuple[str, float]]) -> str:
    parts = "; ".join(f"{what} {seconds:.1f}" for what, seconds in steps)
    rest = wall - sum(seconds for _, seconds in steps)
    return f"| {name} | {asked:.0f} | {wall:.1f} | {parts}; rest {rest:.1f} |"


def main() -> None:
    print("| call | at most s | took s | parts |\n|---|---|---|---|", flush=True)
    if "PART=second" not in sys.argv[1:]:
        folder = Path(tempfile.mkdtemp(prefix="bench-", dir=ROOT))
        try:
            wall, steps = experiment(folder, "FS=f2fs", "MODE=wal")
            print(row("empty cache, `FS=f2fs MODE=wal`", 480, wall, steps), flush=True)
        finally:
            shutil.rmtree(folder)
    experiment(None)
    wall, steps = experiment(None)
    print(row("second call, default cell", 180, wall, steps), flush=True)
    experiment(None, "ROWS=1000", "N=100")
    wall, steps = experiment(None, "ROWS=1000", "N=100")
    print(row("second call, `ROWS=1000 N=100`", 60, wall, steps), flush=True)


if __name__ == "__main__":
    main()
