#!/usr/bin/env python3
"""Fetch LevelDB's sources, as in Debian's source package, and apply index-levels.patch.

usage: fetch.py OUT_DIR

Debian's own patches change only the package's build and a test of LevelDB, so only the
tarball is fetched. OUT_DIR appears only when complete.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "engines/sqlite"))
import fetch  # noqa: E402 - SQLite's

SUITE = "trixie"
SHA256 = "9a37f8a6174f09bd622bc723b55881dc541cd50747cbd08831c2a82d620f6d76"
WHAT = "LevelDB's source could not be fetched"


def download(folder):
    """Return Debian's tarball of LevelDB, downloaded by apt with separate state in a folder."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "apt.conf").write_text(fetch.APT_CONFIG.format(folder=folder))
    (folder / "sources.list").write_text(
        f"deb-src [signed-by={fetch.KEYRING}] {fetch.debian_mirror(WHAT)} {SUITE} main\n"
    )
    apt = ["apt-get", "-qq", "-c", str(folder / "apt.conf"), "-o", "APT::Update::Error-Mode=any"]
    fetch.run(WHAT, [*apt, "update"], cwd=folder)
    fetch.run(WHAT, [*apt, "source", "--download-only", "--tar-only", "leveldb"], cwd=folder)
    tarball = next(folder.glob("leveldb_*.orig.tar.*"))
    fetch.check(tarball, SHA256, WHAT)
    return tarball


def main():
    """Parse the command line and fetch."""
    if len(sys.argv) != 2:
        sys.exit("usage: fetch.py OUT_DIR")
    try:
        with tempfile.TemporaryDirectory(prefix="commitpath-leveldb-") as name:
            folder = Path(name)
            fetch.unpack(WHAT, download(folder), folder)
            source = next(folder.glob("leveldb-*/CMakeLists.txt")).parent
            patch = ["patch", "-p1", "--forward", "--fuzz=0", f"--input={HERE / 'index-levels.patch'}"]
            fetch.run("index-levels.patch", patch, cwd=source)
            fetch.place_all(source, Path(sys.argv[1]))
    except fetch.FetchError as error:
        sys.exit(f"fetch: {error}")


if __name__ == "__main__":
    main()
