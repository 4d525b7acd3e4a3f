"""A headless Chromium, and pages of synthetic runs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE)]

import chromium  # noqa: E402
import synthetic_ledger  # noqa: E402

from analysis import pipeline  # noqa: E402
from analysis.inspect import external_trace, write  # noqa: E402


class Page:
    """inspect.html of one run in the browser."""

    def __init__(self, browser: webdriver.Chrome, folder: Path) -> None:
        self.browser = browser
        self.folder = folder

    def open(self, address: str = "") -> Page:
        """Load the page and wait until it is drawn."""
        self.browser.get("about:blank")
        self.browser.get(f"file://{self.folder / 'inspect.html'}{address}")
        self.wait("globalThis.inspect")
        return self

    def js(self, script: str, *arguments: Any) -> Any:
        """Evaluate an expression; `app` is the page's App, `a` the arguments."""
        return self.browser.execute_script(
            f"const a = arguments, app = globalThis.inspect; return {script}", *arguments
        )

    def wait(self, script: str) -> None:
        """Wait until an expression is true, at most 20 s."""
        self.browser.execute_async_script(
            f"""const done = arguments[0];
            const look = () => ({script}) ? requestAnimationFrame(() => done()) : setTimeout(look, 20);
            look();"""
        )

    def settle(self) -> None:
        """Wait for the next frame to be drawn."""
        self.browser.execute_async_script(
            "requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))"
        )

    def paper(self) -> ElementTree.Element:
        """Return the timeline as it is printed."""
        self.js("void dispatchEvent(new Event('beforeprint'))")
        sheet = self.js("new XMLSerializer().serializeToString(document.querySelector('#sheet svg'))")
        self.js("void dispatchEvent(new Event('afterprint'))")
        return ElementTree.fromstring(sheet)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table of the run."""
        return pl.read_parquet(self.folder / "tables" / f"{name}.parquet")

    def text(self, selector: str) -> str:
        """Return the text of an element."""
        return self.browser.find_element(By.CSS_SELECTOR, selector).text

    def click(self, selector: str) -> None:
        """Click an element."""
        self.browser.find_element(By.CSS_SELECTOR, selector).click()
        self.settle()

    def keys(self, *keys: str) -> None:
        """Press keys."""
        ActionChains(self.browser).send_keys(*keys).perform()
        self.settle()

    def place(self, table: str, row: int) -> tuple[float, float]:
        """Return where the middle of a row's bar is in the window."""
        return tuple(
            self.js(
                """(() => {
                const { stage, run } = app, [table, row] = a;
                const lane = stage.lanes.find((lane) => lane.table === table &&
                    (!lane.kind || lane.kind === run.commands.text("kind", row)));
                const box = stage.element.getBoundingClientRect();
                const i = lane.track.rows ? lane.track.rows.indexOf(row) : row;
                const part = lane.height / lane.track.slots;
                return [box.left + (stage.x(run[table].begin[row]) + stage.x(run[table].end[row])) / 2,
                        box.top + lane.top + (lane.track.slot[i] + 0.5) * part];
                })()""",
                table,
                row,
            )
        )

    def point(self, x: float, y: float, *, click: bool = False) -> None:
        """Move the mouse to a place in the window, and click there."""
        actions = ActionChains(self.browser)
        actions.w3c_actions.pointer_action.move_to_location(round(x), round(y))
        if click:
            actions.click()
        actions.perform()
        self.settle()

    def chain(self, which: str = "chosen") -> dict[str, list[int]]:
        """Return the rows of the chain that is chosen or hovered, by table."""
        return self.js(
            "Object.fromEntries(['transactions', 'vfs', 'syncs', 'journal', 'commands']"
            ".map((name) => [name, [...app[a[0]][name]].sort((x, y) => x - y)]))",
            which,
        )


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """A Chromium of its own profile."""
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    driver.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    yield driver
    driver.quit()


@pytest.fixture(autouse=True)
def quiet(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test may leave an error on the browser's console."""
    yield
    if "browser" in request.fixturenames:
        logged = [entry["message"] for entry in request.getfixturevalue("browser").get_log("browser")]
        assert not logged, "\n".join(logged)


@pytest.fixture
def script_page(
    page: Callable[..., Page], browser: webdriver.Chrome, tmp_path: Path
) -> Callable[[str], Page]:
    """script_page(text): the page of a synthetic run whose user's script printed that."""

    def open_page(text: str) -> Page:
        shutil.copytree(page().folder, tmp_path / "run")
        (tmp_path / "run/raw").mkdir(exist_ok=True)
        (tmp_path / "run/raw/bpftrace.txt").write_text(text)
        assert write.of_run(str(tmp_path / "run")) == 0
        return Page(browser, tmp_path / "run").open()

    return open_page


@pytest.fixture
def trace_page(browser: webdriver.Chrome, tmp_path: Path) -> Callable[[str], Page]:
    """trace_page(prefix): the page of a block trace that no run made."""

    def open_page(given: str) -> Page:
        assert write.of_trace(given) == 0
        external_trace.place(given).replace(tmp_path / "inspect.html")
        return Page(browser, tmp_path).open()

    return open_page


@pytest.fixture(scope="session")
def page(browser: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Page]:
    """page(n=…, mode=…, fs=…): the page of a synthetic run, made once for each set of options."""
    made: dict[str, Path] = {}

    def open_page(address: str = "", **options: Any) -> Page:
        key = repr(sorted(options.items()))
        if key not in made:
            made[key] = synthetic_ledger.make(tmp_path_factory.mktemp("run") / "run", **options)
            assert write.of_run(str(made[key])) == 0
        return Page(browser, made[key]).open(address)

    return open_page


@pytest.fixture(scope="session")
def checkpointed(
    tmp_path_factory: pytest.TempPathFactory, undrawn: Callable[[], AbstractContextManager[None]]
) -> Path:
    """A recorded run with checkpoints of the WAL, analysed and with its page; not to be changed."""
    folder = tmp_path_factory.mktemp("checkpointed") / "cell"
    shutil.unpack_archive(HERE.parent / "analysis/sample-checkpoints.tar.xz", folder)
    with undrawn():
        pipeline.analyse(folder / "run")
    write.of_run(str(folder / "run"))
    return folder / "run"
