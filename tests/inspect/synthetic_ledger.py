"""Writes the tables of a made-up run in the ledger's schemas: for tests of the views only.

Times and sectors are invented, but consistent: every command has a cause, the pieces of a
write add up to it, shares add to 1. Nothing here is a measurement.
"""

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl

from analysis.inspect.load import NEEDED
from analysis.run_files import derived
from analysis.schemas.ledger import LABELS as ALL_LABELS

SECTORS = {"database": 300_000, "journal": 900_000, "wal": 1_200_000, "directory": 2_080}
LABELS = {"database": "database page", "journal": "rollback journal", "wal": "WAL", "directory": "directory"}
INODES = {"database": 12, "journal": 13, "wal": 14, "directory": 2}
# (operation, file, pages) of one transaction
CALLS = {
    "delete": (
        ("open", "journal", 0),
        ("write", "journal", 4),
        ("sync", "journal", 4),
        ("sync", "directory", 1),
        ("write", "journal", 1),
        ("sync", "journal", 1),
        ("write", "database", 3),
        ("sync", "database", 3),
        ("delete", "journal", 0),
    ),
    "wal": (("write", "wal", 5), ("sync", "wal", 5)),
}
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\t\"'&.db"


class Run:
    """A clock, a serial device, and the tables it fills."""

    def __init__(self, mode: str, fs: str, name: str) -> None:
        self.mode, self.fs, self.name = mode, fs, name
        self.now = 50_000_000_000
        self.random = random.Random(1)
        self.rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.at = dict(SECTORS)
        self.commits = 40

    def add(self, table: str, /, **row: Any) -> int:
        """Append a row; its number."""
        self.rows[table].append(row)
        return len(self.rows[table]) - 1

    def pause(self, low: int = 4_000, high: int = 40_000) -> None:
        """Let time pass."""
        self.now += self.random.randrange(low, high)

    def command(
        self, rwbs: str, parts: list[tuple[str, str | None, int]], cause: dict[str, Any], **more: Any
    ) -> int:
        """One block command carrying `parts`: (label, file, pages); an empty one is a flush."""
        queued = self.now
        self.pause(1_000, 9_000)
        issued = self.now
        self.now += 60_000 + 11_000 * sum(part[2] for part in parts) + self.random.randrange(30_000)
        number = len(self.rows["ledger"])
        sector = self._place(parts[0]) if parts else None
        at = sector
        for label, file, pages in parts:
            self.add(
                "pieces",
                command=number,
                bytes=pages * 4096,
                label=label,
                file=file,
                inode=INODES.get(file or ""),
                offset=(self.at.get(file or "", 0) % 65536) * 512 if file else None,
                of="inode/node" if label == "filesystem journal" else None,
                vfs_call=cause["vfs_call"] if file in SECTORS else None,
                moved=False,
                sector=at,
            )
            at = (at or 0) + pages * 8
        biggest = max(parts, key=lambda part: part[2])[0] if parts else "flush"
        return self.add(
            "ledger",
            command=number,
            rwbs=rwbs,
            kind=biggest,
            sector=sector,
            bytes=4096 * sum(part[2] for part in parts),
            queue_ns=queued,
            issue_ns=issued,
            complete_ns=self.now,
            **{"tid": 77, "comm": "driver", **cause, **more},
        )

    def _place(self, part: tuple[str, str | None, int]) -> int:
        key = part[1] or part[0]
        if key == "database":
            return self.at[key] + 8 * self.random.randrange(50_000)
        self.at.setdefault(key, 4_096 + 40_960 * (len(self.at) % 7))
        self.at[key] += 8 * part[2]
        if self.at[key] > SECTORS.get(key, 1_600_000) + 65_536:
            self.at[key] = SECTORS.get(key, 1_600_000)
        return self.at[key]

    def sync(self, file: str, pages: int, cause: dict[str, Any]) -> None:
        """One filesystem sync with what it makes the device do."""
        begin, row = self.now, len(self.rows["syncs"])
        inside = {**cause, "sync": row}
        self.pause()
        self.command("WS", [(LABELS[file], file, pages)], inside)
        if self.fs == "f2fs":
            self.pause()
            self.command("WFS", [("inode/node", None, 1)], inside)
        else:
            self._commit(inside)
        self.pause()
        self.add(
            "syncs",
            sync=row,
            begin_ns=begin,
            end_ns=self.now,
            tid=77,
            inode=INODES[file],
            file=file,
            name="." if file == "directory" else self.name + ("" if file == "database" else f"-{file}"),
            datasync=file != "directory",
            caller="fsync" if file == "directory" else "fdatasync",
            result=0,
            transaction=cause["transaction"],
            vfs_call=cause["vfs_call"],
        )

    def _commit(self, cause: dict[str, Any]) -> None:
        self.commits += 1
        begin = self.now
        served = {**cause, "commit": self.commits, "how": "waited", "tid": 50, "comm": "jbd2/vdb-8"}
        self.pause()
        self.command("WSM", [("filesystem journal", None, 5)], served)
        self.command("FF", [], served)
        self.command("WFSM", [("filesystem journal", None, 1)], served)
        self.add(
            "commits",
            commit=self.commits,
            begin_ns=begin,
            end_ns=self.now,
            sync_commit=1,
            blocks=6,
            waiting=1,
        )

    def transaction(self, op: str) -> None:
        """One SQL transaction."""
        number, begin = len(self.rows["transactions"]), self.now
        first = {name: len(self.rows[name]) for name in ("ledger", "syncs", "vfs", "pieces")}
        for operation, file, pages in CALLS[self.mode]:
            self.pause(20_000, 90_000)
            call, started = len(self.rows["vfs"]), self.now
            if operation == "sync":
                cause = self._cause(number, op, call)
                self.sync(file, pages, cause)
            self.pause(3_000, 12_000)
            self.add(
                "vfs",
                call=call,
                op=operation,
                file=file,
                begin_ns=started,
                end_ns=self.now,
                inode=INODES[file],
                offset=0 if operation == "write" else None,
                bytes=pages * 4096 if operation == "write" else None,
                transaction=number,
            )
        self.pause(20_000, 90_000)
        self._account(number, op, begin, first)

    def _cause(self, number: int | None, op: str | None, call: int | None, how: str = "in") -> dict[str, Any]:
        return {
            "transaction": number,
            "op": op,
            "phase": op or "close",
            "how": how,
            "vfs_call": call,
            "sync": None,
            "commit": None,
            "checkpoint": None,
        }

    def _account(self, number: int, op: str, begin: int, first: dict[str, int]) -> None:
        commands = self.rows["ledger"][first["ledger"] :]
        pieces = self.rows["pieces"][first["pieces"] :]
        syncs = len(self.rows["syncs"]) - first["syncs"]
        calls = self.rows["vfs"][first["vfs"] :]
        latency = self.now - begin
        self.add("transactions", transaction=number, phase=op, op=op, begin_ns=begin, end_ns=self.now)
        per_label = dict.fromkeys(ALL_LABELS, 0)
        for piece in pieces:
            per_label[piece["label"]] += piece["bytes"]
        self.add(
            "costs",
            transaction=number,
            phase=op,
            op=op,
            latency_ns=latency,
            syncs=syncs,
            vfs_syncs=sum(call["op"] == "sync" for call in calls),
            bytes=sum(row["bytes"] for row in commands),
            for_others=0.0,
            deferred=0.0,
            **per_label,
            flushes=sum(row["kind"] == "flush" for row in commands),
            fua=sum("WF" in row["rwbs"] for row in commands),
            writes=sum(row["kind"] != "flush" for row in commands),
            cpu_ns=latency // 5,
            data_wait_ns=latency // 5,
            journal_wait_ns=latency // 5,
            flush_wait_ns=latency // 5,
            other_wait_ns=latency - 4 * (latency // 5),
        )

    def background(self, served: int) -> None:
        """A checkpoint (or a write back by the kernel) that the last `served` transactions share."""
        begin, row = self.now, len(self.rows["checkpoints"])
        cause = self._cause(None, None, None, "shared" if served else "behind")
        if not served:
            cause["no_transaction"] = "journal" if self.fs == "f2fs" else "write back"
        if self.fs == "f2fs":
            cause["checkpoint"] = row
        number = self.command(
            "WSM",
            [("checkpoint pack", None, 3), ("bitmap/SIT/NAT/superblock", None, 2)],
            cause,
            tid=60,
            comm="f2fs_ckpt-254:16" if self.fs == "f2fs" else "kworker/u2:1",
        )
        last = len(self.rows["transactions"])
        for offset in range(served):
            self.add("shares", command=number, transaction=last - 1 - offset, share=1 / served)
        if not served and last:
            self._left(number, last - 1, cause["no_transaction"])
        if self.fs == "f2fs":
            self.add("checkpoints", checkpoint=row, begin_ns=begin, end_ns=self.now, reason=4, tid=60)

    def _left(self, command: int, transaction: int, reason: str) -> None:
        """A page of the command holds what the transaction left to be written."""
        row = {"transaction": transaction, "no_transaction": reason, "bytes": 4096.0}
        self.add("deferred", command=command, **row)
        self.rows["costs"][transaction]["deferred"] = 4096.0


def make(
    folder: Path,
    n: int = 50,
    mode: str = "delete",
    fs: str = "ext4-ordered",
    commands: int = 0,
    name: str = "sample.db",
    reasons: tuple[str, ...] = (),
) -> Path:
    """Write RUN/tables/ and summary.json for `n` transactions of each operation (or until there
    are `commands` block commands); return the folder."""
    run = Run(mode, fs, name)
    number = 0
    ops = ("insert", "update", "delete")
    wanted = max(commands, 0)
    for part, op in enumerate(ops, 1):
        begin, first = run.now, number
        while (len(run.rows["ledger"]) < wanted * part // 3) if commands else (number < n * part):
            run.transaction(op)
            number += 1
            if number % 25 == 0:
                run.background(3 if number % 50 else 0)
        run.add("phases", phase=op, begin_ns=begin, end_ns=run.now, transactions=number - first)
    run.add("phases", phase="close", begin_ns=run.now, end_ns=run.now + 2_000_000, transactions=0)
    run.pause()
    run.background(0)
    (folder / "tables").mkdir(parents=True)
    for table, columns in NEEDED.items():
        frame = pl.DataFrame(run.rows[table], schema=columns)
        frame.write_parquet(folder / "tables" / f"{table}.parquet")
    summary = {
        "status": "rejected" if reasons else "ok",
        "reasons": reasons,
        "cell_id": "0123456789",
        "cell_name": f"{fs}-{mode}-synthetic",
        "run_id": "synthetic",
        "clock": "virtual",
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "cell.json").write_text('{"profiles": {"fs": {"type": "f2fs"}}}')
    derived.write(folder)
    return folder
