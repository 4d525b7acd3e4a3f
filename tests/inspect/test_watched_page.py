"""The page of a watched command: its syncs and block commands, with no transaction."""

import shutil
from pathlib import Path

from conftest import Page
from selenium import webdriver

from analysis import pipeline
from analysis.inspect.__main__ import main as inspect

SAMPLE = Path(__file__).resolve().parents[1] / "analysis/watch-sample.tar.xz"


def test_a_page_without_transactions(tmp_path: Path, browser: webdriver.Chrome) -> None:
    shutil.unpack_archive(SAMPLE, tmp_path / "run")
    pipeline.analyse(tmp_path / "run")
    assert inspect([str(tmp_path / "run")]) == 0
    page = Page(browser, tmp_path / "run").open()
    syncs = page.table("syncs")
    assert page.js("app.run.syncs.begin.length") == syncs.height == 114
    assert page.js("app.run.transactions.begin.length") == 0
    # a click on a command tells what it wrote
    page.point(*page.place("commands", 0), click=True)
    assert "rollback journal" in page.text("#details")
    # steps through transactions, of which there are none
    page.keys("n")
    page.keys("p")
    page.keys("0")
