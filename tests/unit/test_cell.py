"""Cells: defaults, ids, what their boards are sent, and one clear line for each kind of bad input."""

import io
import os
import subprocess
import tarfile
from pathlib import Path

import commands
import pytest

from base.errors import BadInputError
from commitpath.boards.payload import (
    all_probes,
    board_files,
    cell_env,
    expected_probes,
    payload,
    rehearsal,
    tar_of,
    write_self_extracting,
)
from commitpath.cells import axes, combinations, identities, profiles
from commitpath.cells import from_variables as cells
from commitpath.commands.axes_doc import page
from images import artifacts
from model import filesystems

ROOT = Path(__file__).resolve().parents[2]


def test_defaults_are_the_apsys17_default_cell() -> None:
    cell = cells.make_cell({})
    assert (cell.journal_mode, cell.synchronous, cell.fs) == ("delete", "full", "ext4-ordered")
    assert (cell.rows, cell.n, cell.value_size) == (100_000, 1000, 3072)
    assert "phases" not in cell.profiles["workload"]


def test_a_workload_sets_what_it_fixes() -> None:
    cell = cells.make_cell({"WORKLOAD": "mobibench", "ROWS": "0"})
    assert (cell.rows, cell.n, cell.value_size) == (0, 1000, 100)


def test_a_rehearsal_has_what_the_database_was_populated_with() -> None:
    """The driver compares it with the file; what else a cell sets is of its own run."""
    given = {"PAGE_SIZE": "8192", "AUTO_VACUUM": "full", "LOCKING_MODE": "exclusive", "MODE": "wal"}
    text = rehearsal(cells.make_cell(given))
    for option in (
        "--page-size 8192",
        "--auto-vacuum full",
        "--locking-mode normal",
        "--journal-mode delete",
    ):
        assert option in text
    sizes = {"WRITE_BUFFER_SIZE": "65536", "MAX_FILE_SIZE": "1048576"}
    text = rehearsal(cells.make_cell({"ENGINE": "leveldb", "WORKLOAD": "kv", **sizes}))
    assert "--write-buffer-size 65536" in text and "--max-file-size 1048576" in text


def test_phases_reach_the_driver_but_not_the_rehearsal() -> None:
    cell = cells.make_cell({"WORKLOAD": "apsys17-update"})
    assert b"--phases update" in payload(cell)["cell.env"]
    assert "--phases" not in rehearsal(cell)


def test_cells_of_one_snapshot_are_rehearsed_alike() -> None:
    """Whichever of them is run first: a snapshot is a function of its key."""
    first = cells.make_cell({"FS": "f2fs", "DEVICE": "ufs-2.0"})
    other = cells.make_cell(
        {"FS": "f2fs", "DEVICE": "emmc-5.0", "MODE": "wal", "SYNC": "normal", "ROWS": "7", "N": "2"}
        | {"SEED": "2", "CACHE_SIZE": "10", "AUTOCHECKPOINT": "5", "PROBES": "none", "SQLITE": "3.8.11.1"}
    )
    assert rehearsal(first) == rehearsal(other)
    assert "FS_TYPE=f2fs" in rehearsal(other)


@pytest.mark.skipif(os.geteuid() != 0, reason="what a board unpacks is root's, as it is on the board")
def test_files_unpack_themselves_once(tmp_path: Path) -> None:
    """Any byte in them; a second time nothing changes; a tar cut short is an error."""
    files = {"bin/driver": bytes(range(256)) * 99, "cell.env": b"A='1\n2'\n"}
    script, folder = tmp_path / "files.sh", tmp_path / "board"
    folder.mkdir()
    write_self_extracting(script, files)

    def unpack() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", str(script), str(folder)], capture_output=True, text=True, check=False)

    assert unpack().stdout == "unpacked\n"
    assert {name: (folder / name).read_bytes() for name in files} == files
    assert os.access(folder / "bin/driver", os.X_OK) and not os.access(folder / "cell.env", os.X_OK)
    assert (unpack().stdout, unpack().returncode) == ("", 0)
    (folder / "cell.env").write_bytes(b"A='3\n4'\n")
    assert unpack().stdout == "unpacked\n" and (folder / "cell.env").read_bytes() == files["cell.env"]
    script.write_bytes(script.read_bytes()[:5000])
    cut = unpack()
    assert cut.returncode and cut.stdout == ""


