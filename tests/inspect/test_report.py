"""The report's look in a headless Chromium."""

from pathlib import Path

from selenium import webdriver
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
