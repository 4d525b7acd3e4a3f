"""What the board says of itself: layout, settings, steps."""

from __future__ import annotations

import re

import numpy as np
from forged import Forged
from side import Absent

from kinds import kind


def _shifted(run: Forged, name: str, pattern: str, by: int) -> None:
    """Add to a number in a text of raw/board; the pattern has what is before it and the number."""
    found = re.search(pattern, run.text(name), re.M)
    if not found:
        raise Absent(f"{name}: {pattern}")
    number = found.group(2)
    new = f"{found.group(1)}{int(number) + by}"
    run.replace(name, re.escape(found.group(0)), new, 1)


@kind
def journal_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """the layout has ext4's journal at another place"""
    text = run.text("board/inodes.txt")
    extents = re.findall(r"\(([0-9]+)-([0-9]+)\):([0-9]+)-([0-9]+)", text)
    if not extents:
        raise Absent("extents")
    longest = max(extents, key=lambda e: int(e[3]) - int(e[2]))
    by = int(draw.choice([16, 64, 1024]))
    new = f"({longest[0]}-{longest[1]}):{int(longest[2]) + by}-{int(longest[3]) + by}"
    old = f"({longest[0]}-{longest[1]}):{longest[2]}-{longest[3]}"
    run.replace("board/inodes.txt", re.escape(old), new)


@kind
def tables_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """the layout has ext4's inode tables and bitmaps exchanged"""
    lines = run.text("board/groups.txt").splitlines()
    at = lines.index("group:block:super:gdt:bbitmap:ibitmap:itable") + 1
    for i in range(at, len(lines)):
        cells = lines[i].split(":")
        cells[4], cells[6] = cells[6], cells[4]
        lines[i] = ":".join(cells)
    (run.raw / "board/groups.txt").write_text("\n".join(lines) + "\n")


def _area(run: Forged, name: str, by: int) -> None:
    found = re.search(rf"^{name}\s+\[0x\s*[0-9a-f]+ : ([0-9]+)\]", run.text("board/superblock.txt"), re.M)
    if not found:
        raise Absent(name)
    new = int(found[1]) + by
    run.replace("board/superblock.txt", re.escape(found[0]), f"{name} [0x {new:x} : {new}]")


@kind
def checkpoints_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """the layout has F2FS's checkpoint packs at another place"""
    _area(run, "cp_blkaddr", int(draw.choice([512, 1024, 1536])))


@kind
def main_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """the layout has F2FS's main area later"""
    _area(run, "main_blkaddr", int(draw.choice([512, 2048, 8192])))


@kind
def tables_of_f2fs_elsewhere(run: Forged, draw: np.random.Generator) -> None:
    """the layout has F2FS's SIT earlier"""
    _area(run, "sit_blkaddr", -512)


def _told(run: Forged, key: str, value: object) -> None:
    """Let the driver say that it was told and did something else, in the run and in its twin."""
    for side in (run, run.twin):
        config = side.document("driver/config.json")
        if key not in config["requested"]:
            raise Absent(key)
        for part in ("requested", "effective"):
            config[part][key] = value
        if key in config["pragmas"]:
            config["pragmas"][key] = str(value)
        side.put("driver/config.json", config)
    if (run.raw / "plan.json").exists():
        plan = run.document("plan.json")
        for one in plan["expected"]:
            if one["name"] == key:
                one["requested"] = str(value)
        run.put("plan.json", plan)


def _axis(run: Forged, names: tuple[str, ...], key: str, value: object) -> None:
    cell = run.document("../cell.json")
    name = next(name for name in names if name in cell)
    if cell[name] == value:
        raise Absent(f"another {key}")
    _told(run, key, value)
    run.claim({name: value})


@kind
def claims_another_sync(run: Forged, draw: np.random.Generator) -> None:
    """the run is said to be of another synchronous, in cell, plan, and what the driver read back"""
    _axis(run, ("synchronous", "sync"), "synchronous", str(draw.choice(["normal", "off"])))


@kind
def claims_another_mode(run: Forged, draw: np.random.Generator) -> None:
    """the run is said to be of another journal_mode, in cell, plan, and what the driver read back"""
    name = "journal_mode" if "journal_mode" in run.document("../cell.json") else "mode"
    modes = [mode for mode in ("delete", "truncate", "wal") if mode != run.document("../cell.json")[name]]
    mode = str(draw.choice(modes))
    _axis(run, (name,), "journal_mode", mode)
    if "mode" in run.document("../cell.json")["profiles"]:
        run.claim({"profiles": {"mode": {"journal_mode": mode}}})


@kind
def claims_another_page_size(run: Forged, draw: np.random.Generator) -> None:
    """the run is said to be of another page_size, in cell, plan, and what the driver read back"""
    _axis(run, ("page_size",), "page_size", int(draw.choice([1024, 8192, 16384])))


@kind
def claims_another_device(run: Forged, draw: np.random.Generator) -> None:
    """the device is said to have another timing, in cell, plan, and what was read back"""
    cell = run.document("../cell.json")
    device = cell["profiles"]["device"]
    for part in ("geometry", "timing"):
        numbers = [k for k, v in device.get(part, {}).items() if k.endswith("ns") or k.endswith("nsec")]
        for key in numbers:
            value = device[part][key]
            if isinstance(value, int) and value > 1000:
                _device(run, part, key, value // 2)
                return
    raise Absent("a time of the device")


def _device(run: Forged, part: str, key: str, value: int) -> None:
    run.claim({"profiles": {"device": {part: {key: value}}}})
    for side in (run, run.twin):
        side.replace("board/device.txt", rf"^{key}=.*$", f"{key}={value}")
    if (run.raw / "plan.json").exists():
        plan = run.document("plan.json")
        for one in plan["expected"]:
            if one["name"] == key:
                one["requested"] = str(value)
        run.put("plan.json", plan)


@kind
def claims_another_pace(run: Forged, draw: np.random.Generator) -> None:
    """the CPU is said to be twice as fast, in cell, plan, and the driver's reading"""
    for side in (run, run.twin):
        config = side.document("driver/config.json")
        if "instruction_ps" not in config["clock"]:
            raise Absent("instruction_ps")
        config["clock"]["instruction_ps"] //= 2
        side.put("driver/config.json", config)
    run.claim({"cpu_ns": 1})
    if (run.raw / "plan.json").exists():
        plan = run.document("plan.json")
        for one in plan["expected"]:
            if one["name"] == "cpu_ns":
                one["requested"] = "1"
        run.put("plan.json", plan)
