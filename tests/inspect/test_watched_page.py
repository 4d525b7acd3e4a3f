"""The page of a watched command: its syncs and block commands, and the transactions that were noted."""

import json
import shutil
from pathlib import Path
from typing import Any

from conftest import Page
from selenium import webdriver

from analysis import pipeline
from analysis.inspect import write

SAMPLE = Path(__file__).resolve().parents[1] / "analysis/watch-sample.tar.xz"


def unpacked(folder: Path, undrawn: Any, *, noted: bool) -> Path:
    """The sample; not noted: as if its engine had been linked in statically."""
    shutil.unpack_archive(SAMPLE, folder / "run")
    if not noted:
        host, driver = folder / "run/host.json", folder / "run/raw/driver"
        host.write_text(json.dumps({**json.loads(host.read_text()), "raw_sha256": None}))
        host.write_text(host.read_text().replace(', "raw_sha256": null', ""))
        rows = driver / "transactions.csv"
        rows.write_text(rows.read_text().splitlines()[0] + "\n")
        config = json.loads((driver / "config.json").read_text())
        config["transactions"].update(processes=0, ended=0)
        (driver / "config.json").write_text(json.dumps(config))
        phases = driver / "phases.csv"
        phases.write_text(phases.read_text().replace(",43\n", ",0\n"))
    with undrawn():
        pipeline.analyse(folder / "run")
    assert write.of_run(str(folder / "run")) == 0
    return folder / "run"


def test_a_page_with_transactions(tmp_path: Path, browser: webdriver.Chrome, undrawn: Any) -> None:
    page = Page(browser, unpacked(tmp_path, undrawn, noted=True)).open()
    assert page.js("app.run.transactions.begin.length") == 43
    # an INSERT in mode DELETE: 4 syncs; when its thread had the CPU nobody recorded
    page.keys("n")
    said = page.text("#details")
    assert said.startswith("insert ")
    assert "syncs\n4\n" in said
    assert "Bytes written" in said
    assert "Time" not in said


def test_a_page_without_transactions(tmp_path: Path, browser: webdriver.Chrome, undrawn: Any) -> None:
    page = Page(browser, unpacked(tmp_path, undrawn, noted=False)).open()
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
