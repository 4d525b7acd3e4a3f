"""Draw a claim's ratios and intervals with the paper's value as a small SVG, for claims.html."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from commitpath.papers import verdict
from commitpath.papers.texts import number

Content = Mapping[str, Any]

# Kinds of claims with a ratio; pixels.
DRAWN = ("ratio", "direction")
WIDTH, HEIGHT, EDGE = 130, 20, 7


class Strips:
    """The pictures of a page, on one logarithmic scale."""

    def __init__(self, content: Content) -> None:
        values = [1.1, 1 / 1.1]
        for claim in content["claims"]:
            if claim["paper"]["kind"] == "ratio":
                values += [float(text) for text in claim["paper"]["expected"].split("|")]
            if claim["paper"]["kind"] in DRAWN:
                pairs = [pair for reading in claim["readings"] for pair in reading["pairs"]]
                values += [pair["ratio"] for pair in pairs if pair["ratio"]]
                values += [end for pair in pairs for end in (pair["interval"] or ()) if end > 0]
        self.low, self.high = min(values), max(values)

    def x(self, ratio: float) -> float:
        """Return the place of a ratio; of one beyond the scale its end."""
        ratio = min(max(ratio, self.low), self.high)
        part = math.log(ratio / self.low) / math.log(self.high / self.low)
        return round(EDGE + part * (WIDTH - 2 * EDGE), 1)

    def strip(self, claim: Content, pairs: Sequence[Content], first: int = 0) -> Markup:
        """Return the picture of a claim's pairs; empty without a ratio. first: the place of the first."""
        kind, texts = claim["paper"]["kind"], claim["paper"]["expected"].split("|")
        drawn = [(pair, texts[at % len(texts)]) for at, pair in enumerate(pairs, first) if pair["ratio"]]
        if kind not in DRAWN or not drawn:
            return Markup()
        marks = [mark for text in dict.fromkeys(text for _, text in drawn) for mark in self.paper(kind, text)]
        marks += [mark for pair, _ in drawn for mark in self.pair(pair)]
        words = "; ".join(f"{number(pair['ratio'])}, paper {text}" for pair, text in drawn)
        return Markup(
            '<svg class="strip" role="img" aria-label="{}" width="{}" height="{}">'
            '<line x1="{x}" x2="{x}" y2="{}" stroke="currentColor"/>{}</svg>'
        ).format(words, WIDTH, HEIGHT, HEIGHT, Markup().join(marks), x=self.x(1))

    def paper(self, kind: str, expected: str) -> Iterator[Markup]:
        """Yield the range that reproduces the paper's value, and the value."""
        low, high = map(self.x, verdict.span(kind, expected))
        yield Markup('<rect x="{}" width="{:.1f}" height="{}" fill="currentColor" opacity=".15"/>').format(
            low, high - low, HEIGHT
        )
        if kind == "ratio":
            yield Markup(
                '<line x1="{x}" x2="{x}" y2="{}" stroke="currentColor" stroke-width="2" '
                'stroke-dasharray="2"/>'
            ).format(HEIGHT, x=self.x(float(expected)))

    def pair(self, pair: Content) -> Iterator[Markup]:
        """Yield the interval of a pair's ratio, and the ratio: filled if it reproduces the paper's."""
        middle = HEIGHT / 2
        if pair["interval"]:
            low, high = map(self.x, pair["interval"])
            yield Markup(
                '<path d="M{} {y}H{}m0 -4v8M{} {top}v8" stroke="currentColor" stroke-width="1.5" '
                'fill="none"/>'
            ).format(low, high, low, y=middle, top=middle - 4)
        fill = "currentColor" if pair["verdict"] == verdict.REPRODUCED else "var(--ground)"
        yield Markup('<path d="M{} {}l5 5-5 5-5-5z" fill="{}" stroke="currentColor"/>').format(
            self.x(pair["ratio"]), middle - 5, fill
        )
