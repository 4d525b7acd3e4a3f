"""Writes a small synthetic run with made-up times, all files consistent; changes its plan, cell and records.

Only for tests of parsing and of the checks; nothing here is a measurement.
"""

import gzip
import json
import random
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
from some_cell import some_cell

from analysis.adapters.proberecords import HEADER, RECORD, TYPES
from base.identity import cell_id, cell_name
from model import workloads
from model.engines import sqlite
from model.requested import expected

STAT = (
    *("read_ios", "read_merges", "read_sectors", "read_ticks"),
    *("write_ios", "write_merges", "write_sectors", "write_ticks"),
    *("in_flight", "io_ticks", "time_in_queue"),
    *("discard_ios", "discard_merges", "discard_sectors", "discard_ticks"),
    *("flush_ios", "flush_ticks"),
)
DEVICE = 253 << 20
QUEUE, ISSUE, COMPLETE = 1 | 1 << 20, 7 | 1 << 23, 8 | 1 << 24
WRITE, FLUSH, SYNC, META, FUA = 1 << 17, 1 << 18, 1 << 19, 1 << 28, 1 << 31
# the same flags of a struct request
FLAGS = {WRITE: 1, SYNC: 1 << 11, META: 1 << 12, FUA: 1 << 17}
FLUSH_COMMAND = 2 | 1 << 18
LATENCY = 2_000_000
ROWS = 100
SYNCS = {"delete": ("-journal", ".", "-journal", ""), "wal": ("-wal",), "memory": ("",)}
ROLES = {"-journal": "journal", "-wal": "wal", "": "database"}
PARAMETERS = {
    "memory_backed": 1,
    "irqmode": 2,
    "completion_nsec": LATENCY,
    "submit_queues": 1,
    "hw_queue_depth": 1,
    "cache_size": 16,
    "blocksize": 512,
}


def record(
    time: int,
    action: int,
    sector: int = 0,
    size: int = 0,
    pid: int = 0,
    pdu: bytes = b"",
    sequence: int = 0,
    device: int = DEVICE,
) -> bytes:
    """Return one struct blk_io_trace and its payload."""
    return (
        struct.pack(
            "<IIQQIIIIIHH", 0x65617407, sequence, time, sector, size, action, pid, device, 0, 0, len(pdu)
        )
        + pdu
    )


def probe_record(kind: str, begin: int, end: int | None = None, **fields: Any) -> tuple[Any, ...]:
    """Return one record of probes.bin; `text` is what it has from b on."""
    a, b, c, d = (fields.get(name, 0) for name in "abcd")
    if text := fields.get("text"):
        b, c, d = struct.unpack("<QQQ", text.ljust(24, b"\0"))
    numbers = (fields.get(name, default) for name, default in (("flags", 0), ("tid", 77), ("dev", DEVICE)))
    return (begin, begin if end is None else end, TYPES[kind], *numbers, fields.get("n", 0), a, b, c, d)


def name_records(name: str, time: int, inode: int) -> list[tuple[Any, ...]]:
    """Return the records of a file's name."""
    data = name.encode()
    parts = [data[at : at + 24] for at in range(0, len(data), 24)]
    return [probe_record("name", time, n=n, a=inode, text=part) for n, part in enumerate(parts)]


def probes_bin(rows: list[tuple[Any, ...]]) -> bytes:
    """Return a whole file of probe records."""
    header = np.array((b"CPPROBE1", RECORD.itemsize, 1, b""), HEADER)
    return header.tobytes() + np.array(rows, RECORD).tobytes()


