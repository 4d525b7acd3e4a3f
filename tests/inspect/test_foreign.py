"""Block traces of many tools and options are read: commands, devices, gaps, CSV; other texts are refused."""

import csv
import re
import subprocess
from pathlib import Path

import pytest

from analysis.adapters import blkparsed
from analysis.inspect import external_trace, write
from base.errors import FileError

TRACES = Path(__file__).parent / "traces"
US = 1000
# device, operation, sectors, process, begin and end in µs
COMMANDS = {
    "begins-within-a-flush.txt": [
        ("8:0", "FN", 0, "kworker/0:1H", 1000, 2000),
        ("8:0", "WFS", 8, "jbd2/sda1-8", 2100, 2400),
        ("8:0", "FN", 0, "kworker/0:1H", 3000, 4000),
        ("8:0", "FN", 0, "kworker/0:1H", 1_003_000, 1_004_000),
    ],
    "stack-three-devices.txt": [
        ("249:0", "WS", 2048, "dd", 0, 1552),
        ("8:0", "WS", 1024, "dd", 16, 1550),
        ("8:0", "WS", 1024, "dd", 40, 1300),
        ("249:0", "R", 8, "dd2", 700, None),
        ("8:0", "R", 8, "dd2", 712, 1400),
        ("8:16", "W", 8, "kworker/3:2", 1412, 1600),
    ],
    "bounced-two-completions.txt": [("252:0", "WS", 1, "dd", 65, 92), ("252:0", "WS", 1, "dd", 10065, 10092)],
    "partial-and-error.txt": [("251:0", "WS", 255, "fio", 75, 77), ("251:0", "WS", 255, "fio", 281, 445)],
    "stale-queue.txt": [
        ("8:0", "WS", 8, "alpha", 10, 100),
        ("8:0", "WS", 256, "beta", 5_000_010, 5_000_100),
        ("8:0", "WS", 256, "beta", 5_000_020, 5_000_200),
    ],
    "passthrough.blktrace.0": [("8:32", "WS", 8, "db", 1001, 2001)],
    "scsi-passthrough.txt": [("8:32", "WS", 8, "db", 200_002, 201_000)],
    "md-bio-based.txt": [("9:0", "WS", 8, "fio", 0, 400), ("9:0", "WS", 16, "fio", 10, 600)],
    "barrier-2.6.txt": [("8:32", "FW", 8, "kjournald", 10_002, 10_900)],
    "flush-sequence-null-names.txt": [
        ("8:0", "FN", 0, None, 31, 1628),
        ("8:0", "WSM", 17, None, 1671, 1843),
        ("8:0", "FN", 0, None, 1863, 2735),
    ],
    "bom.txt": [("259:2", "WS", 64, "fio", 13.46, 100)],
    "merged.txt": [("259:2", "WS", 64, "fio", 13.46, 100)],
    "discard.txt": [("259:0", "DS", 1172272, "fio", 7_124_393.062, 7_125_765.42)],
    "with-t.txt": [("8:0", "WS", 8, "alpha", 20, 100)],
    "ftrace.txt": [("179:0", "WS", 8, "mydb", 101_000_100, 101_002_100)],
    "perf-script.txt": [("8:48", "W", 512, "z_wr_int_4", 1_048_414_534, 1_048_415_089)],
}
SAID = {
    "begins-within-a-flush.txt": "1 completion has no issue in the trace",
    "bounced-two-completions.txt": "2 completions have no issue in the trace",
    "partial-and-error.txt": "1 command failed: 1 with EIO",
    "passthrough.blktrace.0": "2 commands are SCSI or ATA passthrough",
    "scsi-passthrough.txt": "2 commands are SCSI or ATA passthrough",
    "md-bio-based.txt": "9:0 has no issue events",
    "stack-three-devices.txt": "249:0 is stacked on 8:0",
}
REFUSED = {
    "complete-only.txt": r"no command was issued \(0 queued, 2 completed\)",
    "elided.txt": r"line 3: '\[\.\.\.\]' is not an event",
    "terminal-paste.txt": "line 1: '# btrace",
    "utf16.txt": "not text",
}