@pytest.mark.parametrize("kind", ["virtual", "lab"])
def test_what_a_board_is_sent(kind: str, tmp_path: Path) -> None:
    (tmp_path / "probes.tar").write_bytes(tar_of({"recorder": b"recorder", "bio.bpf.o": b"bio"}))
    variables = {
        "probes": str(tmp_path / "probes.tar"),
        "modules": [],
        "board_modules": [],
        "scripted": ["blktrace"],
        "device_driver": "null_blk",
        "board_kind": kind,
        "owner": "bench-1",
    }
    with tarfile.open(fileobj=io.BytesIO(tar_of(board_files(variables)))) as tar:
        modes = {member.name.removeprefix("commitpath/"): member.mode for member in tar}
    assert {name for name, mode in modes.items() if mode & 0o111} == {*("bin/recorder", "bin/bio.bpf.o")}
    assert {"run-cell.sh", "watch.sh", "device.sh", "devices/null_blk.sh"} <= set(modes)
    assert {name for name in modes if name.startswith("observers/")} == {"observers/blktrace.sh"}
    # a lab board is told over SSH
    assert ("await-cell.sh" in modes) == (kind == "virtual")


def test_id_follows_every_setting() -> None:
    assert identities.cell_id(cells.make_cell({"SEED": "1"})) == identities.cell_id(cells.make_cell({}))
    ids = {identities.cell_id(cells.make_cell(v)) for v in ({}, {"SEED": "2"}, {"MODE": "wal"}, {"N": "10"})}
    assert len(ids) == 4


def test_probes_none_and_all() -> None:
    assert cells.make_cell({"PROBES": "none"}).probes == ""
    assert cells.make_cell({"PROBES": "all"}).probes.split(",") == axes.probe_names()


