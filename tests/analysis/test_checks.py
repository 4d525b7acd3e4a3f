"""Each truth check is seen to accept a good run and to reject a spoiled one."""

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic
from edited import change
from synthetic import FLUSH_COMMAND, probes_bin

from analysis import checks, stages
from analysis.adapters import proberecords

WS = 1 | 1 << 11  # a synchronous write


def reasons(folder: Path) -> list[str]:
    return checks.reasons(stages.build(folder))


def edit(folder: Path, name: str, pattern: str, by: str, count: int = 0) -> None:
    """Replace text in a file and make sure that this changed it."""
    path = folder / name
    text = path.read_text()
    new = re.sub(pattern, by, text, count=count, flags=re.M)
    assert new != text, f"{pattern} is not in {name}"
    path.write_text(new)


def cell(function: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Change the cell, and the plan's copy of it."""

    def spoil(folder: Path) -> None:
        change(folder / "cell.json", function)
        synthetic.plan(folder)

    return spoil


def config(function: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda folder: change(folder / "raw/driver/config.json", function)


def ran(function: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda folder: change(folder / "raw/run.json", function)


def given(raw: str, function: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    """Change the lines of what the engine was given."""

    def spoil(folder: Path) -> None:
        path = folder / raw / "driver/rendered.gz"
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        new = function(lines)
        assert new != lines
        path.write_bytes(gzip.compress(b"".join(new)))

    return spoil


def together(lines: list[bytes]) -> bytes:
    """Return the statements as one transaction."""
    return b"BEGIN;" + b"".join(line.strip() for line in lines) + b"COMMIT;\n"


def nothing_given(folder: Path) -> None:
    """Of a run whose operations carry no values."""
    given("raw", lambda lines: [])(folder)
    change(folder / "raw/driver/config.json", lambda c: c.__setitem__("sql_bytes", 0))


def twin_config(function: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda folder: change(folder / "twin/raw/driver/config.json", function)


def twin_ran(function: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    return lambda folder: change(folder / "twin/raw/run.json", function)


def put(name: str, text: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with (folder / name).open("a") as file:
            file.write(text)

    return spoil


def sub(name: str, pattern: str, by: str, count: int = 0) -> Callable[[Path], None]:
    return lambda folder: edit(folder, name, pattern, by, count)


def swap(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def drop(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def both(*spoils: Callable[[Path], None]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        for one in spoils:
            one(folder)

    return spoil


def effective(key: str, value: object) -> Callable[[Path], None]:
    return config(lambda c: c["effective"].__setitem__(key, value))


def probe(function: Callable[[np.ndarray], np.ndarray | None]) -> Callable[[Path], None]:
    """Change the probes' records: in place, or into those that the function returns."""

    def spoil(folder: Path) -> None:
        path = folder / "raw/probes.bin"
        rows = proberecords.read(path)
        changed = function(rows)
        path.write_bytes(probes_bin((rows if changed is None else changed).tolist()))

    return spoil


def first(rows: np.ndarray, flags: int) -> int:
    """The first block command with these flags."""
    return int(np.argmax((rows["type"] == proberecords.TYPES["block"]) & (rows["b"] == flags)))


def at(row: int, time: int) -> Callable[[np.ndarray], None]:
    def move(rows: np.ndarray) -> None:
        rows["begin_ns"][row] = rows["end_ns"][row] = time

    return move


def cut_trace(folder: Path) -> None:
    path = folder / "raw/blktrace/nullb0.blktrace.0"
    path.write_bytes(path.read_bytes()[:-48])


CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    # settings: one case for every pragma
    "journal_mode": (
        effective("journal_mode", "wal"),
        "SQLite journal_mode: requested 'delete', in effect 'wal'",
    ),
    "page_size": (effective("page_size", 1024), "SQLite page_size: .* in effect '1024'"),
    "journal_size_limit": (
        effective("journal_size_limit", 524288),
        "SQLite journal_size_limit: .* in effect '524288'",
    ),
    "driver told otherwise": (
        config(lambda c: c["requested"].__setitem__("page_size", 512)),
        "page_size, as passed to the driver: requested '4096'",
    ),
    "release": (
        cell(lambda c: c.__setitem__("sqlite", "3.8.9")),
        "SQLite version: requested '3.8.9', in effect '3.46.1'",
    ),
    "workload": (
        config(lambda c: c["driver"].__setitem__("workload", "null")),
        "workload workload: requested 'apsys17', in effect 'null'",
    ),
    "rows": (
        config(lambda c: c["driver"].__setitem__("rows", 1)),
        "workload rows: requested '100', in effect '1'",
    ),
    "root disk read": (ran(lambda r: r.__setitem__("root_reads", 4)), "read its root disk 4 times"),
    "root disk not watched": (ran(lambda r: r.pop("root_reads")), "does not have the number of reads"),
    "clock": (
        ran(lambda r: r.__setitem__("clock", "real")),
        "board clock: requested 'virtual', in effect 'real'",
    ),
    "filesystem": (
        sub("raw/board/mounts", " ext4 ", " ext2 "),
        "filesystem type: requested 'ext4', in effect 'ext2'",
    ),
    "data mode": (
        sub("raw/board/mounts", "data=ordered", "data=journal"),
        "filesystem data mode: requested 'ordered', in effect 'journal'",
    ),
    "no such mount": (
        sub("raw/board/mounts", "/mnt/target", "/mnt/other"),
        "raw/board/mounts has no mount that contains /mnt/target/db/sample.db",
    ),
    "data mode of the superblock": (
        both(
            sub("raw/board/mounts", ",data=ordered", ""),
            sub("raw/board/superblock.txt", "user_xattr", "journal_data_writeback"),
        ),
        "data mode: requested 'ordered', in effect 'writeback'",
    ),
    "mount option": (
        cell(lambda c: c.__setitem__("mount_options", "noatime")),
        "filesystem option noatime: .* in effect 'not in effect'",
    ),
    "barrier": (
        both(
            cell(lambda c: c.__setitem__("mount_options", "barrier")),
            sub("raw/board/mounts", "relatime", "nobarrier"),
        ),
        "filesystem option barrier",
    ),
    "device parameter": (
        sub("raw/board/device.txt", "completion_nsec=.*", "completion_nsec=9"),
        "device completion_nsec: requested '2000000', in effect '9'",
    ),
    "device parameter not read": (
        sub("raw/board/device.txt", "irqmode=.*\n", ""),
        "device irqmode: .* could not be read back",
    ),
    # losses
    "probe events lost": (
        probe(lambda rows: rows["n"].__setitem__(-1, 17)),
        "probes lost 17 events: their ring was full",
    ),
    "blktrace drops": (
        sub("raw/blktrace/blktrace.out", r"dropped 0", "dropped 5"),
        "blktrace dropped 5 events",
    ),
    "blktrace cut": (cut_trace, "a file is cut short or missing"),
    "attached": (ran(lambda r: r["probes"].__setitem__("attached", 8)), "8 probes were attached, expected 9"),
    "begins not kept": (
        probe(lambda rows: rows["a"].__setitem__(-1, 3)),
        "probes lost 3 events: their begin was not kept, or a probe missed them",
    ),
    "attached late": (probe(at(0, 99_999_999_999)), "attached after the window's begin"),
    "detached early": (probe(at(-1, 10_000_000_001)), "detached before the window's end"),
    "step failed": (
        ran(lambda r: r["steps"][0].__setitem__("status", 4)),
        "step 'watch' ended with status 4",
    ),
    "run-cell failed": (swap("raw/run-cell.status", "3\n"), "run-cell ended with status '3'"),
    "no steps": (ran(lambda r: r.pop("steps")), "no list of steps"),
    "driver failed": (
        config(lambda c: c.__setitem__("status", "disk full")),
        "the driver's status is 'disk full'",
    ),
    # the kernel
    "kernel I/O error": (
        put("raw/dmesg.txt", "<6>[ 2.0] I/O error, dev nullb0, sector 0\n"),
        "kernel: .*I/O error",
    ),
    "kernel warning": (
        put("raw/dmesg.txt", "<6>[ 2.0] WARNING: CPU: 0 PID: 1 at x.c:1\n"),
        "kernel: .*WARNING",
    ),
    "kernel bug": (put("raw/dmesg.txt", "<6>[ 2.0] BUG: scheduling while atomic\n"), "kernel: .*BUG"),
    "f2fs error": (put("raw/dmesg.txt", "<6>[ 2.0] F2FS-fs (nullb0): inconsistent node\n"), "F2FS-fs"),
    "ext4 error": (put("raw/dmesg.txt", "<6>[ 2.0] EXT4-fs error (device nullb0): x\n"), "EXT4-fs"),
    "xfs error": (put("raw/dmesg.txt", "<6>[ 2.0] XFS (nullb0): Corruption detected. Unmount\n"), "XFS"),
    "journal aborted": (put("raw/dmesg.txt", "<6>[ 2.0] Aborting journal on device nullb0-8.\n"), "Aborting"),
    "level": (put("raw/dmesg.txt", "<3>[ 2.0] something odd\n"), "something odd"),
    # counts
    "probe missed a command": (
        probe(lambda rows: np.delete(rows, first(rows, WS))),
        "writes in the window: probe 200, blktrace 201, stat 201",
    ),
    "probe missed a flush": (
        probe(lambda rows: np.delete(rows, first(rows, FLUSH_COMMAND))),
        "flushes in the window: probe 59, blktrace 60, stat 60",
    ),
    "device not idle": (
        sub("raw/driver/device_stat.csv", r"^(begin,\d+,\d+),0", r"\1,2"),
        "inflight_writes is 2 at 'begin'",
    ),
    "command failed": (
        probe(lambda rows: rows["flags"].__setitem__(first(rows, WS), 10)),
        "probe: 1 block commands ended with an error",
    ),
    # phases
    "transaction missing": (
        sub("raw/driver/transactions.csv", r"^14,.*\n", ""),
        "phase 'delete' has 4 transactions in transactions.csv and 5",
    ),
    "n not reached": (
        config(lambda c: c["driver"].__setitem__("n", 6)),
        "phase 'insert' ran 5 of 6 transactions",
    ),
    "planned number not reached": (
        config(lambda c: c.__setitem__("transactions", {"insert": 5, "update": 6, "delete": 5})),
        "phase 'update' ran 5 of 6 transactions",
    ),
    "other phases": (
        cell(lambda c: c["profiles"]["workload"].__setitem__("phases", ["update"])),
        "workload phases: requested 'update', in effect 'insert,update,delete'",
    ),
    "phase missing": (sub("raw/driver/phases.csv", r"^drain,.*\n", ""), "'drain' is missing"),
    "outside its phase": (
        sub("raw/driver/phases.csv", r"^(insert),\d+", r"\1,10000000999"),
        "transaction 0 is not within its phase",
    ),
    # files
    **{
        f"no {name}": (drop(f"raw/{name}"), f"{name.split('/')[-1].split('.')[0]}.* is missing")
        for name in (
            "probes.bin",
            "dmesg.txt",
            "driver/driver.err",
            "run.json",
            "board/mounts",
            "board/device.txt",
        )
    },
    "no host.json": (drop("host.json"), "^host.json is missing"),
    "another cell's host.json": (
        lambda folder: change(folder / "host.json", lambda h: h.__setitem__("cell_id", "0" * 10)),
        "host.json is of cell 0000000000, expected",
    ),
    "empty run-cell.log": (swap("raw/run-cell.log", ""), "run-cell.log is missing or empty"),
    "twin's run-cell.log": (drop("twin/raw/run-cell.log"), "baseline run: raw/run-cell.log is missing"),
    **{
        f"{what} in {place}": (
            lambda folder, place=place, text=text: (folder / place).write_bytes(text),
            r"raw/dmesg.txt: line [12] is not a kernel log line",
        )
        for place in ("raw/dmesg.txt", "twin/raw/dmesg.txt")
        for what, text in (("noise", bytes(range(256)) + b"\n"), ("text", b"<6>[ 1.0] one\nhello\n"))
    },
    # what the engine was given: 5 of each operation
    "a statement more": (
        given("raw", lambda lines: [*lines, lines[-1]]),
        "rendered.gz has 16 transactions, transactions.csv 15",
    ),
    "no statement": (nothing_given, "rendered.gz has 0 transactions, transactions.csv 15"),
    "another statement": (
        given("raw", lambda lines: [*lines[:10], lines[0], *lines[11:]]),
        "rendered.gz: 1 transactions from 10 on do insert; transactions.csv has 'delete'",
    ),
    "a batch": (
        given("raw", lambda lines: [together(lines[:3]), *lines[1:]]),
        r"rendered.gz: 1 transactions from 0 on are a batch of 3 \(insert\); transactions.csv has 'insert'",
    ),
    "values that were not there": (
        config(lambda c: c.__setitem__("sql_bytes", c["sql_bytes"] // 100)),
        "rendered.gz has values of 30720 bytes, sql_bytes of config.json is 307",
    ),
    "no blktrace": (drop("raw/blktrace/nullb0.blktrace.0"), "blktrace.<cpu> is missing"),
    # the baseline run
    "no twin": (lambda folder: shutil.rmtree(folder / "twin"), "has no baseline run"),
    "twin of other statements": (
        given("twin/raw", lambda lines: [lines[0].replace(b"iii", b"xxx"), *lines[1:]]),
        "differs from the run in sql_sha256",
    ),
    "twin with other settings": (
        twin_config(lambda c: c["effective"].__setitem__("synchronous", "normal")),
        "differs from the run in effective",
    ),
    "twin failed": (
        twin_config(lambda c: c.__setitem__("status", "disk full")),
        "baseline run's status is 'disk full'",
    ),
    "twin with observers": (
        twin_ran(lambda r: r.__setitem__("observers", ["probes"])),
        "baseline run was observed",
    ),
    "twin with an observer's file": (
        lambda folder: shutil.copy(folder / "raw/probes.bin", folder / "twin/raw"),
        "the baseline run has probes.bin",
    ),
    "other rows": (
        sub("raw/driver/config.json", '"rows_before": 100', '"rows_before": 5'),
        "rows_before is 5, requested rows 100",
    ),
    "twin read the disk": (
        twin_ran(lambda r: r.__setitem__("root_reads", 2)),
        "root disk 2 times in the baseline run",
    ),
    "twin's clock": (twin_ran(lambda r: r.__setitem__("clock", "real")), "baseline run's clock is 'real'"),
    "twin's device": (
        sub("twin/raw/board/device.txt", "completion_nsec=.*", "completion_nsec=9"),
        "baseline run's device settings differ",
    ),
    "twin ran other operations": (
        sub("twin/raw/driver/transactions.csv", ",insert,insert,", ",insert,update,", 1),
        "baseline run has other operations",
    ),
    "twin's kernel": (
        put("twin/raw/dmesg.txt", "<6>[ 44.4] I/O error, dev nullb0, sector 2048\n"),
        "baseline run: kernel: .*I/O error",
    ),
    "twin's run-cell failed": (
        swap("twin/raw/run-cell.status", "7\n"),
        "baseline run: run-cell ended with status '7'",
    ),
    "twin's mount": (
        sub("twin/raw/board/mounts", "/dev/nullb0", "/dev/nullb1"),
        "baseline run's mount settings differ",
    ),
    "twin not read": (drop("twin/raw/board/mounts"), "baseline run: raw/board/mounts is missing"),
}


@pytest.mark.parametrize("name", CASES)
def test_check_fails(name: str, run_dir: Path) -> None:
    spoil, expected = CASES[name]
    spoil(run_dir)
    found = reasons(run_dir)
    assert any(re.search(expected, reason) for reason in found), found


USUAL = (
    "[ 44.4] EXT4-fs (nullb0): mounted filesystem 79 r/w with ordered data mode. Quota mode: n",
    "[ 47.9] EXT4-fs (nullb0): unmounting filesystem 799958c8-a366-46b8-a033-55b98f6c4796.",
    "[ 49.3] F2FS-fs (nullb0): Found nat_bits in checkpoint",
    "[ 50.1] XFS (nullb0): Mounting V5 Filesystem 0c9a51a8-4b0b-4c0b-8c64-d60f90d5a2c6",
    "[ 43.5] null_blk: disk nullb0 created",
    "[ 43.6] usb 1-1: Product: \\xe2\\x82\\xac\twith a tab",
)


def test_kernel_may_say_usual_things(run_dir: Path) -> None:
    put("raw/dmesg.txt", "".join(f"<6>{line}\n<4>{line}\n" for line in USUAL))(run_dir)
    assert reasons(run_dir) == []


def test_data_mode_hidden_by_the_kernel(run_dir: Path) -> None:
    for part in ("raw", "twin/raw"):
        edit(run_dir, f"{part}/board/mounts", ",data=ordered", "")
    assert reasons(run_dir) == []


def test_a_mount_by_an_open_file_is_of_another_process_for_the_twin(run_dir: Path) -> None:
    for part, source in (("raw", "/proc/812/fd/3"), ("twin/raw", "/proc/97/fd/3")):
        edit(run_dir, f"{part}/board/mounts", "/dev/nullb0", source)
    assert reasons(run_dir) == []


def test_other_devices_are_not_counted(run_dir: Path) -> None:
    def add(rows: np.ndarray) -> np.ndarray:
        other = rows[first(rows, WS)].copy()
        other["dev"] = 254 << 20
        return np.insert(rows, 1, other)

    probe(add)(run_dir)
    assert reasons(run_dir) == []