class Board:
    """A clock and a serial device that writes down what it is asked to do."""

    def __init__(self) -> None:
        self.now = 10_000_000_000
        self.random = random.Random(1)
        driver = int.from_bytes(b"driver", "little")
        begin = self.now - 900_000
        self.records = [
            probe_record("attached", begin, n=9, tid=0, dev=0),
            probe_record("comm", begin, n=77, dev=0, a=driver),
        ]
        self.trace: list[bytes] = [record(self.now, 1 << 26, pid=77, pdu=b"driver\0")]
        self.stat = dict.fromkeys(STAT, 100)
        self.stat["in_flight"] = 0
        self.busy = dict.fromkeys(("write_ticks", "flush_ticks", "io_ticks"), 0)  # ns
        self.calls: list[str] = []

    def command(self, sector: int, sectors: int, bits: int) -> None:
        """Execute one block command."""
        is_flush = bits == FLUSH
        self.now += self.random.randrange(5_000, 60_000)
        begin = self.now
        if is_flush:  # an empty flush is queued as a write, and answered as one
            self.trace.append(record(begin - 900, QUEUE | WRITE | FLUSH | SYNC, pid=77))
        self.now += LATENCY + self.random.randrange(40_000)
        self.trace.append(record(begin, ISSUE | bits, sector, sectors * 512, 77, b"x" * 3))
        self.trace.append(record(self.now, COMPLETE | bits, sector, sectors * 512))
        if is_flush:
            self.trace.append(record(self.now + 90, COMPLETE | WRITE | SYNC))
            self.stat["flush_ios"] += 1
            self.busy["flush_ticks"] += self.now - begin
        self.stat["write_ios"] += 1
        for name in ("write_ticks", "io_ticks"):
            self.busy[name] += self.now - begin
        self.stat["write_sectors"] += sectors
        flags = FLUSH_COMMAND if is_flush else sum(flag for bit, flag in FLAGS.items() if bits & bit)
        self.records.append(probe_record("block", begin, self.now, n=sectors, a=sector, b=flags))

    def sync(self, name: str, pages: int, inode: int) -> None:
        """Sync one file: its pages, then a journal commit."""
        begin = self.now
        for page in range(pages):
            self.command(4096 + 64 * inode + 8 * page, 8, WRITE | SYNC)
        commit = self.now + 1000
        self.command(524288 + 8 * inode, 16, WRITE | SYNC | META)
        self.command(0, 0, FLUSH)
        self.command(524304 + 8 * inode, 8, WRITE | FUA | SYNC | META)
        self.records.append(probe_record("commit", commit, self.now, flags=1, n=3, a=inode))
        self.records += name_records(name, self.now, inode)
        fdatasync = 1 | int(name == "db") << 1 | 2 << 4
        self.records.append(probe_record("sync", begin, self.now, flags=fdatasync, a=inode))

    def call(self, op: str, role: str, inode: int, begin: int, size: int | str = "") -> None:
        """Log a call of the engine that ends now."""
        offset = 0 if op == "write" else ""
        row = (len(self.calls), op, role, begin, self.now, inode, offset, size, "", 0)
        self.calls.append(",".join(map(str, row)))

    def commit(self, mode: str, name: str, pages: int) -> None:
        """Write and sync the files of one transaction as SQLite does."""
        if mode == "delete":
            self.call("open", "journal", 12, self.now, 1)
        for inode, suffix in enumerate(SYNCS[mode], 12):
            # the first sync of a new journal is of its directory, too
            if suffix != "." and (role := ROLES[suffix]):
                self.call("write", role, inode, self.now, 4096)
                begin = self.now
            self.sync("db" if suffix == "." else name + suffix, pages, inode)
            if suffix == ".":
                self.calls.pop()
            self.call("sync", role, inode - (suffix == "."), begin)
        if mode == "delete":
            self.call("close", "journal", 12, self.now)
            self.call("delete", "journal", 0, self.now, 0)

    def stat_line(self, label: str) -> str:
        """Return a line of device_stat.csv."""
        values = ",".join(str(self.stat[name] + self.busy.get(name, 0) // 1_000_000) for name in STAT)
        return f"{label},{self.now},0,0,{values}\n"


def make(
    folder: Path, n: int = 5, mode: str = "delete", workload: str = "apsys17", name: str = "sample.db"
) -> Path:
    """Write a whole run to `folder` and return it."""
    raw = folder / "raw"
    for part in ("driver", "blktrace", "board"):
        (raw / part).mkdir(parents=True)
    board = Board()
    transactions = "transaction,phase,op,begin_ns,end_ns,changes\n"
    phases = "phase,begin_ns,end_ns,transactions,cpu_ns,waited,preempted\n"
    phases += f"warm,{board.now - 500_000},{board.now - 100_000},0{USED}\n"
    stat = "label,time_ns,inflight_reads,inflight_writes," + ",".join(STAT) + "\n"
    stat += board.stat_line("begin")
    number, changes = 0, [0] * 3 * n if workload == "null" else [changes for _, changes in _made(n)]
    for op in ("insert", "update", "delete"):
        begin = board.now
        for _ in range(n):
            start = board.now
            board.now += 90_000
            if workload != "null":
                board.commit(mode, name, 1 + (op == "update"))
            board.now += 30_000
            transactions += f"{number},{op},{op},{start},{board.now},{changes[number]}\n"
            number += 1
        phases += f"{op},{begin},{board.now},{n}{USED}\n"
        stat += board.stat_line(f"end-{op}")
    for last in ("close", "drain"):
        begin = board.now
        board.now += 1_000_000
        if last == "close" and workload != "null":
            board.command(8192, 64, WRITE)
        phases += f"{last},{begin},{board.now},0{USED}\n"
        stat += board.stat_line(f"end-{last}")
    stat += board.stat_line("end")
    board.records.append(probe_record("detached", board.now + 5_000_000, tid=0, dev=0))
    (raw / "driver/transactions.csv").write_text(transactions)
    (raw / "driver/phases.csv").write_text(phases)
    (raw / "driver/device_stat.csv").write_text(stat)
    head = "call,op,file,begin_ns,end_ns,inode,offset,bytes,page,result"
    (raw / "driver/vfs.csv").write_text("\n".join([head, *board.calls, ""]))
    (raw / "probes.bin").write_bytes(probes_bin(board.records))
    trace = b"".join(board.trace)
    (raw / "blktrace/nullb0.blktrace.0").write_bytes(trace)
    (raw / "blktrace/blktrace.out").write_text(
        f"=== nullb0 ===\n  Total: {len(trace) // 48:20} events (dropped 0), 9 KiB data\n"
    )
    _describe(folder, n, mode, workload, name)
    _twin(folder)
    plan(folder)
    return folder


# what the driver used of the CPU in a phase
USED = ",9000,0,0"


def plan(folder: Path, **changes: Any) -> None:
    """Write the plan that a run follows, with these changes."""
    cell = json.loads((folder / "cell.json").read_text())
    runs = {"run": folder, "twin": folder / "twin"}
    document = {
        "format": 3,
        "cell_id": cell_id(cell),
        "cell_name": cell_name(cell),
        "cell": cell,
        "board": {},
        "runs": {name: planned_run(place) for name, place in runs.items() if place.is_dir()},
        "expected": [],
    }
    (folder / "raw/plan.json").write_text(json.dumps(document | changes))


def planned_run(place: Path, **changes: Any) -> dict[str, Any]:
    """Return what a plan has of one of a run's boards, with these changes."""
    said = json.loads((place / "raw/run.json").read_text())
    probes = said["probes"]["requested"]
    return {
        "observers": said["observers"],
        "probes": probes.split(",") if probes else [],
        "files": {},
        "steps": [{"name": step["name"], "ends": "ok"} for step in said["steps"]],
    } | changes


def change_cell(folder: Path, **values: Any) -> None:
    """Change a run's cell, which one its host.json says it is of, and its plan."""
    cell = json.loads((folder / "cell.json").read_text())
    cell |= {"at_default": [name for name in cell["at_default"] if name not in values]} | values
    host = json.loads((folder / "host.json").read_text()) | {"cell_id": cell_id(cell)}
    (folder / "cell.json").write_text(json.dumps(cell))
    (folder / "host.json").write_text(json.dumps(host))
    plan(folder)


def leave_twin(folder: Path) -> None:
    """Leave of a watched run its twin, which nobody watched."""
    shutil.rmtree(folder / "raw")
    (folder / "twin/raw").rename(folder / "raw")
    (folder / "twin").rmdir()
    change_cell(folder, probes="")


def _twin(folder: Path) -> None:
    """Write the run's baseline run: its files without those of the observers, 0.3 % faster."""
    shutil.copytree(
        folder / "raw", folder / "twin/raw", ignore=shutil.ignore_patterns("probes.*", "blktrace", "vfs.csv")
    )
    raw = folder / "twin/raw"
    run = json.loads((raw / "run.json").read_text())
    run |= {"probes": {"requested": "", "attached": 0, "expected": 0}, "observers": []}
    (raw / "run.json").write_text(json.dumps(run))
    for name, columns in (("transactions", (3, 4)), ("phases", (1, 2)), ("device_stat", (1,))):
        path = raw / f"driver/{name}.csv"
        head, *lines = path.read_text().splitlines()
        rows = [line.split(",") for line in lines]
        for row in rows:
            for column in columns:
                row[column] = str(int(row[column]) * 997 // 1000)
        path.write_text("\n".join([head, *(",".join(row) for row in rows), ""]))


def _made(n: int) -> list[tuple[bytes, int]]:
    """The text of each transaction of apsys17, and how many rows it changes."""
    found, table = apsys17(), workloads.Table(range(1, ROWS + 1))
    made = workloads.transactions(found, workloads.Options(ROWS, n, 3072, 1), list(found.PHASES))
    return [(sqlite.rendered(one, found.TEXTS), table.apply(one)) for one in made]


def apsys17() -> workloads.Workload:
    """The workload of a made-up run."""
    found = workloads.by_name("apsys17")
    assert found
    return found


def _describe(folder: Path, n: int, mode: str, workload: str, name: str) -> None:
    raw = folder / "raw"
    pragmas = {
        "journal_mode": mode,
        "synchronous": "full",
        "page_size": 4096,
        "cache_size": -2000,
        "wal_autocheckpoint": 1000,
        "journal_size_limit": -1,
    }
    options = {
        **{"workload": workload, "rows": ROWS, "n": n, "value_size": 3072, "seed": 1},
        "checkpoint_every": -1,
    }
    cell = {
        "board": "virtual",
        "clock": "virtual",
        "device": "constant",
        "fs": "ext4-ordered",
        "cpu_ns": 2,
        "engine": "sqlite",
        "kernel": "6.12",
        "sqlite": "3.46.1",
        "mkfs_options": "",
        "mount_options": "",
        **pragmas,
        **options,
        "probes": "block,filesystem,flush,writeback",
        "at_default": [],
        "profiles": {
            "device": {
                "description": "d",
                "driver": "null_blk",
                "size_mib": 512,
                "geometry": PARAMETERS,
                "timing": {},
            },
            "fs": {"description": "f", "type": "ext4", "mkfs": ["-q"], "mount": ["data=ordered"]},
            "workload": {"description": "synthetic", "driver_workload": workload},
        },
    }
    config = {
        "driver": {**options, "database": f"/mnt/target/db/{name}"},
        "engine": "sqlite",
        "sqlite": {"version": "3.46.1", "source_id": "synthetic", "compile_options": ["A=1"]},
        "requested": pragmas,
        "effective": pragmas,
        "pragmas": {"auto_vacuum": "0", "checkpoint_fullfsync": "0", "fullfsync": "0"},
        "sql_bytes": 0 if workload == "null" else 2 * n * 3072,
        "rows_before": ROWS,
        "rows_after": ROWS if workload == "null" else ROWS + n - sum(one for _, one in _made(n)[2 * n :]),
        "file_sizes": {"database": 409600, "journal": 0, "wal": 0},
        "clock": {"monotonic_ns": 1, "realtime_ns": 1767225600000000000, "instruction_ps": 2001},
        "status": "ok",
    }
    rendered = b"" if workload == "null" else b"".join(text for text, _ in _made(n))
    (raw / "driver/rendered.gz").write_bytes(gzip.compress(rendered, mtime=0))
    run = {
        "steps": [
            {"name": name, "begin_ns": 1, "end_ns": 2, "status": 0} for name in expected.steps(some_cell())
        ],
        "probes": {"requested": "block,ext4,flush,writeback", "attached": 9, "expected": 9},
        "observers": ["blktrace", "probes"],
        "root_reads": 0,
        "clock": "virtual",
    }
    for part, text in (("run-cell.status", "0\n"), ("run-cell.log", "warm\n"), ("driver/driver.err", "")):
        (raw / part).write_text(text)
    host = {"run_id": "run", "cell_id": cell_id(cell), "commitpath_commit": "synthetic"}
    for path, value in (
        ("cell.json", cell),
        ("host.json", host),
        ("raw/driver/config.json", config),
        ("raw/run.json", run),
    ):
        (folder / path).write_text(json.dumps(value, sort_keys=True, indent=1))
    (raw / "dmesg.txt").write_text("<6>[    1.0] null_blk: disk nullb0 created\n")
    parameters = {**PARAMETERS, "size": 512}
    for path, text in {
        "mounts": "/dev/nullb0 /mnt/target ext4 rw,relatime,data=ordered 0 0\n",
        "superblock.txt": "Filesystem features:      has_journal extent\n"
        "Default mount options:    user_xattr acl\nBlock size:   4096\n"
        "Inode blocks per group:   512\nJournal inode:            8\n"
        "First block:              0\nOverhead clusters:        1540\n",
        "groups.txt": "group:block:super:gdt:bbitmap:ibitmap:itable\n0:0:0:1-1:257:273:289\n",
        "inodes.txt": "Inode: 8   Type: regular    Mode:  0600\nEXTENTS:\n(0-1023):65536-66559\n",
        "queue.txt": "write_cache=write back\nscheduler=[none] mq-deadline\n",
        "device.txt": "".join(f"{k}={v}\n" for k, v in parameters.items()),
        "kernel.txt": "Linux board 6.12.117+deb13-arm64 #1 SMP aarch64 GNU/Linux\n",
        "cmdline.txt": "quiet\n",
        "cpuinfo.txt": "processor\t: 0\n",
        "meminfo.txt": "MemTotal: 1950000 kB\n",
        "versions.txt": "blktrace 1.3\nfio 3.39\n",
        "files.txt": f"12 409600 {name}\n",
    }.items():
        (raw / "board" / path).write_text(text)
