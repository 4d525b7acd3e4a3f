"""The page of a run's trial draws the power cut and what it took; a trial without a place is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Page
from selenium import webdriver

from analysis import pipeline
from analysis.inspect import write
from analysis.run_files import derived
from base.errors import BadInputError

HERE = Path(__file__).parent
TRIAL = 5  # one acknowledged transaction is lost, while the next waits for its journal's sync


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, undrawn: Any) -> Path:
    """A watched run with 30 cuts."""
    folder = tmp_path_factory.mktemp("cut")
    shutil.unpack_archive(HERE.parent / "analysis/sample-crash-watched.tar.xz", folder)
    with undrawn():
        assert pipeline.analyse(folder / "run")["status"] == "ok"
    return folder / "run"


def row(run: Path, trial: int) -> dict[str, Any]:
    return pl.read_parquet(run / "tables/trials.parquet").row(trial, named=True)


@pytest.fixture
def page(browser: webdriver.Chrome, run: Path, tmp_path: Path) -> Callable[..., Page]:
    """page(trial, address): the page of a trial."""

    def open_page(trial: int, address: str = "") -> Page:
        assert write.of_run(str(run), str(trial)) == 0
        shutil.copy(run / f"inspect-trial-{trial}.html", tmp_path / "inspect.html")
        return Page(browser, tmp_path).open(address)

    return open_page


def red(opened: Page, x: float, y: float) -> bool:
    """Whether the overlay is of the cut's colour at a place of the stage."""
    return bool(
        opened.js(
            """(() => {
            const { over, ratio, palette } = app.stage;
            const [r, g, b] = [1, 3, 5].map((at) => parseInt(palette.bad.slice(at, at + 2), 16));
            const { canvas } = over;
            const copy = new OffscreenCanvas(canvas.width, canvas.height);
            const read = copy.getContext("2d", { willReadFrequently: true });
            read.drawImage(canvas, 0, 0);
            const got = read.getImageData(Math.round(a[0] * ratio), Math.round(a[1] * ratio), 1, 1).data;
            return got[0] === r && got[1] === g && got[2] === b && got[3] === 255;
            })()""",
            x,
            y,
        )
    )


def test_the_cut_and_what_it_took_are_drawn(page: Callable[..., Page], run: Path) -> None:
    told, opened = row(run, TRIAL), page(TRIAL)
    cut = opened.js("app.run.about.cut")
    assert cut["time"] + opened.js("app.run.about.origin") == told["watched_ns"]
    assert cut["lost"] == list(range(told["first_lost"], told["acknowledged"])) and len(cut["lost"]) == 1
    notice = opened.text("#notice")
    assert notice.startswith(
        f"trial {TRIAL}, power cut after command {told['command']} (flush, insert 2, engine"
    )
    assert "1 of 2 acknowledged transactions are gone" in notice
    # what is in view is from the lost transaction on
    begin = opened.js("app.run.transactions.begin[a[0]]", told["first_lost"])
    assert opened.js("app.view.t0") < begin and cut["time"] < opened.js("app.view.t1")
    x, lane = (
        opened.js("app.stage.x(a[0])", cut["time"]),
        "app.stage.lanes.find((lane) => lane.table === 'syncs')",
    )
    y = opened.js(f"{lane}.top + {lane}.height / 2")
    assert red(opened, x, y) and not red(opened, x + 4, y) and not red(opened, x - 4, y)
    lost = [
        opened.js("app.stage.x(app.run.transactions.begin[a[0]]) + 1", transaction)
        for transaction in (*cut["lost"], told["under_way"])
    ]
    lane = "app.stage.lanes.find((lane) => lane.table === 'transactions')"
    y = opened.js(f"{lane}.top + {lane}.height / 2")
    assert [red(opened, x, y) for x in lost] == [True, False]


def test_a_cut_out_of_view_is_told_and_found_again(page: Callable[..., Page]) -> None:
    opened = page(TRIAL, "#from=100&to=90000")
    cut = opened.js("app.run.about.cut.time")
    assert cut > opened.js("app.view.t1")
    y = opened.js("app.stage.sectorLane().top + 2")
    assert red(opened, opened.js("app.stage.x(app.view.t1)") - 2, y)
    opened.keys("c")
    assert opened.js("app.view.t0") < cut < opened.js("app.view.t1")


def test_what_the_device_kept_and_lost(page: Callable[..., Page], run: Path) -> None:
    table = pl.read_parquet(run / "tables/trials.parquet")
    some = table.filter((pl.col("lost_commands") > 0) & (pl.col("lost_commands") < pl.col("losable")))
    told = some.row(0, named=True)
    cut = page(told["trial"]).js("app.run.about.cut")
    assert len(cut["gone"]) == told["lost_commands"]
    assert len(cut["kept"]) == told["losable"] - told["lost_commands"]


def changed(run: Path, tmp_path: Path, name: str, text: Callable[[Path], None]) -> Path:
    """A copy of the run in which a file is another."""
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    text(copy / name)
    derived.write(copy)
    return copy


def test_a_trial_that_has_no_place_in_the_timeline(run: Path, tmp_path: Path) -> None:
    def nowhere(path: Path) -> None:
        pl.read_parquet(path).with_columns(watched_ns=pl.lit(None, pl.Int64)).write_parquet(path)

    copy = changed(run, tmp_path, "tables/trials.parquet", nowhere)
    with pytest.raises(BadInputError, match=r"^TRIAL=1: command 9 is not in the timeline.*$"):
        write.of_run(str(copy), "1")
