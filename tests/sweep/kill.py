"""Kill a sweep at random moments, go on with it, and compare with one that nobody disturbed."""

import contextlib
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GRID = """\
description: what the kill test runs
constants: {fs: f2fs, rows: 100, n: 5, probes: none}
axes:
  mode: [delete, truncate, wal]
seeds: [1, 2]
"""
# how a sweep may be ended: the signal, and whether all its processes get it or only make's
KINDS = [(signal.SIGINT, True), (signal.SIGTERM, True), (signal.SIGKILL, True), (signal.SIGKILL, False)]
# after this a killed sweep's processes must be gone
GONE_SECONDS = 30


def start(grid: Path, results: Path, jobs: int = 2, executor: str = "local") -> subprocess.Popen[bytes]:
    """`make sweep` in a process group of its own."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.Popen(
        ["make", "-s", "sweep", f"GRID={grid}", f"JOBS={jobs}", f"EXECUTOR={executor}"],
        cwd=ROOT,
        env={**environment, "COMMITPATH_RESULTS": str(results)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def alive(results: Path) -> list[str]:
    """Command lines of processes that were started for these results."""
    mark, found = f"COMMITPATH_RESULTS={results}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0") and int(process.name) != os.getpid():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has just ended, or is not ours
    return found


# What a summary says of the host: its clock is no result.
HOSTS = ("run_id", "wall_seconds", "timed_wall_seconds", "virtual_per_wall")

# What it says of the board's clock, and the units of each in a second; TPS is made of them.
TIMES = {"virtual_seconds": 1, "latency_us": 10**6}
# Debian 12's QEMU hands the clock from one thread to another, and some runs are late by a part of
# that: 5 of 51 restores of one snapshot, on a busy host, the worst by 31 us
# (docs/measurements/repeatability.md).
LATE_SECONDS = 40e-6


def late(one: object, other: object, units: float) -> bool:
    """Whether two values, or two tables of the same names, are times as near as LATE_SECONDS."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(late(one[name], other[name], units) for name in one)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= LATE_SECONDS * units
    return one == other


def different(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """What two summaries say differently: name, one's value, the other's. Late clocks are no difference."""
    return [
        f"{name} {one.get(name)} / {other.get(name)}"
        for name in sorted((one.keys() | other.keys()) - {"tps"})
        if one.get(name) != other.get(name)
        and not (name in TIMES and late(one.get(name), other.get(name), TIMES[name]))
    ]


def outcome(results: Path) -> dict[str, list[dict[str, object]]]:
    """Cell and repeat → what each stored run of it says, without what the host adds."""
    found: dict[str, list[dict[str, object]]] = {}
    for host in sorted(results.glob("[!.]*/[!.]*/host.json")):
        key = f"{host.parent.parent.name} repeat {json.loads(host.read_text())['repeat']}"
        path = host.parent / "summary.json"
        summary = json.loads(path.read_text()) if path.exists() else {}
        kept = {name: value for name, value in summary.items() if name not in HOSTS}
        found.setdefault(key, []).append(kept)
    return found


def disturb(
    grid: Path, results: Path, moment: float, kind: tuple[signal.Signals, bool]
) -> tuple[bool, str | None]:
    """Start a sweep and kill it: whether it was still at work, and what is wrong afterwards or None."""
    process = start(grid, results)
    deadline = time.monotonic() + moment
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    how, everyone = kind
    hit = process.poll() is None
    if hit:
        os.killpg(process.pid, how) if everyone else process.send_signal(how)
    process.wait(GONE_SECONDS)
    deadline = time.monotonic() + GONE_SECONDS
    while left := alive(results):
        if not everyone:
            # make alone was killed, so nobody told the sweep; it is told now, if it has not ended
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        if time.monotonic() > deadline:
            return hit, f"{how.name} after {moment:.1f} s: left running: {'; '.join(left)}"
        time.sleep(0.2)
    return hit, None


def faults(calm: Path, killed: Path) -> list[str]:
    """What differs between a sweep that nobody disturbed and one that was killed and has ended."""
    expected, found = outcome(calm), outcome(killed)
    return [
        *(f"lost: {key}" for key in expected.keys() - found.keys()),
        *(f"run {len(runs)} times: {key}" for key, runs in found.items() if len(runs) > 1),
        *(
            f"differs: {key}: {', '.join(told)}"
            for key in expected.keys() & found.keys()
            if (told := different(expected[key][0], found[key][0]))
        ),
        *(f"left over: {path.name}" for path in killed.glob("*/.*.part")),
    ]


def check(kills: int, seed: int) -> list[str]:
    """Everything that is wrong; an empty list is what is hoped for.

    Only the kill of a sweep that is at work counts. One that has ended is compared, and the
    next kill is of a new one.
    """
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="commitpath-kill-") as name:
        folder = Path(name)
        grid = folder / "kill.yml"
        grid.write_text(GRID)
        calm = folder / "calm"
        # one run at a time, so that the comparison also shows that two at a time change nothing
        if start(grid, calm, jobs=1).wait(1200):
            return ["the undisturbed sweep failed"]
        # how long its runs took, without the board that was prepared for them
        whole = sum(json.loads(path.read_text())["wall_seconds"] for path in calm.glob("[!.]*/*/host.json"))
        print(f"undisturbed: {len(outcome(calm))} runs of {whole:.1f} s in all", flush=True)
        moments = random.Random(seed)
        hits = sweeps = 0
        killed = folder / "killed-0"
        while hits < kills and sweeps <= 3 * kills:
            kind = KINDS[hits % len(KINDS)]
            moment = moments.uniform(0.2, whole)
            hit, fault = disturb(grid, killed, moment, kind)
            wrong += [fault] if fault else []
            if hit:
                hits += 1
                print(f"{kind[0].name} after {moment:.1f} s: {len(outcome(killed))} runs stored", flush=True)
            if not hit or hits == kills:
                if code := start(grid, killed).wait(1200):
                    wrong.append(f"the last call ended with {code}")
                wrong += faults(calm, killed)
                sweeps += 1
                killed = folder / f"killed-{sweeps}"
        print(f"{hits} kills in {sweeps} sweeps", flush=True)
        if hits < kills:
            wrong.append(f"only {hits} kills met a sweep at work")
    return wrong
