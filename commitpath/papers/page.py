"""Render claims.html, one file that opens offline, and the same claims as lines for a terminal."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.report import html_page, manual
from base.text import aligned
from commitpath.charts.model import VIRTUAL
from commitpath.papers import authors_runs, two_boards, verdict
from commitpath.papers.strips import Strips
from commitpath.papers.texts import number

Content = Mapping[str, Any]

# Settings that every timed cell shares, or that are in the head of its column.
OMITTED = ("device", "probes", "sqlite")
# Before a number, so that its verdict is also seen without colors.
SIGNS = {
    verdict.REPRODUCED: "✓ ",
    verdict.DIRECTION: "~ ",
    verdict.NOT_DECIDED: "? ",
    verdict.CONTRADICTED: "✗ ",
}
# Key of a claim → the qualification of its verdict.
QUALIFIED = {"circular": "circular", "by_equality": "by equality"}
TIMES = {
    "cpu": "CPU",
    "data_wait": "data",
    "journal_wait": "filesystem journal",
    "flush_wait": "flush",
    "other_wait": "other",
}


def render(content: Content, figures: Sequence[Path] = ()) -> str:
    """Return the page of a document (document.py), with links to the pages of docs/ that it names.

    figures: files; it shows those in SVG.
    """
    environment = html_page.environment(Path(__file__).parent)
    environment.filters.update(n=shown, cell=cell_text, ratios=ratios, expected=expected, grouped=grouped)
    columns = columns_of(content)
    page = environment.get_template("claims.html.j2").render(
        doc=content,
        figures={path.stem: html_page.data_uri(path) for path in figures if path.suffix == ".svg"},
        tables={path.stem: two_boards.rows(path) for path in figures if path.suffix == ".json"},
        predicted={path.stem: authors_runs.of_file(path) for path in figures if path.suffix == ".json"},
        columns=columns,
        row=lambda claim: summary_row(claim, columns),
        strip=Strips(content).strip,
        signs=SIGNS,
        colors={
            verdict.REPRODUCED: "good",
            verdict.DIRECTION: "warn",
            verdict.CONTRADICTED: "bad",
            verdict.NOT_DECIDED: "none",
            verdict.NOT_TESTABLE: "none",
            verdict.NOT_MEASURED: "none",
            verdict.MISSING: "missing",
        },
        labels=labels_of,
        devices=devices_of,
        times=TIMES,
        notes=notes_of,
        interval=two_boards.interval,
        virtual_missing=two_boards.missing_text,
        virtual=VIRTUAL,
        depends=depends,
        qualified=qualified,
        qualifications=lambda name: qualifications(content, name),
    )
    link = rf'<a href="../../{manual.pages()}\1.html">docs/\1.md</a>'
    return re.sub(r"\bdocs/([\w/-]+)\.md", link, page)


def terminal(content: Content) -> list[str]:
    """Return a line for each claim, and the number of claims with each verdict."""
    rows = [["", "verdict", "paper", "here", ""]]
    for claim in content["claims"]:
        here = ratios(claim["readings"][0], claim) if claim["readings"] else "-"
        other = f" (other readings: {', '.join(claim['other_verdicts'])})" if claim["other_verdicts"] else ""
        words = ", ".join([claim["verdict"], *qualified(claim)])
        why = f" ({claim['unmeasured']})" if claim["unmeasured"] else ""
        # the page has the values that change it
        brief = re.sub(r" \([^()]*\)", "", depends(claim))
        other += f" ({brief})" if brief else ""
        rows.append([claim["id"], words, expected(claim), here, claim["statement"] + why + other])
    lines = aligned(rows)
    lines += [
        f"missing  {claim['id']}: {cell_text(side['settings'], 'sqlite')}: {side['reason']}"
        for claim in content["claims"]
        for reading in claim["readings"]
        for pair in reading["pairs"]
        if pair["verdict"] == verdict.MISSING
        for side in (pair["left"], pair["right"])
        if side["reason"]
    ]
    lines += [content["left_out"]] if content["left_out"] else []
    lines += [f"not all of the paper: {'; '.join(content['asked'])}"] if content["asked"] else []
    lines += [two_boards.missing_text(content)] if content["beside"] else []
    counts = ", ".join(
        f"{count} {name}{qualifications(content, name)}"
        for name, count in content["verdicts"].items()
        if count
    )
    return [*dict.fromkeys(lines), f"{len(content['claims'])} claims: {counts}"]


def depends(claim: Content) -> str:
    """Return what a verdict depends on, and its ratio over all fits of the device; empty if unknown."""
    found = claim["depends"]
    if not found:
        return ""
    too = "the null model has it, too" if found["null_model_too"] else ""
    fits = found["ratios_over_fits"] if claim["paper"]["kind"] in ("ratio", "direction") else None
    span = f"{number(fits[0])} to {number(fits[1])} over the device's fits" if fits else ""
    return "; ".join(filter(None, [found["words"].strip("-"), too, span]))


def qualified(claim: Content) -> list[str]:
    """Return the qualifications of a claim's verdict."""
    return [words for key, words in QUALIFIED.items() if claim[key]]


