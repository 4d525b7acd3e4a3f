"""Each kind of page at three widths and on paper: nothing wider than the window, no error on the console."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium import webdriver

sys.path += [str(Path(__file__).parents[1] / name) for name in ("analysis", "sweep")]

import synthetic
import synthetic_ledger
import test_reproduce
import test_robust
from lab import Lab
from test_diff import pair  # noqa: F401
from test_reproduce import judged  # noqa: F401
from test_robust import wanted  # noqa: F401

from analysis import __main__ as analysis
from analysis.diff import compare as diff
from analysis.diff.comparison_files import write as diff_page
from analysis.inspect import write
from commitpath.papers import page, robust, robust_page

Given = pytest.FixtureRequest


def report(folder: Path, _: Given) -> Path:
    """Of a made-up run, with its figures."""
    run = synthetic.make(folder / "cell/run", n=5)
    assert analysis.main([str(run)]) == 0
    return run / "report.html"


def inspected(folder: Path, _: Given) -> Path:
    """Of a made-up run."""
    write.of_run(str(run := synthetic_ledger.make(folder / "run", n=5)))
    return run / "inspect.html"


def differences(_: Path, request: Given) -> Path:
    """Of two made-up runs."""
    return diff_page(diff(*request.getfixturevalue("pair")))


def compared(folder: Path, _: Given) -> Path:
    """Of four made-up runs."""
    lab = Lab(folder / "results")
    for fs in ("ext4", "f2fs"):
        lab.run(50, FS=fs, MODE="delete")
        lab.run(60, FS=fs, MODE="wal")
    lab.ok("compare", A="mode=delete", B="mode=wal", PAGE=str(folder / "c.html"))
    return folder / "c.html"


def claims(folder: Path, request: Given) -> Path:
    """Of a paper with a claim."""
    runs = [
        test_reproduce.run(tps, MODE=mode) for tps, mode in ((100, "wal"), (10, "truncate"), (50, "delete"))
    ]
    _, content = request.getfixturevalue("judged")(test_reproduce.CLAIM, "tps,10,ratio", *runs)
    (folder / "claims.html").write_text(page.render(content))
    return folder / "claims.html"


def robustness(folder: Path, request: Given) -> Path:
    """Of a paper with three claims."""
    asked = request.getfixturevalue("wanted")
    robust_page.write(asked, robust.judged(asked, test_robust.results()), folder)
    return folder / "robust.html"


@pytest.mark.parametrize("make", [report, inspected, differences, compared, claims, robustness])
def test_nothing_is_wider_than_the_window(
    make: Callable[[Path, Given], Path], browser: webdriver.Chrome, tmp_path: Path, request: Given
) -> None:
    browser.get(f"file://{make(tmp_path, request)}")
    try:
        for media, width in (("", 400), ("", 800), ("", 1400), ("print", 700)):
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
            widths = browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]")
            assert widths[0] == width and widths[1] <= width, (media, width)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
