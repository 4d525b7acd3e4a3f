"""make inspect TRACE=: commands, gaps and lanes of a blktrace, and its page; other files are refused."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analysis.inspect import external_trace, write
from analysis.observers import blktrace as observer
from base.errors import BadInputError, FileError
from base.paths import ROOT

SAMPLES = ROOT / "tests/analysis"
TRACES = Path(__file__).parent / "traces"
KNOWN = ("rwbs", "sector", "sectors", "kind", "comm", "process", "result")


def parsed(prefix: Path, *options: str) -> str:
    """What Debian's blkparse prints of a trace by default."""
    words = ["blkparse", "-i", prefix.name, *options]
    return subprocess.run(words, cwd=prefix.parent, capture_output=True, text=True, check=True).stdout


@pytest.fixture(params=["ext4", "f2fs"])
def prefix(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The prefix of a recorded trace."""
    shutil.copy(SAMPLES / f"blktrace-{request.param}/nullb0.blktrace.0", tmp_path)
    return tmp_path / "nullb0"


def test_its_commands_are_those_of_a_run_and_have_who_queued_them(prefix: Path) -> None:
    trace = external_trace.read(str(prefix))
    told = observer.read(prefix.parent)
    same = ["begin_ns", "end_ns", "sector", "sectors", "rwbs", "kind"]
    assert trace.commands.select(same).equals(told.select(same))
    both = pl.DataFrame({"issued": told["comm"], "queued": trace.commands["comm"]})
    # commands that a worker issued, as the flush before them had ended: jbd2's and fio's own
    assert both.filter((pl.col("issued") != pl.col("queued")) & pl.col("queued").is_not_null()).height > 0
    queue = trace.commands["queue_ns"].drop_nulls()
    assert queue.len() > told.filter(pl.col("kind") != "flush").height * 0.9
    assert (trace.commands["begin_ns"] >= trace.commands["queue_ns"]).drop_nulls().all()
    assert trace.gaps == ()


def test_what_its_records_do_not_show_is_told(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "nullb0.blktrace.0").rename(tmp_path / "nullb0.blktrace.2")
    gap = "nullb0.blktrace.0, nullb0.blktrace.1 missing: commands of these CPUs are not in the trace"
    assert external_trace.read(str(prefix)).gaps == (gap,)
    text = tmp_path / "trace.txt"
    lines = (
        f"8,0 0 {n} 0.00000000{n} 7 {what} [x]\n" for n, what in enumerate(("D WS 8 + 8", "C WS 8 + 8"), 1)
    )
    text.write_text("".join(lines))
    # a text does not say of which version the records were
    assert not any("FUA" in one for one in external_trace.read(str(text)).gaps)
    records = (TRACES / "passthrough.blktrace.0").read_bytes()
    for name in ("trace.bin", "sda.blktrace.0"):
        (tmp_path / name).write_bytes(records)
        said = external_trace.read(str(tmp_path / name)).gaps
        assert said[-1].startswith("no write is marked FUA: either")


def test_the_text_says_what_the_records_do(prefix: Path, tmp_path: Path) -> None:
    text = tmp_path / "trace.txt"
    text.write_text(parsed(prefix))
    of_text, of_files = external_trace.read(str(text)), external_trace.read(str(prefix))
    assert of_text.commands.select(KNOWN).equals(of_files.commands.select(KNOWN))
    for column in ("begin_ns", "end_ns", "queue_ns"):
        # counted from the trace's begin
        one, other = of_text.commands[column], of_files.commands[column]
        assert (other - one).drop_nulls().n_unique() == 1
    assert list(of_text.colors) == list(of_files.colors)


def test_each_process_and_kind_has_a_lane(prefix: Path) -> None:
    trace = external_trace.read(str(prefix))
    assert set(trace.colors) == set(trace.commands["lane"])
    assert "fio read" in trace.colors and any(lane.endswith(" flush") for lane in trace.colors)
    assert "It does not show which statement" in external_trace.notice(trace)


def test_what_has_no_end_or_no_begin_is_told(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(
        "8,0 0 1 0.000000001 7 C  WS 64 + 8 [0]\n"
        "8,0 0 2 0.000000002 7 Q FWS [a b] c]\n"
        "8,0 0 3 0.000000003 7 m   N cfq7 anything\n"
        "8,0 0 4 0.000000004 7 D  FN [a b] c]\n"
        "8,0 0 5 0.000000005 7 C  FN 0 [0]\n"
        "8,0 0 6 0.000000006 9 D DS 128 + 16 [x]\n"
        "8,0 0 7 0.000000007 9 D WFS 8 + 8 [x]\n"
        "8,0 0 8 0.000000008 0 C WFS 8 + 8 [-5]\n"
        "CPU0 (sda):\n Reads Queued: whatever\n"
    )
    trace = external_trace.read(str(tmp_path / "t"))
    assert trace.commands["kind"].to_list() == ["flush", "discard", "write FUA"]
    assert trace.commands["comm"].to_list() == ["a b] c", "x", "x"]
    assert trace.commands["result"].to_list() == [0, None, 5]
    assert trace.gaps == (
        "1 command has no completion in the trace: shown without a length",
        "1 completion has no issue in the trace: shown without a length",
        "1 command failed: 1 with EIO",
    )
    assert write.of_trace(str(tmp_path / "t")) == 0
    assert (tmp_path / "t.inspect.html").is_file()


BAD = {
    "cut": "byte .*: the record is cut short after 20 bytes",
    "swapped": r"byte 0: the magic number is 0x07746165 \(a big-endian board\?\); expected 0x65617407",
    "empty": r"no command was issued \(0 queued, 0 completed\)",
    "binary": "not text .*; expected what blkparse prints, or the prefix",
    "other text": "line 1: 'hello' is not an event in blkparse's default format, nor in that of ftrace",
    "own format": "line 1: '0 1 0 000000000 275 253,0   Q RM 16968 8' is not an event",
    "folder": "a folder; expected blkparse's text, or the prefix",
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_trace_is_one_line(
    case: str, prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, text, given = tmp_path / "nullb0.blktrace.0", tmp_path / "text", str(prefix)
    content = file.read_bytes()
    texts = {
        "other text": "hello\nworld\n",
        "own format": (SAMPLES / "blktrace-ext4/blkparse.txt").read_text(),
        "binary": "\0\0",
    }
    if case in texts:
        text.write_text(texts[case])
        given = str(text)
    elif case == "cut":
        # within a record, wherever it is
        whole = len(content) - 48
        file.write_bytes(content[: whole + 20])
    elif case == "swapped":
        file.write_bytes(content[3::-1] + content[4:])
    elif case == "empty":
        file.write_bytes(b"")
    else:
        given = str(tmp_path)
    before = set(tmp_path.iterdir())
    with pytest.raises(BadInputError, match=r"^TRACE=.*$"):
        write.of_trace(given)
    assert capsys.readouterr().out == ""
    with pytest.raises(FileError, match=BAD[case]):
        external_trace.read(given)
    assert set(tmp_path.iterdir()) == before


def test_the_page_shows_it(trace_page: Callable[[str], Any], tmp_path: Path) -> None:
    """In the browser: lanes by process and kind, the sentence, a command's facts, the switches."""
    shutil.copy(SAMPLES / "blktrace-ext4/nullb0.blktrace.0", tmp_path)
    page = trace_page(str(tmp_path / "nullb0"))
    names = page.js("app.lanes.map((lane) => lane.name)")
    assert "fio read" in names and not {"transactions", "filesystem syncs", "journal commits"} & set(names)
    assert "It does not show which statement" in page.text("#notice")
    assert page.text("#facts").startswith("96 block commands of device 253:0: 8 reads, ")
    assert "fio read" in page.text("#details")
    page.js("app.choose('commands', 3)")
    assert "jbd2" in page.text("#details") and "queued" in page.text("#details").lower()
    page.point(*page.place("commands", 0), click=True)
    assert page.chain()["commands"] == [0]
    page.js("app.toggle('kind', 'fio read', true, app.run.about.kinds)")
    assert page.js("app.filter.masks.commands.reduce((a, b) => a + b, 0)") == 8
    page.keys("t")
    assert "fio read" in page.text("#rows")


# What is written left of the lanes, and the buttons there: text, left, top, right, bottom
GUTTER = """(() => {
    const found = [], canvas = CanvasRenderingContext2D.prototype, { fillText } = canvas;
    canvas.fillText = function (text, x, y) {
        const wide = this.measureText(text).width;
        const left = x - { left: 0, center: wide / 2, right: wide }[this.textAlign];
        if (left < 150) found.push([text, left, y - 6, left + wide, y + 6]);
        return fillText.call(this, text, x, y);
    };
    app.stage.draw();
    canvas.fillText = fillText;
    const box = app.stage.element.getBoundingClientRect();
    for (const button of document.querySelectorAll("#lanes button")) {
        const { left, top, right, bottom } = button.getBoundingClientRect();
        found.push([button.textContent, left - box.left, top - box.top, right - box.left, bottom - box.top]);
    }
    return found;
})()"""


def test_a_page_of_several_devices(trace_page: Callable[[str], Any], tmp_path: Path) -> None:
    """Each has lanes, a queue and a name at its sectors; nothing is written over something else."""
    shutil.copy(TRACES / "stack-three-devices.txt", tmp_path / "t")
    page = trace_page(str(tmp_path / "t"))
    names = page.js("app.lanes.map((lane) => lane.name)")
    assert {"249:0 dd write", "249:0 dd2 read, no end", "8:0 dd write", "8:16 kworker write"} < set(names)
    assert [name for name in names if name.startswith("queue")] == (
        ["queue of 249:0", "queue of 8:0", "queue of 8:16"]
    )
    written = [item for item in page.js(GUTTER) if item[3] > item[1]]
    assert {"249:0", "8:0", "8:16", "fit", "unfold"} < {text for text, *_ in written}
    for i, (text, left, top, right, bottom) in enumerate(written):
        for other, x, y, until, low in written[i + 1 :]:
            apart = right <= x or until <= left or bottom <= y or low <= top
            assert apart, f"{text} is written over {other}"
    page.js(
        "app.choose('commands', app.lanes.find((lane) => lane.name === '8:16 kworker write').track.rows[0])"
    )
    assert "8:16" in page.text("#details")
