"""A picture of a run's page: python tests/inspect/screenshot.py RUN_DIR OUT.png [ADDRESS [HEIGHT]].

A page that is no run's (`make inspect TRACE=…`) is named in place of RUN_DIR.

ADDRESS is what stands after the page's name, "#transactions=20" say; HEIGHT is the window's, in
pixels. `make inspect RUN=…` first. The pictures of docs/how-to/inspect.md:

    make experiment ROWS=1000 N=100
    make inspect RUN=results/latest
    tests/inspect/screenshot.py results/latest docs/images/inspect.png '#transactions=50' 760

    cp tests/analysis/blktrace-ext4/nullb0.blktrace.0 /tmp
    make inspect TRACE=/tmp/nullb0
    tests/inspect/screenshot.py /tmp/nullb0.inspect.html docs/images/inspect-trace.png '' 760
"""

import sys
import tempfile
from pathlib import Path

from chromium import start


def main() -> None:
    """Open the page, wait until it is drawn, and save what is to be seen."""
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    run, out, address, height = [*sys.argv[1:], *["", "1000"][len(sys.argv) - 3 :]]
    with tempfile.TemporaryDirectory() as profile:
        browser = start(Path(profile))
        try:
            browser.set_window_size(1440, int(height))
            page = Path(run) if Path(run).suffix == ".html" else Path(run) / "inspect.html"
            browser.get(f"file://{page.resolve()}{address}")
            browser.execute_async_script(
                "const done = arguments[0]; const look = () => globalThis.inspect"
                " ? requestAnimationFrame(() => requestAnimationFrame(done)) : setTimeout(look, 20); look()"
            )
            browser.save_screenshot(out)
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
