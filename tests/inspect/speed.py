"""How quick the page is with 200 000 block commands, or so many: python tests/inspect/speed.py [COMMANDS].

In headless Chromium, drawn by the CPU (--disable-gpu), 1440x900. First picture: from the start
of navigation to the end of the first drawing of the timeline, of a page in a file. Frames: while
the view pans by a ninetieth of itself in each, time between calls of requestAnimationFrame, and
the main thread's own CPU time for each (Performance.getMetrics in thread ticks), which tells
apart a slow page and a busy machine.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from selenium import webdriver

COMMANDS = 200_000
FRAMES = 120
ZOOMS = (0.9, 0.5, 0.1, 0.01, 0.001)  # parts of the run in view
_PAN = """
const [part, frames, done] = arguments, { view } = inspect, times = [];
const span = (view.high - view.low) * part, start = (view.low + view.high - span) / 2;
view.set(start, start + span);
let last = 0, way = 1;
function frame(now) {
  if (last) times.push(now - last);
  last = now;
  if (times.length >= frames) return done(times);
  if (view.t1 >= view.high) way = -1;
  if (view.t0 <= view.low) way = 1;
  view.pan((way * view.span) / 90);
  inspect.changed(true);
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""


class Frames(NamedTuple):
    """Times of the frames at one zoom, in ms."""

    part: float
    median: float
    p95: float
    cpu: float  # of the main thread, mean


class Speed(NamedTuple):
    """What was measured."""

    first: float  # ms until the first picture
    first_cpu: float  # of the main thread
    frames: list[Frames]


def measure(browser: webdriver.Chrome, page: Path) -> Speed:
    """Load the page and pan through it at several zooms."""
    browser.get("about:blank")
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    before = _cpu(browser)
    browser.get(f"file://{page}")
    browser.execute_async_script(
        "const done = arguments[0], look = () => (globalThis.inspect ? done() : setTimeout(look, 20)); look()"
    )
    first = browser.execute_script("return performance.getEntriesByName('drawn')[0].startTime")
    first_cpu = _cpu(browser) - before
    frames = []
    for part in ZOOMS:
        before = _cpu(browser)
        times = sorted(browser.execute_async_script(_PAN, part, FRAMES))
        cpu = (_cpu(browser) - before) / FRAMES
        frames.append(Frames(part, times[len(times) // 2], times[int(len(times) * 0.95)], cpu))
    browser.execute_cdp_cmd("Performance.disable", {})
    return Speed(first, first_cpu, frames)


def _cpu(browser: webdriver.Chrome) -> float:
    """Return the main thread's CPU time so far, in ms."""
    metrics: Any = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return 1000 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def told(speed: Speed) -> str:
    """Return the measurement as text."""
    lines = [f"first picture {speed.first:.0f} ms ({speed.first_cpu:.0f} ms of the main thread's CPU)"]
    lines.append("part of the run in view   median ms   p95 ms   CPU ms")
    lines += [f"{f.part:>23.1%}   {f.median:9.1f}   {f.p95:6.1f}   {f.cpu:6.1f}" for f in speed.frames]
    return "\n".join(lines)


def main() -> int:
    """Measure a WAL and a DELETE run."""
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
    import synthetic_ledger
    from chromium import start

    commands = sys.argv[1] if len(sys.argv) == 2 else str(COMMANDS)
    if len(sys.argv) > 2 or not commands.isdigit():
        print(__doc__)
        return 0 if commands == "--help" else 2
    from analysis.inspect import write

    with tempfile.TemporaryDirectory() as name:
        browser = start(Path(name) / "profile")
        try:
            for mode, fs in (("wal", "f2fs"), ("delete", "ext4-ordered")):
                run = synthetic_ledger.make(Path(name) / mode, mode=mode, fs=fs, commands=int(commands))
                write.of_run(str(run))
                print(f"{mode} on {fs}:\n{told(measure(browser, run / 'inspect.html'))}")
        finally:
            browser.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
