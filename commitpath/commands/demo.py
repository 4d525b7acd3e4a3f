"""`make demo`: unpack, analyse and open a recorded run, without a board or root."""

import json
import os
import sys
import tarfile
import webbrowser

from base import identity, scratch
from base.paths import ROOT
from images.artifacts import CACHE

# make experiment FS=f2fs MODE=wal N=100 ROWS=1000 (tests/analysis/record-sample.sh)
SAMPLE = ROOT / "tests/analysis/sample-f2fs-wal.tar.xz"
# Without any of them webbrowser would open a browser in the terminal.
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


def demo(_: dict[str, str]) -> int:
    """Unpack the recorded run into the cache, analyse it, and write and open its pages."""
    from analysis.__main__ import main as analyse
    from analysis.inspect import write

    place = CACHE / "demo"
    with scratch.folder(CACHE, "demo") as part:
        with tarfile.open(SAMPLE) as archive:
            archive.extractall(part)
        cell, host = (json.loads((part / f"run/{name}.json").read_text()) for name in ("cell", "host"))
        folder = place / identity.cell_name(cell) / host["run_id"]
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            (part / "run").rename(folder)
    if code := analyse([str(folder)]) or write.of_run(str(folder)):
        return code
    pages = [folder / name for name in ("report.html", "inspect.html")]
    if any(os.environ.get(name) for name in DISPLAYS):
        for page in pages:
            webbrowser.open(page.as_uri())
    else:
        print(f"no desktop to open them on; the pages are {pages[0]} and {pages[1].name}", file=sys.stderr)
    return 0