def rows(trace: external_trace.Trace) -> list[tuple[object, ...]]:
    """Return the commands of a trace as COMMANDS has them."""
    columns = ("dev", "rwbs", "sectors", "comm", "begin_ns", "end_ns")
    found = trace.traced.commands.select(columns).iter_rows()
    return [(*row[:4], *(None if time is None else time / US for time in row[4:])) for row in found]


def test_every_trace_is_tried() -> None:
    assert {path.name for path in TRACES.iterdir()} == {*COMMANDS, *REFUSED}


@pytest.mark.parametrize("name", COMMANDS)
def test_its_commands_are_the_devices(name: str) -> None:
    trace = external_trace.read(str(TRACES / name))
    assert rows(trace) == COMMANDS[name]
    assert any(lack.startswith(SAID.get(name, "")) for lack in (*trace.gaps, ""))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_trace_is_refused_with_its_line(name: str) -> None:
    with pytest.raises(FileError, match=REFUSED[name]):
        external_trace.read(str(TRACES / name))


def test_devices_have_lanes_and_facts_of_their_own() -> None:
    trace = external_trace.read(str(TRACES / "stack-three-devices.txt"))
    devices = ("249:0 dd write", "249:0 dd2 read, no end", "8:0 dd write", "8:0 dd2 read")
    assert tuple(trace.colors) == (*devices, "8:16 kworker write")
    assert len(external_trace.facts(trace)) == 3


def test_the_csv_has_commands_and_orphans(tmp_path: Path) -> None:
    trace, table = tmp_path / "t.txt", tmp_path / "t.csv"
    trace.write_text(
        "8,0 0 1 0.000000500 0 C  WS 64 + 8 [0]\n"
        '8,0 0 2 0.000001000 7 Q  WS 128 + 8 [a, "b"]\n'
        "8,0 0 3 0.000002000 9 D  WS 128 + 8 [kworker/0:1H]\n"
        "8,0 0 4 0.000003000 0 C  WS 128 + 8 [65531]\n"
        "8,0 0 5 0.000004000 9 D  FN [kworker/0:1H]\n"
    )
    assert write.of_trace(str(trace), table=str(table)) == 0
    with table.open(newline="") as file:
        head, *found = csv.reader(file)
    assert head == [
        *("device", "operation", "flags", "sector", "sectors", "queue_ns", "issue_ns", "complete_ns"),
        *("process", "pid", "error", "orphan"),
    ]
    assert found == [
        ["8:0", "write", "WS", "64", "8", "", "", "500", "", "", "0", "no issue"],
        ["8:0", "write", "WS", "128", "8", "1000", "2000", "3000", 'a, "b"', "7", "5", ""],
        ["8:0", "flush", "FN", "", "0", "", "4000", "", "kworker/0:1H", "9", "", "no completion"],
    ]