def qualifications(content: Content, name: str) -> str:
    """Return ` (2 circular, 1 by equality)`: how many claims with a verdict are qualified."""
    counts = Counter(
        words for claim in content["claims"] if claim["verdict"] == name for words in qualified(claim)
    )
    text = ", ".join(f"{counts[words]} {words}" for words in QUALIFIED.values() if counts[words])
    return f" ({text})" if text else ""


def grouped(entries: Sequence[Content], key: str) -> list[tuple[str, list[Content]]]:
    """Group entries by one of their values, in the order of first appearance."""
    names = dict.fromkeys(str(entry[key]) for entry in entries)
    return [(name, [entry for entry in entries if entry[key] == name]) for name in names]


def shown(value: float | None) -> str:
    """Return a number as on the page, `–` without one."""
    return "–" if value is None else number(value)


def expected(claim: Content) -> str:
    """Return the paper's value as text: `2×`, `2×, 3×`, `>1`, or counts."""
    value, kind = str(claim["paper"]["expected"]), claim["paper"]["kind"]
    return ", ".join(f"{ratio}×" for ratio in value.split("|")) if kind == "ratio" else value


def cell_text(settings: Content, *also: str) -> str:
    """Return a short name of a cell, `f2fs wal normal autocheckpoint=254`, without what its engine lacks."""
    named = [str(settings[name]) for name in ("fs", "journal_mode", "synchronous") if name in settings]
    hidden = {"fs", "journal_mode", "synchronous", *OMITTED} - set(also)
    return " ".join(named + [f"{name}={value}" for name, value in settings.items() if name not in hidden])


def ratios(reading: Content, claim: Content) -> str:
    """Return the result of a reading: a ratio, the range of several, or counts, with marks."""
    pairs = reading["pairs"]
    if any(pair[side]["value"] is None for pair in pairs for side in ("left", "right")):
        return str(reading["verdict"])
    if claim["paper"]["kind"] == "count":
        counts = [[f"{1000 * pair[side]['value']:.0f}" for side in ("left", "right")] for pair in pairs]
        return ", ".join(dict.fromkeys(map(" / ".join, counts)))
    if claim["paper"]["kind"] == "limit":
        return number(max(pair["left"]["value"] for pair in pairs))
    # over 0 there is none
    if any(pair["ratio"] is None for pair in pairs):
        return str(reading["verdict"])
    values = sorted(pair["ratio"] for pair in pairs)
    if reading["holds"] == "largest":
        values = values[-1:]
    text = " to ".join(dict.fromkeys(number(ratio) for ratio in (values[0], values[-1]))) + "×"
    marked = sorted({mark for pair in pairs for mark in pair["marks"]})
    return " ".join([text, *marked])


def columns_of(content: Content) -> list[tuple[str, list[str]]]:
    """Return the summary's columns: (SQLite release, readings of the paper's words)."""
    every = [worded(reading) for claim in content["claims"] for reading in claim["readings"]]
    return [(build, list(dict.fromkeys(filter(None, every)))) for build in content["builds"]]


def worded(reading: Content) -> str:
    """Return the meanings of the paper's words in a reading: `DELETE is TRUNCATE`; empty without any."""
    return ", ".join(f"{word} is {meaning.upper()}" for word, meaning in reading["words"].items())


def summary_row(claim: Content, columns: Sequence[tuple[str, list[str]]]) -> list[tuple[int, str, str]]:
    """Return (width in columns, text, verdict) of the first reading, in each build and wording."""
    readings = claim["readings"]
    by_place = {
        (reading["sqlite"], worded(reading)): (ratios(reading, claim), reading["verdict"])
        for reading in reversed(readings)
        if reading["name"] == readings[0]["name"]
    }
    row = []
    for build, words in columns:
        if (build, "") in by_place:
            row.append((len(words), *by_place[build, ""]))
        else:
            row += [(1, *by_place.get((build, word), ("", ""))) for word in words]
    return row


def labels_of(claim: Content) -> list[str]:
    """Return the labels of bytes that any cell of a claim's table wrote."""
    watched = [row["watched"] for row in claim["why"] if row["watched"]]
    return [name for name in (watched[0]["kib"] if watched else ()) if any(w["kib"][name] for w in watched)]


def devices_of(claim: Content) -> list[str]:
    """Return the causes of device time that reach 0.1 ms in any of a claim's runs."""
    spent = [row["device_ms"] for row in claim["why"]]
    names = dict.fromkeys(name for causes in spent for name in causes)
    return [name for name in names if max(causes.get(name, 0) for causes in spent) >= 0.1]


def notes_of(claim: Content) -> list[str]:
    """Return the meaning of each mark on a claim's pairs."""
    pairs = [pair for result in claim["readings"] for pair in result["pairs"]]
    return sorted({f"{mark} {text}" for pair in pairs for mark, text in pair["marks"].items()})
