"""Any raw file cut at any byte, or full of noise: one clear line or a rejection."""

import gzip
from pathlib import Path

import synthetic

from analysis import checks, stages
from analysis.report import summary
from analysis.stats import report_tables
from base.errors import FileError

# Cut at the end of a line, these are whole files that say less than they might.
MAY_BE_SHORT = {
    "run-cell.log",
    "dmesg.txt",
    "cpuinfo.txt",
    "meminfo.txt",
    "versions.txt",
    "files.txt",
    "cmdline.txt",
    "kernel.txt",
    "queue.txt",
    "superblock.txt",
    "device.txt",
    "groups.txt",
    "vfs.csv",  # what is behind its last sync
    "inodes.txt",
}


def outcome(folder: Path) -> str:
    """Return ok, rejected, or the line of the error."""
    try:
        run = stages.build(folder)
        reasons = checks.reasons(run)
        built = report_tables.build(run)
        summary.build(run, built, reasons)
    except FileError as error:
        assert "\n" not in str(error)
        return str(error)
    return "rejected" if reasons else "ok"


def files(folder: Path) -> list[Path]:
    return [folder / "cell.json", *sorted(p for p in (folder / "raw").rglob("*") if p.is_file())]


def test_cut(run_dir: Path) -> None:
    for path in files(run_dir):
        name, data = path.name, path.read_bytes()
        lines = [i + 1 for i, byte in enumerate(data) if byte == 10]
        sizes = {0, 1, len(data) // 2, len(data) - 1, *lines[-2:-1]}
        for size in sorted(sizes & {*range(len(data))}):
            path.write_bytes(data[:size])
            found = outcome(run_dir)
            if found == "ok":
                complete = not size or data[size - 1] == 10 or data[size:] in (b"\n", b"}", b"")
                assert complete and name in MAY_BE_SHORT, f"{name} cut at {size} is accepted"
            elif found != "rejected":
                assert name in found or name == "nullb0.blktrace.0"
        path.write_bytes(data)


def test_fewer_bytes_rendered_than_written(run_dir: Path) -> None:
    """Whole for gzip, and another run's."""
    for content in (b"", gzip.compress(b"INSERT\n")):
        (run_dir / "raw/driver/rendered.gz").write_bytes(content)
        assert "rendered.gz" in outcome(run_dir)


def test_nothing_recorded(tmp_path: Path) -> None:
    folder = synthetic.make(tmp_path / "cell" / "run")
    for path in files(folder)[1:]:
        path.unlink()
    assert "cannot be read" in outcome(folder)
