"""What a killed call leaves is gone at the next one, and what a living one holds is not."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from base import scratch
from commitpath.host import places
from images import snapshot

ROOT = Path(__file__).resolve().parents[2]
# Opens each of the folders that something is made in, with a file in it.
HOLD = """
import sys
from contextlib import ExitStack
from pathlib import Path
from commitpath.host import places
from base import scratch
from base.paths import RESULTS
from commitpath.papers import reproduce
from images import artifacts, board
here = Path()
places.begin('experiment')
RESULTS.mkdir(exist_ok=True)
folders = [
    board.VirtualBoard(here, here, 64, 2, artifacts.CACHE / 'vm').work_folder(),
    artifacts.work_folder(),
    artifacts.whole(artifacts.CACHE / 'driver', 'make it'),
    artifacts.whole(artifacts.CACHE / 'snapshots/one', 'make it'),
    scratch.folder(RESULTS / 'cell/run', '.analysis'),
    scratch.folder(RESULTS / 'cell', '.run'),
    scratch.folder(RESULTS, '.import'),
    reproduce.replaced(RESULTS / 'papers/one'),
    scratch.temporary('ansible'),
    scratch.folder(RESULTS / 'imported/lab/cell/run', '.analysis'),
]
with ExitStack() as stack:
    paths = [stack.enter_context(folder) for folder in folders]
    for path in paths:
        (path / "half").touch()
    print(*paths, sep="|", flush=True)
    sys.stdin.read()
"""
NEXT_CALL = "from commitpath.host import places; places.begin('experiment')"


def environment(folder: Path) -> dict[str, str]:
    """A cache and results of the test's own."""
    return {
        **os.environ,
        "COMMITPATH_CACHE": str(folder / "cache"),
        "COMMITPATH_RESULTS": str(folder / "results"),
        "TMPDIR": str(folder),
    }


def call(folder: Path) -> None:
    """The next call."""
    subprocess.run([sys.executable, "-c", NEXT_CALL], cwd=ROOT, env=environment(folder), check=True)


def test_a_killed_process_folder_is_removed_and_a_living_ones_is_not(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        cwd=ROOT,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        paths = [Path(path) for path in process.stdout.readline().rstrip("\n").split("|")]
        assert len(set(paths)) == 10
        call(tmp_path)
        assert [path for path in paths if not (path / "half").exists()] == []
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert [path for path in paths if not (path / "half").exists()] == []
    call(tmp_path)
    assert [path for path in paths if path.exists()] == []
    left = [path.name for path in tmp_path.glob("*/**/*") if not path.is_dir()]
    assert left == [places.TAG]


def age(folder: Path) -> None:
    """Make all that is in a folder an old one."""
    for path in folder.rglob("*"):
        os.utime(path, (1e9, 1e9), follow_symlinks=False)


def test_what_is_just_being_made_stays(tmp_path: Path) -> None:
    """A folder is there before its lock; and a file has none."""
    (tmp_path / "folder-00000001.commitpath.part").mkdir()
    (tmp_path / ".file-00000002.commitpath.part").touch()
    (tmp_path / ".link-00000003.commitpath.part").symlink_to(tmp_path)
    scratch.sweep(tmp_path, 1)
    assert len(list(tmp_path.iterdir())) == 3
    age(tmp_path)
    scratch.sweep(tmp_path, 1)
    assert not list(tmp_path.iterdir())


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    with pytest.raises(KeyboardInterrupt), scratch.whole(place) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    with scratch.whole(place) as part:
        part.write_text("all")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["all"]


def test_what_a_killed_call_left_beside_a_file_goes_with_the_next(tmp_path: Path) -> None:
    place = tmp_path / "results.sqlite"
    part = scratch.file(place)
    for path in (part, part.with_name(f"{part.name}-journal")):
        path.touch()
    age(tmp_path)
    with scratch.whole(place) as fresh:
        fresh.touch()
    assert list(tmp_path.iterdir()) == [place]


def test_other_peoples_files_stay(tmp_path: Path) -> None:
    """Browsers, rsync and torrents call what they have not all of *.part, too."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/.film-00000001.commitpath.part").touch()
    results = tmp_path / "results"
    for name in (
        *("debian.iso.part", "film-00000001.commitpath.part", "photo-1a2b3c4d.part/precious"),
        *("cell/run/.a-12345678.part/precious", "imported/lab/cell/run/.doc-12345678.part"),
    ):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).touch()
    (results / "film-1a2b3c4d.part").mkdir()
    (results / "film-1a2b3c4d.part" / scratch.LOCK).touch()
    (results / "archive").symlink_to(tmp_path / "elsewhere")
    before = sorted(tmp_path.rglob("*"))
    age(tmp_path)
    call(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if "cache" not in path.parts) == before
    assert (tmp_path / "elsewhere/.film-00000001.commitpath.part").exists()


def test_a_snapshot_is_its_owners_alone(tmp_path: Path) -> None:
    """A board's memory has its SSH host key in it."""
    for name in ("ram", "state"):
        (tmp_path / name).write_bytes(b"key")
        (tmp_path / name).chmod(0o644)
    tmp_path.chmod(0o755)
    snapshot.write(tmp_path, {})
    modes = {stat.filemode(path.stat().st_mode) for path in (tmp_path, *tmp_path.iterdir())}
    assert modes == {"drwx------", "-rw-------"}
