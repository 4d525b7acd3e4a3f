"""Who uses a device, and which filesystem may have it as a member, as the scripts on a board find it.

What needs block devices is tried on a board (tests/board/guard-users.sh). Here processes of this host have
a file open, mapped or in flight, and superblocks are bytes.
"""

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from base.paths import ROOT

sys.path.insert(0, str(ROOT / "playbooks/board"))
sys.path.insert(0, str(ROOT / "playbooks/filesystems"))
import devices
import f2fs
import loops
import members
import openers
import tables
import xfs

BEGIN = "import ctypes, os, socket, sys, threading, time\nfile = os.open(sys.argv[1], os.O_RDWR)\n"
READY = "print('ready', flush=True)\n"


@contextmanager
def process(script: str, file: Path) -> Iterator[Path]:
    """A process that runs a script on a file; its folder in /proc."""
    command = [sys.executable, "-c", BEGIN + script, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as running:
        assert running.stdout and running.stdout.readline() == b"ready\n"
        try:
            yield Path("/proc", str(running.pid))
        finally:
            running.kill()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(bytes(1 << 16))
    return path


def opened(folder: Path, file: Path) -> tuple[set[str], bool]:
    if os.geteuid() != 0:
        pytest.skip("only root sees what is mapped (/proc/PID/map_files), as the scripts on a board do")
    return openers.opened(folder, {openers.key(file.stat()): "it"})


WAIT = READY + "sys.stdin.read()\n"
CLOSED = "os.close(file)\n" + WAIT
# share(PROTECTION, ADDRESS): a mapping; Python's own keeps the file open
SHARE = """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 5]
def share(protection, address=None):
    assert libc.mmap(address, 4096, protection, 0x11 if address else 1, file, 0) not in (None, 2**64 - 1)
"""
# its first thread ends (SYS_exit), and its memory stays
FIRST_ENDS = """
os.close(file)
def stay():
    time.sleep(0.5)
    print("ready", flush=True)
    time.sleep(1000)
threading.Thread(target=stay).start()
libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)
"""


@pytest.mark.parametrize(
    "script", [WAIT, "threading.Thread(target=time.sleep, args=[1000]).start()\n" + WAIT]
)
def test_who_has_it_open_for_writing(script: str, file: Path) -> None:
    with process(script, file) as folder:
        assert opened(folder, file) == ({"it open for writing"}, False)
    with process("os.close(file)\nfile = os.open(sys.argv[1], os.O_RDONLY)\n" + WAIT, file) as folder:
        assert opened(folder, file) == (set(), False)


@pytest.mark.parametrize(
    "script",
    [
        SHARE + "share(3)\n" + CLOSED,
        # what may only be read now may be written later (mprotect)
        SHARE + "share(1)\n" + CLOSED,
        # /proc/PID/maps pads a low address with zeros
        SHARE + "share(3, 0x200000)\n" + CLOSED,
        SHARE + "share(3)\n" + FIRST_ENDS,
    ],
    ids=["for writing", "for reading", "at a low address", "first thread ended"],
)
def test_who_has_it_mapped_after_it_was_closed(script: str, file: Path) -> None:
    with process(script, file) as folder:
        assert opened(folder, file) == ({"it mapped"}, False)


@pytest.mark.parametrize(
    "script",
    [
        "one, other = socket.socketpair()\nsocket.send_fds(one, [b'x'], [file])\none.close()\n",
        # one that nobody has accepted yet
        "heard = socket.socket(socket.AF_UNIX)\nheard.bind('\\0' + str(os.getpid()))\nheard.listen()\n"
        "one = socket.socket(socket.AF_UNIX)\none.connect('\\0' + str(os.getpid()))\n"
        "socket.send_fds(one, [b'x'], [file])\none.close()\n",
    ],
    ids=["a pair", "not accepted"],
)
def test_what_is_in_flight_in_a_socket(script: str, file: Path) -> None:
    with process(script + CLOSED, file) as folder:
        assert opened(folder, file) == (set(), True)


def test_parts_of_one_image() -> None:
    def loop(first: int, end: int, inode: int = 7) -> loops.Loop:
        return loops.Loop("loop0", (1, inode), 0, first, end)

    assert loops.shares(loop(0, 100), loop(99, 200)) and loops.shares(loop(99, 200), loop(0, 100))
    assert not loops.shares(loop(0, 100), loop(100, 200))
    assert not loops.shares(loop(0, 100), loop(0, 100, inode=8))


def superblock(*devices: tuple[str, int]) -> bytes:
    """The first bytes of an F2FS of several devices: name and 2 MiB segments of each."""
    packed = b"".join(struct.pack("<64sI", name.encode(), segments) for name, segments in devices)
    superblock = struct.pack("<I", 0xF2F52010).ljust(2201, b"\0") + packed
    return (bytes(1024) + superblock).ljust(members.HEAD_BYTES, b"\0")


def test_members_of_an_f2fs() -> None:
    assert list(f2fs.members(superblock(("/dev/a", 40), ("/dev/b", 50)))) == [("/dev/b", 100 << 20)]
    assert not list(f2fs.members(superblock()))
    assert not list(f2fs.members(bytes(members.HEAD_BYTES))) and not list(f2fs.members(b""))


def test_the_realtime_device_of_an_xfs() -> None:
    def data_device(realtime: int) -> bytes:
        return struct.pack(">4sIQQ", b"XFSB", 4096, 76800, realtime).ljust(members.HEAD_BYTES, b"\0")

    assert list(xfs.members(data_device(25600))) == [("", 100 << 20)]
    assert not any(list(xfs.members(head)) for head in (data_device(0), bytes(512), b""))


def test_whose_member_a_device_is(file: Path) -> None:
    """A name that leads elsewhere is another's; one that leads nowhere may be any."""
    node = next((path for path in Path("/dev").iterdir() if path.is_block_device()), None)

    class Disk(devices.Device):
        def __init__(self) -> None:
            self.rdev = node.stat().st_rdev if node else 1

    assert "does not say which: it may be this" in members.owned(Disk(), "", 1)
    assert "a name that is not there: it may be this" in members.owned(Disk(), "/dev/none", 1)
    assert members.owned(Disk(), str(file), 1) == ""
    # a name is another's text
    assert members.owned(Disk(), "/dev/{no}{", 1).startswith("the member /dev/{no}{, a name that is not")
    if node:
        assert members.owned(Disk(), str(node), 1) == f"it as its member {node}"


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([], "no partition has the GPT label 'commitpath': sfdisk --part-label /dev/DISK NUMBER commitpath"),
        (["/dev/mmcblk0p3"], "/dev/mmcblk0p3 has the label, .*: udevadm trigger --settle /dev/mmcblk0p3"),
    ],
)
def test_a_name_by_the_label_that_is_not_there(
    nodes: list[str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "labelled", lambda: nodes)
    with pytest.raises(devices.RefusedError, match=says):
        tables.check_name("/dev/disk/by-partlabel/no-such-label")
    tables.check_name("/dev/null")
    tables.check_name("/dev/disk/by-id/no-such-disk")


def test_a_table_as_partx_prints_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter that is not ASCII, or a quote, comes as its bytes."""

    class Disk(devices.Device):
        def __init__(self) -> None:
            pass

        def ask(self, *command: str, fine: tuple[int, ...] = (0,)) -> str:
            return (
                'NR="1" START="2048" SECTORS="163840" SCHEME="gpt" UUID="c5d5" NAME=""\n'
                'NR="2" START="165888" SECTORS="8" SCHEME="gpt" UUID="95b0" NAME="\\xc5\\xa3om\\x22"\n'
            )

    one, two = tables.table(Disk())
    assert (one["NAME"], two["NAME"]) == ("", r"\xc5\xa3om\x22")
    assert (two["NR"], two["START"], two["SECTORS"]) == ("2", "165888", "8")
