"""Text traces (blkparse, ftrace, perf): events read at once as one by one; the first wrong line is named."""

import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analysis.adapters import blkformat, blklines, blkparsed, blktable
from analysis.adapters.blkevents import EVENT, Collected

FORMATS = (
    blkformat.Format("%D %2c %8s %5T.%9t %5p %2a %3d %S + %n [%C] %e %T\\n"),
    blkformat.Format("%M:%m %a%%%d @%S+%N pid=%p %z (%P) %T.%t\\n"),
)
LINES = {
    FORMATS[0]: (
        "8,0  3    1000     2.929048912   337  D WSM 2098416 + 32 [jbd2/target-8] 0 2",
        "  8,0  3    1000     2.        7   337  C FWS 18446744073709551615 + 0 [] -5 2",
        "8,0  3 1000 2.7 4294967295  A WS 64 + 8 [a b] 0 2",
    ),
    FORMATS[1]: (
        "8:16 D%WS @64+4096 pid=7 10:11:12.000000001 (00 01) 1.000002000",
        "  8:16 C%R @9007199254740991+9223372036854775808 pid=7 10:11:12.000000001 () 1.2",
        "8:16 G%WFS @64+512 pid=7 10:11:12.000000001 () 1.2",
        "8:16 Q%N @0+36 pid=7 10:11:12.000000001 (12 00 00 00 24 00 ..) 1.2",
        "8:16 UT%N @0+0 pid=7 10:11:12.000000001 () 1.2",
    ),
    blklines.parsed: (
        "253,0    0     1000     2.929048912   337  D WSM 2098416 + 32 [jbd2/target-8]",
        "  8,16   3        1     0.000000000     0  C   R 0 + 8 [0]",
        "253,0    0     1003 99999.931115440 4294967295  G FWFSM 9007199254740991 + 8 [kworker/0:0H-kb]",
        "8,0 1 7 12345678.000000001 697 Q FWS [a b] c]",
        "8,0 1 8 0.000000002 697 C WS 64 + 123456789 [65531]",
        "8,0 1 8 0.000000002 697 C FN 0 [0]",
        "8,0 1 8 0.000000002 697 C WS 64 + 8",
        "8,0 1 9 0.000000003 697 U N [x] 1",
        "8,0 1 9 0.000000003 697 X WS 64 / 72 [x]",
        "9,1 1 9 0.000000003 697 A WS 64 + 8 <- (8,1) 0",
        "8,0 1 9 0.000000003 697 D N 36 (12 00 00 00 24 00 ..) [smartctl]",
        "8,0 1 9 0.000000003 697 m N cfq697 slice expired t=0",
    ),
    blklines.traced: (
        "       mydb-912 [001] d..1.   101.000100: block_rq_issue: 179,0 WS 4096 () 2048 + 8 none,0,0 [mydb]",
        " kworker/0:1H-50   [000] ....  101.002100: block_rq_complete: 179,0 WS () 2048 + 8 none,0,0 [-5]",
        "jbd2/a b-7 (    7) [000] 1.000000001: block_bio_remap: 8,0 WS 64 + 8 <- (8,1) 0",
        "fio  1234 [003]  9.123456:   block:block_bio_queue: 8,0 FF 18446744073709551615 + 0 [fio]",
        "fio 1234/1235 [003] 9.123456789: 1 block:block_rq_issue: 8,0 N 36 (12 00 24) 0 + 0 [fio]",
        "fio-1234 [003] 9.123456: block_split: 8,0 WS 64 / 72 [fio]",
        "fio-1234 [003] 9.123456: sched_switch: prev_comm=fio prev_pid=1 [120] ==> next_comm=a",
        "fio-1234 [003] 9.123456: block_plug: [fio]",
    ),
}
BYTES = b"0123456789 +/[](),.:-<>AWSXyz\t\xff"


def mutated(form: blklines.Reader, seed: int) -> list[str]:
    """Return lines in which some bytes are changed."""
    choose = random.Random(seed)
    lines = []
    for _ in range(200):
        line = bytearray(choose.choice(LINES[form]).encode())
        for _ in range(choose.choice([0, 0, 1, 1, 2])):
            at = choose.randrange(len(line))
            line[at : at + choose.randrange(2)] = choose.choices(BYTES, k=choose.choice([0, 1, 1, 9, 20]))
        lines.append(line.decode(errors="replace"))
    return lines


@pytest.mark.parametrize("form", LINES, ids=["a format", "another", "blkparse", "ftrace and perf"])
def test_both_ways_give_the_same_events(form: blklines.Reader) -> None:
    for seed in range(10):
        lines, found = mutated(form, seed), Collected()
        usual = blktable.read(pl.Series(lines), form)
        assert 30 < usual.lines.size < len(lines)
        expected = [form(lines[number], found.number) for number in usual.lines]
        assert blktable.rows(usual.table, found.number).tolist() == np.array(expected, EVENT).tolist()
        skipped = set(range(len(lines))) - {*usual.lines.tolist(), *usual.unread.tolist()}
        assert all(form(lines[number], found.number) is None for number in skipped)


def test_pieces_of_a_text_are_read_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, odd = LINES[blklines.parsed][0], LINES[blklines.parsed][3]
    text = tmp_path / "text"
    lines = (f"{usual.replace('1000', f'{n}')}\n{odd.replace(' 7 ', f' {n} ')}\n" for n in range(1, 41))
    text.write_text("Input file x added\n" + "".join(lines) + usual)
    whole = blkparsed.read(text)
    monkeypatch.setattr(blkparsed, "_PIECE", 200)
    pieces = blkparsed.read(text)
    assert whole.rows.size == 81
    assert (pieces.rows.tolist(), pieces.names) == (whole.rows.tolist(), whole.names)


@pytest.mark.parametrize("later", ["8,0 no\n", "a\rb\n", "x" * (1 << 17) + "\n"])
def test_the_first_wrong_line_of_a_text_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: str
) -> None:
    monkeypatch.setattr(blkparsed, "_PIECE", 200)
    text, usual = tmp_path / "text", LINES[blklines.parsed][0] + "\n"
    text.write_bytes((usual * 40 + "8,0 wrong\n" + usual * 3 + later).encode())
    with pytest.raises(blkparsed.NoTextError, match=r"^line 41: "):
        blkparsed.read(text)
    text.write_bytes((usual * 43 + later).encode())
    with pytest.raises(blkparsed.NoTextError, match=r"^line 44: "):
        blkparsed.read(text)


def test_an_event_behind_the_sums_is_named_in_any_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blkparsed, "_PIECE", 200)
    text, usual = tmp_path / "text", LINES[blklines.parsed][0] + "\n"
    for sums in range(1, 30):
        text.write_text(usual * 3 + "CPU0 (8,0):\n" * sums + usual)
        with pytest.raises(blkparsed.NoTextError, match=rf"^line {4 + sums}: "):
            blkparsed.read(text)
