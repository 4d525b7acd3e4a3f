"""Figures of a run's report, one module each. Each renders tables to an SVG file, alone or from here."""

from __future__ import annotations

from pathlib import Path

from analysis.figures import blocks, latency, syncs, traffic, zoom
from analysis.stats.report_tables import Tables

FIGURES = {
    "latency": latency.render,
    "syncs": syncs.render,
    "blocks": blocks.render,
    "traffic": traffic.render,
    "zoom": zoom.render,
}


def render_all(tables: Tables, folder: Path) -> dict[str, Path]:
    """Render every figure that has data into `folder`; return {name: file}."""
    folder.mkdir()
    done = {}
    for name, render in FIGURES.items():
        path = folder / f"{name}.svg"
        if render(tables, path):
            done[name] = path
    return done
