"""Draw the figures of a run's report (latency, syncs, block commands, traffic, zoom) as SVG files."""

from pathlib import Path

from analysis.figures import latency, per_transaction, zoom
from analysis.stats.report_tables import Tables

# each returns whether there is anything to draw
FIGURES = {
    "latency": latency.render,
    "syncs": per_transaction.syncs,
    "blocks": per_transaction.blocks,
    "traffic": per_transaction.traffic,
    "zoom": zoom.render,
}


def render_all(tables: Tables, folder: Path) -> dict[str, Path]:
    """Render every figure that has data into `folder`; return {name: file}."""
    folder.mkdir()
    paths = {name: folder / f"{name}.svg" for name in FIGURES}
    return {name: path for name, path in paths.items() if FIGURES[name](tables, path)}