FORMATS = {
    "%5T.%9t, %p, %C, %a, %S, %n, %d, %D, %e\\n": "    1.000002000, 7, a b, {a}, 64, 8, WS,   8,0  , {e}",
    "%M:%m %a %d %S+%N %p @%T.%t err=%e\\n": "8:0 {a} WS 64+4096 7 @1.000002000 err={e}",
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_of_blkparses_is_read_back(form: str, tmp_path: Path) -> None:
    line, trace = FORMATS[form], tmp_path / "t"
    trace.write_text(f"{line.format(a='D', e=0)}\n{line.format(a='C', e=-5)}\n{line.format(a='P', e=0)}\n")
    found = external_trace.read(str(trace), form).traced.commands
    assert found.select("dev", "sector", "sectors", "begin_ns", "tid", "result").rows() == [
        ("8:0", 64, 8, 1_000_002_000, 7, 5)
    ]
    with pytest.raises(FileError, match=r"line 1: .* is not an event"):
        external_trace.read(str(trace))


def test_a_note_among_lines_of_a_format_is_no_command(tmp_path: Path) -> None:
    """blkparse 1.3 prints it in a format of its own, as 1.2 does not."""
    form, line = next(iter(FORMATS.items()))
    note = "253,0    0        0     0.000000000   252 1,0  m   N commitpath <b> note\n"
    trace = tmp_path / "t"
    trace.write_text(f"{note}{line.format(a='D', e=0)}\n{note}{line.format(a='C', e=0)}\n")
    assert external_trace.read(str(trace), form).traced.commands.height == 1


@pytest.mark.parametrize("given", ["dump", "text", "format"])
def test_what_blkparse_makes_of_a_trace_says_the_same(given: str, tmp_path: Path) -> None:
    folder = TRACES.parents[1] / "analysis/blktrace-ext4"
    form = "%D %c %s %T %t %p %a %d %S %n %e %C\\n"
    options = {"dump": ["-O", "-d", str(tmp_path / "t")], "text": [], "format": ["-f", form]}[given]
    done = subprocess.run(
        ["blkparse", "-q", "-i", "nullb0", *options], cwd=folder, capture_output=True, check=True
    )
    if given != "dump":
        (tmp_path / "t").write_bytes(done.stdout)
    own = external_trace.read(str(folder / "nullb0")).traced.commands
    found = external_trace.read(str(tmp_path / "t"), form if given == "format" else "").traced.commands
    same = ["sector", "sectors", "rwbs", "kind", "comm", "tid", "result"]
    assert found.select(same).equals(own.select(same))
    for name in ("queue_ns", "end_ns"):
        assert (found[name] - found["begin_ns"]).equals(own[name] - own["begin_ns"])


TRACED = """# tracer: nop
      db-7     [001] d..1.   1.000001: block_bio_remap: 8,0 WS 2112 + 16 <- (8,1) 64
      db-7     [001] .....   1.000002: block_bio_queue: 8,0 WS 2112 + 16 [db]
      db-7     [001] .....   1.000003: block_split: 8,0 WS 2112 / 2120 [db]
      db-7     (      7) [001] .....   1.000004: block_getrq: 8,0 WS 2112 + 8 [db]
kworker/1:1H-9 [001] .....   1.000005: block_rq_issue: 8,0 WS 4096 () 2112 + 8 none,0,0 [kworker/1:1H]
kworker/1:1H-9 [001] .....   1.000006: block_rq_issue: 8,0 WS 4096 () 2120 + 8 [kworker/1:1H]
  <idle>-0     [000] d.h..   1.000007: block_rq_complete: 8,0 WS () 2120 + 8 [0]
  <idle>-0     [000] d.h..   1.000008: block_rq_requeue: 8,0 WS () 2112 + 8 [0]
kworker/1:1H-9 [001] .....   1.000009: block_rq_issue: 8,0 WS 4096 () 2112 + 8 [kworker/1:1H]
  <idle>-0     [000] d.h..   1.000010: block_rq_complete: 8,0 WS () 2112 + 8 [-5]
kworker/1:1H-9 [001] .....   1.000011: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [kworker/1:1H]
  <idle>-0     [000] d.h..   1.000012: block_rq_complete: 8,0 FF () 18446744073709551615 + 0 [0]
  smartd-5     [000] .....   1.000013: block_rq_issue: 8,0 N 512 (85 08 0e 00) 0 + 0 [smartd]
  other-5      [000] .....   1.000014: sched_switch: prev_comm=other
"""
TOLD = [
    ("8:0", "WS", 8, "db", 1_000_006, 1_000_007),
    ("8:0", "WS", 8, "db", 1_000_009, 1_000_010),
    ("8:0", "FN", 0, "kworker/1:1H", 1_000_011, 1_000_012),
]


def test_ftrace_and_perf_say_what_blkparse_says(tmp_path: Path) -> None:
    trace = tmp_path / "t"
    for text in (
        TRACED,
        TRACED.replace("# tracer: nop", "cpus=2").replace(" .....", ""),
        re.sub("-([079]) ", r" \1 ", TRACED).replace(" 7 ", " 7/7 ").replace(": block_", ": block:block_"),
    ):
        trace.write_text(text)
        assert rows(external_trace.read(str(trace))) == TOLD
    trace.write_text(TRACED + "what is this\n")
    with pytest.raises(FileError, match="line 16: 'what is this' is not an event in the format of ftrace"):
        external_trace.read(str(trace))


CUT = "the last line has no end: left out, the trace may be cut short"
PARSED = "8,0 0 1 0.000000001 7 D WS 64 + 8 [app]\n8,0 0 2 0.000000002 0 C WS 64 + 8 [0]\n"
LAST = {
    "8,0 0 4 0.000004000 7 D R 5000 + 1024 [app]": PARSED,
    "8,0 0 4 0.000004000 7 C R 5000 + 1024 [0]": PARSED,
    "app-7 [001] d..1 1.000003: block_rq_issue: 8,0 R 4096 () 5000 + 1024 none,0,0 [app]": (
        "app-7 [001] d..1 1.000001: block_rq_issue: 8,0 WS 4096 () 64 + 8 none,0,0 [app]\n"
        "app-7 [001] d..1 1.000002: block_rq_complete: 8,0 WS () 64 + 8 none,0,0 [0]\n"
    ),
}


@pytest.mark.parametrize("last", LAST)
def test_a_line_that_is_cut_short_is_left_out(last: str, tmp_path: Path) -> None:
    def read(text: str) -> external_trace.Trace:
        (tmp_path / "t").write_text(text)
        return external_trace.read(str(tmp_path / "t"))

    before = LAST[last]
    without = rows(read(before))
    for length in (*range(1, len(last), 7), len(last) - 1):
        trace = read(before + last[:length])
        assert (rows(trace), trace.traced.orphans.height) == (without, 0), last[:length]
        assert trace.gaps[0] == CUT
    whole = read(before + last)
    assert CUT not in whole.gaps and whole.shown.height == 2
    assert rows(whole) == rows(read(f"{before}{last}\n"))


LOST = {
    "CPU:1 [LOST 500 EVENTS]\nCPU:2 [LOST 7 EVENTS]": "507 events",
    "CPU:1 [EVENTS DROPPED]\nCPU:1 [3 EVENTS DROPPED]": "at least 4 events",
    "app 7/7 [001] 1.000003: unknown: PERF_RECORD_LOST lost 9\nPERF_RECORD_LOST_SAMPLES lost 1": "10 events",
}


@pytest.mark.parametrize("lines", LOST)
def test_events_that_the_tracer_lost_are_told(lines: str, tmp_path: Path) -> None:
    text = LAST["app-7 [001] d..1 1.000003: block_rq_issue: 8,0 R 4096 () 5000 + 1024 none,0,0 [app]"]
    for whole in (f"{lines}\n{text}", f"{text}{lines}\n"):
        (tmp_path / "t").write_text(whole)
        notes = external_trace.read(str(tmp_path / "t")).gaps
        assert f"the tracer lost {LOST[lines]}: commands may be missing or unfinished" in notes


TRACE = (
    "8,0 0 1 0.000000000 7 Q WS 64 + 8 [a]\n"
    "8,0 0 2 0.000001000 7 D WS 64 + 8 [a]\n"
    "8,0 0 3 0.000003000 0 C WS 64 + 8 [0]\n"
)
SUMS = "CPU0 (sda):\n Reads Queued:           0,        0KiB\n\nEvents (sda): 3 entries\n"
OF_PROCESSES = "jbd2/sda1-8 (275, ...)\n Reads Queued:           2,        8KiB\n\n"
COMMAND = ("8:0", "WS", 8, "a", 1, 3)


def of_blk(action: str, what: str, nanoseconds: int, form: str) -> str:
    return form.format(event=f"  8,0    {action}  WS 64 + 8 [{what}]", micro=nanoseconds // US)


@pytest.mark.parametrize(
    "text",
    [
        TRACE + SUMS,
        TRACE + OF_PROCESSES + SUMS,
        TRACE.replace("Q WS", "\x1b[01;31m\x1b[KQ\x1b[m\x1b[K WS").replace(
            "[a]", "[\x1b[01;31m\x1b[Ka\x1b[m\x1b[K]"
        ),
        *(
            "".join(of_blk(a, w, t, form) for a, w, t in (("Q", "a", 0), ("D", "a", 1000), ("C", "0", 3000)))
            for form in (
                "    a-7   [001] d..1.     0.{micro:06}: {event}\n",
                "    a-7   [001]     0.{micro:06}: blktrace:          {event}\n",
            )
        ),
        "a 7 0.000000: block:block_bio_queue: 8,0 WS 64 + 8 [a]\n"
        "b 1 7/7 0.000001: block:block_rq_issue: 8,0 WS 4096 () 64 + 8 [b 1]\n"
        "swapper 0 0.000003: block:block_rq_complete: 8,0 WS () 64 + 8 [0]\n",
    ],
)
def test_a_text_is_read_whatever_option_printed_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(text)
    assert rows(external_trace.read(str(tmp_path / "t"))) == [COMMAND]


OTHER = TRACE.replace("0.", "1.").replace("64", "128")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (TRACE + SUMS + TRACE + SUMS, "line 8: an event behind the sums"),
        (OTHER + TRACE, "line 4: an earlier event has its number"),
        ("Input file a added\n" + OTHER + "Input file b added\n" + TRACE, "line 6: an earlier event"),
    ],
)
def test_two_traces_in_one_text_are_refused(
    text: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t").write_text(text)
    for piece in (1 << 20, 90):
        monkeypatch.setattr(blkparsed, "_PIECE", piece)
        with pytest.raises(FileError, match=f"{wrong}.*: two traces in one file"):
            external_trace.read(str(tmp_path / "t"))


def test_events_that_are_not_in_the_order_of_time_are_one_trace(tmp_path: Path) -> None:
    later = "8,0 1 1 0.000000500 9 Q WS 640 + 8 [b]\n8,0 0 0 0.000000500 9 m N note\n"
    (tmp_path / "t").write_text(TRACE + later + "8,0 0 0 0.000000100 9 m N note\n")
    assert rows(external_trace.read(str(tmp_path / "t"))) == [COMMAND]


@pytest.mark.parametrize(
    ("begin", "remedy"),
    [
        (b"\x1f\x8b\x08\0", "gunzip"),
        (b"\x17\x08Dtracing6\0", "trace-cmd report"),
        (b"PERFILE2\0", "perf script"),
    ],
)
def test_a_file_of_another_program_is_named_with_what_to_do(
    begin: bytes, remedy: str, tmp_path: Path
) -> None:
    (tmp_path / "t").write_bytes(begin)
    with pytest.raises(FileError, match=f"expected what `{remedy}`"):
        external_trace.read(str(tmp_path / "t"))


@pytest.mark.parametrize("end", ["", "\\r\\n", " \n"])
def test_the_end_of_a_format_is_that_of_a_line(end: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("8,0 0 1 0.000001000 7 2b,1 D WS 64 8\n8,0 0 2 0.000003000 7 0,0 C WS 64 8\n")
    trace = external_trace.read(str(tmp_path / "t"), f"%D %c %s %T.%t %p %g %a %d %S %n{end}")
    assert rows(trace) == [("8:0", "WS", 8, None, 1, 3)]


@pytest.mark.parametrize("letters", ["DE", "DSME"])
def test_a_secure_erase_is_a_discard(letters: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(TRACE.replace("WS", letters))
    assert external_trace.read(str(tmp_path / "t")).commands["kind"].to_list() == ["discard"]
