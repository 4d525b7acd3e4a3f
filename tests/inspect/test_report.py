"""The report in a headless Chromium: numbers stay on one line, and its latency figure can be enlarged."""

import json
from pathlib import Path

from selenium import webdriver
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By

STYLE = Path(__file__).resolve().parents[2] / "analysis/report/style.css"


def test_no_number_is_broken(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """Where a table is narrow its texts are broken, not its numbers."""
    cells = '<td class="n">1,978.622</td>' * 3 + "<td>a,text,of,several,words</td>"
    page = f'<style>{STYLE.read_text()}</style><table style="width: 1em"><tr>{cells}</tr></table>'
    (tmp_path / "page.html").write_text(page)
    browser.get(f"file://{tmp_path}/page.html")
    measured = "const range = document.createRange(); range.selectNodeContents(arguments[0]); "
    lines = [
        browser.execute_script(f"{measured} return range.getClientRects().length", cell)
        for cell in browser.find_elements(By.TAG_NAME, "td")
    ]
    assert lines[:3] == [1, 1, 1] and lines[3] > 1


def test_a_stretch_of_the_latency_figure_is_enlarged(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """By dragging over it; the buttons show the slowest tenth, and all."""
    times = [float(ms) for ms in range(1, 101)]
    shares = [each / 100 for each in times]
    lines = [{"op": "insert", "color": "#123456", "ms": times, "share": shares}]
    code = (STYLE.parent / "latency.mjs").read_text()
    (tmp_path / "page.html").write_text(
        f"<div id=zoom hidden><button>all</button><button>slowest</button><output></output></div><script "
        f'type="application/json" id=latencies>{json.dumps(lines)}</script>'
        f"<script type=module>{code}</script>"
    )
    browser.get(f"file://{tmp_path}/page.html")
    output = browser.find_element(By.TAG_NAME, "output")
    whole, slowest = browser.find_elements(By.TAG_NAME, "button")
    assert "1.000 to 100.0 ms" in output.text
    slowest.click()
    assert "90.00 to 100.0 ms" in output.text
    assert "insert: 11 %" in browser.find_element(By.TAG_NAME, "svg").text
    picture = browser.find_element(By.TAG_NAME, "svg")
    left = (42 - 691 / 2) / 691 * picture.size["width"]
    right = (680 - 691 / 2) / 691 * picture.size["width"]
    begin = ActionChains(browser).move_to_element_with_offset(picture, int((left + right) / 2), 0)
    begin.click_and_hold().move_by_offset(int((right - left) / 4), 0).release().perform()
    low, high = (float(word) for word in output.text.split() if word[0].isdigit())
    assert abs(low - 95) < 0.2 and abs(high - 97.5) < 0.2
    whole.click()
    assert "1.000 to 100.0 ms" in output.text
    assert not [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]]