def test_every_profile_satisfies_its_schema() -> None:
    for axis in cells.PROFILE_AXES:
        for name in axes.axes()[axis].files():
            profiles.load_profile(axis, name)


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ("FS=ext5", "FS is btrfs-nocow, btrfs, ext4-journal, ext4-nojournal, ext4-ordered (ext4), ext4-wr"),
        ("MODE=wall", "MODE=wall: did you mean wal? MODE is delete, truncate, persist, wal, memory, off"),
        ("N=abc", "a whole number from 1 to"),
        ("ROWS=1e9", "needs a device of 4882918 MiB"),
        ("SYNC=extra SQLITE=3.8.11.1", "has no synchronous=EXTRA"),
        ("SECURE_DELETE=fast SQLITE=3.15.0", "SQLite 3.15.0 has no secure_delete=FAST"),
        ("CHECKSUMS=yes SQLITE=3.44.2", "SQLite 3.44.2 comes without its checksum VFS; use SQLITE=3.46.1"),
        ("MMAP_SIZE=2147418113", "MMAP_SIZE is a whole number from 0 to 2147418112 bytes"),
        ("WRITERS=2 WORKLOAD=synthetic-gmail", "WORKLOAD=synthetic-gmail has transactions of a file"),
        ("WRITERS=2 MODE=wal CRASH=process CUTS=20", "takes it with CRASH=none or power or os, not process"),
        ("CACHE=cold CRASH=power DEVICE=emmc-5.0", "CACHE=cold: the boards of CRASH=power have their"),
        ("CACHE=cold ENGINE=leveldb WORKLOAD=null", "CACHE=cold: ENGINE=leveldb does not count changed rows"),
        ("BOARD=nope", "not in playbooks/inventory, which has "),
        ("BOARD_NUMBER=2 CLOCK=real", "BOARD_NUMBER=2: with CLOCK=real each run prepares its board afresh"),
        ("SEEDS=2 SEED=4294967295", "SEED=4294967296: SEED is a whole number from 0 to 4294967295"),
        ("SEEDS=0", "SEEDS=0: SEEDS is a whole number from 1 to 1000"),
        ("BOARDS=2 CLOCK=kvm", "BOARDS=2: with CLOCK=kvm each run prepares its board afresh"),
        ("MODEE=wal", "MODEE: unknown variable; did you mean MODE? make experiment takes REPEAT"),
        ("PROBES=sync,nope", "all, none, or some of bio,block,filesystem"),
        ("MKFS_OPTIONS=-m0", "mkfs.ext4 may not be given -m0; what it may, with values that the superblock"),
        ("DEVICE=own", "only a lab board has a device of its own"),
        ("MOUNT_OPTIONS=$$(id)", "MOUNT_OPTIONS is"),
        ("MOUNT_OPTIONS=noatime,abort", "ext4 may not be mounted with abort; it may with (no"),
        ("WORKLOAD=mobibench ROWS=7", "ROWS=7: WORKLOAD=mobibench allows only 0"),
    ],
)
def test_bad_variable_is_one_line(variables: str, says: str) -> None:
    done = commands.call("experiment", *variables.split(" "))
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert says in done.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("description: x\ndriver_workload: kv\ntable: kv\ntransactions: each\nextra_key: 1\n", "extra_key"),
        ("description: x\ndriver_workload: 1\ntable: kv\ntransactions: each\n", "1 is not of type 'string'"),
        ("description: x\ntable: kv\n", "'driver_workload' is a required property"),
        ("description: [\n", ":2: "),
    ],
)
def test_bad_cell_file_names_file_and_key(
    content: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "odd.yml"
    file.write_text(content)
    monkeypatch.setattr(axes.Axis, "files", lambda _: {"odd": file})
    with pytest.raises(BadInputError) as error:
        profiles.load_profile("workload", "odd")
    assert str(file) in str(error.value)
    assert says in str(error.value)


def test_an_unknown_target_is_refused_before_anything_runs() -> None:
    """`make plan f2fs`, where FS=f2fs was meant, prints no plan."""
    line = ["make", "--no-print-directory", "plan", "f2fs"]
    done = subprocess.run(line, check=False, cwd=commands.ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "commitpath: f2fs: no such target; " in done.stderr


def test_expected_probes_counts_attach_points() -> None:
    """What the recorder attached of each file on the board: 34 of all that each board has."""
    alone = {
        **{"bio": 1, "block": 2, "flush": 2, "wait": 1, "writeback": 2},
        **{"ext4": 10, "f2fs": 7, "xfs": 9},
    }
    for name, number in alone.items():
        assert expected_probes([name]) == number, name
    assert set(all_probes()) == set(alone)
    assert expected_probes(alone) == 34
    assert set(all_probes("btrfs")) == {*alone, "btrfs"} and expected_probes(["btrfs"]) == 9
    assert expected_probes([]) == 0


def test_a_kernel_is_an_axis_of_the_virtual_board(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab board's is its own."""
    default, other = cells.make_cell({}), cells.make_cell({"KERNEL": "6.1", "PROBES": "none"})
    assert identities.cell_id(other) != identities.cell_id(default)
    lab = {"BOARD": "bench", "DEVICE": "own", "PROBES": "none", "CLOCK": "real"}
    cells.make_cell(lab)
    with pytest.raises(BadInputError, match=r"KERNEL=6\.1: BOARD=bench has a kernel of its own"):
        cells.make_cell({**lab, "KERNEL": "6.1"})
    with pytest.raises(
        BadInputError, match=r"KERNEL=6\.2: did you mean 6\.1.*\? KERNEL is 5\.10, 6\.1, 6\.12, 7\.x"
    ):
        cells.make_cell({"KERNEL": "6.2"})
    for name in axes.axes()["kernel"].files():
        assert profiles.load_profile("kernel", name)["release"] == name.removesuffix(".x")
    monkeypatch.setattr(combinations, "kernel_profile", lambda _: {"unwatched": "it has no types"})
    why = r"KERNEL=6\.1 cannot be watched: it has no types; use PROBES=none"
    with pytest.raises(BadInputError, match=why):
        cells.make_cell({"KERNEL": "6.1"})
    cells.make_cell({"KERNEL": "6.1", "PROBES": "none"})


def test_a_cell_has_the_probe_of_its_filesystem() -> None:
    cell = cells.make_cell({"FS": "xfs", "PROBES": "block,filesystem"})
    assert cell.probes == "block,filesystem"
    environment = cell_env(cell, "/db").splitlines()
    assert {"PROBES=block,xfs", "EXPECTED_PROBES=11", "FS_TYPE=xfs"} <= set(environment)


def test_only_its_own_board_has_a_rare_filesystem() -> None:
    """Another board has neither its packages nor its module: its image and snapshots stay as they are."""
    rare, common = (cells.make_cell({"FS": fs, "PROBES": "none"}) for fs in ("btrfs", "ext4"))
    assert profiles.own_packages(rare) == ["btrfs-progs"] and profiles.own_packages(common) == []
    assert "btrfs-progs" not in artifacts.on_every_board()
    assert profiles.common_filesystems() == {"ext4", "f2fs", "xfs"}


def test_a_filesystem_is_whole_or_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each type has a file in every stage; a profile of another is refused in one line."""
    for name in filesystems.names():
        for path in (f"playbooks/filesystems/{name}.sh", f"probes/{name}.bpf.c"):
            assert (ROOT / path).is_file(), path
    profile = (ROOT / "experiments/fs/f2fs.yml").read_text().replace("type: f2fs", "type: zfs")
    (tmp_path / "zfs.yml").write_text(profile)
    monkeypatch.setattr(axes.Axis, "files", lambda axis: {"zfs": tmp_path / "zfs.yml"})
    with pytest.raises(BadInputError, match=r"zfs.yml: type: 'zfs' is unknown; there are btrfs, ext4, f"):
        profiles.load_profile("fs", "zfs")


def test_axes_page_is_what_the_schema_says() -> None:
    assert page() == (ROOT / "docs/reference/axes.md").read_text(), "run `make docs`"
