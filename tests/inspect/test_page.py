"""The page in a headless Chromium: values, chains, keys, filters, search, copies, SVG, print and focus."""

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import markup
import polars as pl
import pytest
import synthetic_ledger
from conftest import Page
from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By

from analysis.schemas import ledger as schema
from commitpath.charts import look
from model import operations

Pages = Callable[..., Page]
SVG = "{http://www.w3.org/2000/svg}"
ROW = 40


def numbers(values: pl.Series) -> list[int]:
    """Return the distinct values but null, sorted."""
    return sorted(values.drop_nulls().unique().to_list())


def chain_of(page: Page, transaction: int) -> dict[str, list[int]]:
    """Return what a transaction's chain must be, from the tables alone."""
    ledger, shares = page.table("ledger"), page.table("shares")
    parts = (shares, page.table("deferred"))
    shared = pl.concat([part.filter(pl.col("transaction") == transaction)["command"] for part in parts])
    mine = ledger.filter((pl.col("transaction") == transaction) | pl.col("command").is_in(shared.implode()))
    journal = {tid: row for row, tid in enumerate(page.table("commits")["commit"].to_list())}
    commits = [journal[tid] for tid in numbers(mine["commit"])]
    return {
        "transactions": [transaction],
        "vfs": numbers(page.table("vfs").filter(pl.col("transaction") == transaction)["call"]),
        "syncs": numbers(page.table("syncs").filter(pl.col("transaction") == transaction)["sync"]),
        "journal": commits or numbers(mine["checkpoint"]),
        "commands": numbers(mine["command"]),
    }


def test_a_checkpoint_of_the_wal_has_a_lane_and_stands_above_its_calls(
    checkpointed: Path, browser: webdriver.Chrome
) -> None:
    """Five of autocheckpoint and that of the close, which has no transaction."""
    opened = Page(browser, checkpointed).open("#wal=2")
    assert opened.js("app.stage.lanes.find((lane) => lane.table === 'wal').name") == "WAL checkpoints"
    assert opened.js("app.run.wal.rows") == 6
    said = opened.text("#details")
    assert "WAL checkpoint of 50 frames (autocheckpoint)" in said
    assert "39 pages copied to the database" in said and "39 × write database" in said
    vfs = opened.table("vfs").filter(pl.col("transaction") == 60)
    copied = vfs.filter(pl.col("file").cast(pl.String) == "database").height
    chain = opened.chain()
    # with the sync of the log
    assert chain["transactions"] == [60] and len(chain["vfs"]) == copied + 1
    opened.point(*opened.place("transactions", 60), click=True)
    assert "WAL checkpoint of 50 frames (autocheckpoint)" in opened.text("#details")
    assert opened.js("[...app.chosen.wal]") == [2]
    opened.open("#wal=5")
    assert "WAL checkpoint of 25 frames (close)" in opened.text("#details")
    assert opened.chain()["transactions"] == []


def test_holds_every_value_of_the_tables(page: Pages) -> None:
    opened = page(mode="delete")
    names = {"transactions": "transactions", "vfs": "vfs", "syncs": "syncs", "commands": "ledger"}
    for shown, stored in {**names, **{name: name for name in ("pieces", "shares", "deferred")}}.items():
        table = opened.table(stored)
        origin = opened.js("app.run.about.origin")
        for column in opened.js("app.run.tables[a[0]].columns", shown):
            got = opened.js(
                "Array.from({length: app.run[a[0]].rows}, (_, i) => app.run[a[0]].value(a[1], i))",
                shown,
                column,
            )
            if column == "begin":
                begin = table["issue_ns" if stored == "ledger" else "begin_ns"]
                assert [value + origin for value in got] == begin.to_list()
            elif column in table.columns and table[column].dtype != pl.Boolean:
                assert got == table[column].to_list(), (shown, column)


@pytest.mark.parametrize(("mode", "fs"), [("delete", "ext4-ordered"), ("wal", "f2fs")])
def test_a_click_on_a_transaction_lights_its_chain(page: Pages, mode: str, fs: str) -> None:
    opened = page(f"#transactions={ROW + 2}", mode=mode, fs=fs)
    opened.point(*opened.place("transactions", ROW + 2), click=True)
    assert opened.chain() == chain_of(opened, ROW + 2)
    shown = opened.text("#details")
    op = opened.table("transactions")["op"][ROW + 2]
    assert f"{op} {ROW + 2}" in shown
    lines = [line.text for line in opened.browser.find_elements(By.CSS_SELECTOR, "#details button.node")]
    times = [int(line.split(" × ")[0]) if " × " in line else 1 for line in lines]
    assert sum(times) == sum(map(len, opened.chain().values()))


def test_a_shared_command_is_in_the_chain_of_each(page: Pages) -> None:
    opened = page(mode="wal", fs="f2fs")
    share = opened.table("shares").row(0, named=True)
    opened.js("app.choose('transactions', a[0], true)", share["transaction"])
    assert share["command"] in opened.chain()["commands"]
    assert "33.3 % of WSM" in opened.text("#details")
    opened.js("app.choose('commands', a[0], true)", share["command"])
    sharers = opened.table("shares").filter(pl.col("command") == share["command"])["transaction"]
    assert opened.chain()["transactions"] == numbers(sharers)


def test_what_is_for_none_and_what_was_left_are_told(page: Pages) -> None:
    opened = page(mode="wal", fs="f2fs")
    left = opened.table("deferred").row(0, named=True)
    assert "for no transaction" in opened.text("#facts")
    assert "Written for no transaction\njournal" in opened.text("#details")
    opened.js("app.choose('transactions', a[0], true)", left["transaction"])
    assert left["command"] in opened.chain()["commands"]
    shown = opened.text("#details")
    assert "deferred, its own" in shown
    assert "deferred: in WSM" in shown
    opened.js("app.choose('commands', a[0], true)", left["command"])
    shown = opened.text("#details")
    assert "no transaction: journal" in shown
    assert f"Deferred content of\n{opened.table('transactions')['op'][left['transaction']]}" in shown


def test_hovering_lights_the_chain_and_says_what_it_is(page: Pages) -> None:
    opened = page(f"#transactions={ROW}", mode="delete")
    opened.keys(Keys.ESCAPE)
    opened.point(*opened.place("transactions", ROW))
    assert opened.js("app.chosen") is None
    assert opened.chain("hovered") == chain_of(opened, ROW)
    assert opened.text("#tip").startswith(f"insert {ROW}\n")
    lit = opened.js(
        "app.stage.over.getImageData(0, 0, app.stage.over.canvas.width, app.stage.over.canvas.height)"
        ".data.some((value) => value > 0)"
    )
    assert lit


def test_a_click_on_a_command_lights_its_causes(page: Pages) -> None:
    opened = page(f"#transactions={ROW}", mode="delete")
    ledger = opened.table("ledger")
    command = ledger.filter((pl.col("transaction") == ROW) & (pl.col("kind") == "filesystem journal")).row(
        0, named=True
    )
    opened.point(*opened.place("commands", command["command"]), click=True)
    chain = opened.chain()
    commits = opened.table("commits")["commit"].to_list()
    assert chain == {
        "transactions": [ROW],
        "vfs": [command["vfs_call"]],
        "syncs": [command["sync"]],
        "journal": [commits.index(command["commit"])],
        "commands": [command["command"]],
    }
    assert "waited: another thread's work" in opened.text("#details")


def test_keys_zoom_and_pan_from_the_run_to_one_command(page: Pages) -> None:
    opened = page(mode="delete")
    whole = opened.js("app.view.span")
    opened.keys("+")
    assert opened.js("app.view.span") == pytest.approx(whole * 0.6)
    before = opened.js("app.view.t0")
    opened.keys(Keys.ARROW_RIGHT)
    assert opened.js("app.view.t0") > before
    opened.keys(Keys.ARROW_LEFT, "-")
    assert opened.js("app.view.isWhole")
    opened.keys("n")
    assert opened.js("app.chosen.table") == "transactions"
    first = opened.js("app.chosen.row")
    opened.keys("n")
    assert opened.js("app.chosen.row") == first + 1
    opened.keys("p", "p")
    assert opened.js("app.chosen.row") == first - 1
    opened.keys("f")
    for _ in range(16):
        opened.keys("+")
    assert opened.js("app.view.span") < 2_000  # ns
    opened.keys("0", Keys.ESCAPE)
    assert opened.js("app.view.isWhole && app.chosen === null")


def test_filters_by_kind_and_operation(page: Pages) -> None:
    opened = page(mode="delete")
    ledger, transactions = opened.table("ledger"), opened.table("transactions")
    shown = "app.filter.masks[a[0]].reduce((sum, on) => sum + on, 0)"
    opened.click('[data-kind="filesystem journal"]')
    kept = ledger.filter(pl.col("kind") != "filesystem journal")
    assert opened.js(shown, "commands") == kept.height
    opened.click('[data-switch="op insert"]')
    assert opened.js(shown, "transactions") == transactions.filter(pl.col("op") != "insert").height
    inserts = transactions.filter(pl.col("op") == "insert")["transaction"]
    shares = opened.table("shares")
    others = shares.filter(~pl.col("transaction").is_in(inserts.implode()))["command"].unique()
    only = shares.filter(~pl.col("command").is_in(others.implode()))["command"].unique()
    hidden = kept.filter(
        pl.col("transaction").is_in(inserts.implode()) | pl.col("command").is_in(only.implode())
    )
    assert opened.js(shown, "commands") == kept.height - hidden.height
    opened.click("#all")
    assert opened.js(shown, "commands") == ledger.height


def copied(opened: Page, form: str = "tsv") -> list[list[str]]:
    """Copy the table that is shown; return its fields."""
    opened.wait(f"!document.getElementById('{form}').disabled")
    opened.click(f"#{form}")
    opened.wait(f"document.getElementById('{form}').disabled")
    text = opened.browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    return [line.split("\t" if form == "tsv" else ",") for line in text.splitlines()]


def test_copies_the_table_behind_each_picture(page: Pages) -> None:
    opened = page(mode="delete")
    opened.keys("t")
    rows = {
        "transactions": "transactions",
        "vfs": "vfs",
        "syncs": "syncs",
        "journal": "commits",
        "commands": "ledger",
    }
    for tab, stored in rows.items():
        opened.click(f'[data-table="{tab}"]')
        head, *lines = copied(opened)
        table = opened.table(stored)
        assert len(lines) == table.height
        begin = [int(line[head.index("begin_ns")]) for line in lines]
        assert begin == table["issue_ns" if tab == "commands" else "begin_ns"].to_list()
    for tab, least in (
        ("points", opened.table("pieces").height),
        ("queue", 2 * opened.table("ledger").height),
    ):
        opened.click(f'[data-table="{tab}"]')
        assert len(copied(opened)) == least + 1
    opened.click('[data-table="bytes"]')
    head, *lines = copied(opened)
    for label in schema.LABELS:
        written = opened.table("pieces").filter(pl.col("label") == label)["bytes"].sum()
        assert sum(float(line[head.index(label)]) for line in lines) == written


def test_the_table_follows_view_and_filter(page: Pages) -> None:
    opened = page(f"#transactions={ROW}&tables=1", mode="delete")
    opened.click('[data-table="commands"]')
    opened.click('[data-kind="flush"]')
    lines = copied(opened, "csv")[1:]
    t0, t1 = opened.js("[app.view.t0 + app.run.about.origin, app.view.t1 + app.run.about.origin]")
    seen = opened.table("ledger").filter(
        (pl.col("complete_ns") >= t0) & (pl.col("issue_ns") < t1) & (pl.col("kind") != "flush")
    )
    assert [int(line[0]) for line in lines] == seen["command"].to_list()


def test_text_of_the_run_is_never_html(page: Pages) -> None:
    opened = page("#transactions=3&tables=1", n=5, name=synthetic_ledger.HOSTILE)
    opened.click('[data-table="syncs"]')
    opened.click('[data-table="commands"]')
    opened.js("app.choose('syncs', 8, true)")
    opened.point(*opened.place("syncs", 8))
    assert "<img src=x onerror=alert(1)>\ufffd[31m\ufffd" in opened.text("#tip")
    assert "<img src=x" in opened.text("#details")
    assert opened.js("document.querySelectorAll('img').length") == 0


def test_asks_for_nothing_from_outside(page: Pages) -> None:
    opened = page(n=3)
    assert opened.js("performance.getEntriesByType('resource').length") == 0
    text = (opened.folder / "inspect.html").read_text()
    assert "http" not in text.split("<script", 1)[0].replace("http-equiv", "")


def test_what_a_users_script_printed_has_a_lane(page, script_page):
    assert "script" not in page().js("app.lanes.map((lane) => lane.name)")
    first = page().table("transactions")["begin_ns"][1]
    shown = script_page(f"{first} driver: a <b>sync</b>\n1 before the run\n@sum: 5\n{first + 1000}\tlater\n")
    assert shown.js("app.run.script.rows") == 2
    shown.js("app.choose('script', 0, true)")
    assert "driver: a <b>sync</b>" in shown.text("#details h2")
    assert shown.chain() == {"transactions": [], "vfs": [], "syncs": [], "journal": [], "commands": []}
    shown.js("app.choose('script', 1, true)")
    assert "later" in shown.text("#details h2")


def test_a_row_is_found_by_its_number_or_a_sector(page: Pages) -> None:
    opened = page(mode="delete")
    field = opened.browser.find_element(By.ID, "goto")
    opened.keys("/")
    assert opened.browser.switch_to.active_element == field
    points = opened.js("[...app.run.points.sector].map((sector, i) => [sector, app.run.points.command[i]])")
    sector, command = next((sector, command) for sector, command in points if sector > 0)
    for text, chosen in ((str(ROW), ["transactions", ROW]), (f"update {ROW}", ["transactions", ROW]),
                         ("c3", ["commands", 3]), (f"s{int(sector)}", ["commands", command])):  # fmt: skip
        field.clear()
        field.send_keys(text, Keys.ENTER)
        assert opened.js("[app.chosen.table, app.chosen.row]") == chosen, text
    field.clear()
    field.send_keys("c99999999", Keys.ENTER)
    assert field.get_attribute("aria-invalid") == "true" and opened.text("#hits") == "none"


@pytest.mark.parametrize("text", ["sample.db-journal", "Rollback", "delete", "bitmap"])
def test_rows_are_found_by_file_label_or_operation(page: Pages, text: str) -> None:
    """Enter goes from one to the next and Shift+Enter back, around the run's ends."""
    opened = page(mode="delete")
    columns = {
        "syncs": ("syncs", "begin_ns", ("file", "name")),
        "vfs": ("vfs", "begin_ns", ("op", "file")),
        "transactions": ("transactions", "begin_ns", ("op",)),
    }
    hits = [
        (row[begin], name, number)
        for name, (stored, begin, searched) in columns.items()
        for number, row in enumerate(opened.table(stored).iter_rows(named=True))
        if any(text.lower() in (row[column] or "") for column in searched)
    ]
    pieces = opened.table("pieces").filter(pl.col("label").cast(pl.String).str.contains(text.lower()))
    ledger = opened.table("ledger").filter(pl.col("command").is_in(pieces["command"].implode()))
    hits += [(begin, "commands", row) for begin, row in ledger.select("issue_ns", "command").rows()]
    hits.sort(key=lambda hit: hit[0])
    assert hits
    opened.keys("/", text)
    for is_back, at in ((False, 0), (False, 1), (True, 0), (True, -1)):
        enter = ActionChains(opened.browser)
        if is_back:
            enter.key_down(Keys.SHIFT)
        enter.send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
        _, table, row = hits[at % len(hits)]
        assert opened.js("[app.chosen.table, app.chosen.row]") == [table, row]
        assert opened.text("#hits") == f"{at % len(hits) + 1:,} of {len(hits):,}"
    opened.keys("x")
    assert opened.text("#hits") == ""


def test_the_view_is_saved_as_svg(page: Pages, tmp_path: Path) -> None:
    opened = page(mode="delete")
    opened.js(f"app.choose('transactions', {ROW}, true)")
    # no XML document has these, a name of a file may
    opened.js(r"void (app.run.about.cell = 'a\u0001\ud800\u001bz')")
    opened.browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    opened.browser.find_element(By.ID, "svg").click()
    deadline = time.monotonic() + 20
    while not (saved := [*tmp_path.glob("*.svg")]) and time.monotonic() < deadline:
        time.sleep(0.05)
    root = ElementTree.parse(saved[0]).getroot()
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "a\ufffd\ufffd\ufffdz"
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    names = opened.js("app.lanes.map((lane) => lane.name).filter(Boolean)")
    assert len(names) > 8 and set(names) <= {*texts}
    # the chosen bar, with its label and its frame
    label = opened.js(f"app.run.label('transactions', {ROW})")
    assert any(text.startswith(f"{label}: ") for text in texts)
    frames = [
        rect for rect in root.iter("{http://www.w3.org/2000/svg}rect") if rect.get("stroke-width") == "1.5"
    ]
    assert len(frames) == 1
    assert float(root.get("width", 0)) == opened.js("app.stage.base.canvas.clientWidth")
    # a legend of what no lane names
    assert {"insert", "update", "delete", "database", "journal"} <= {*texts}


def test_rows_on_paper_are_distinct_in_grey(page: Pages) -> None:
    """By a hatch, where their colours are about as dark."""
    svg = page(mode="delete").paper()
    marks = [
        (element.get("fill", ""), after.get("data-hatch", ""))
        for parent in svg.iter()
        for element, after in itertools.pairwise(parent)
        if element.get("width") == element.get("height") == "9"  # a square of a legend
    ]
    assert {operations.color(op) for op in ("insert", "update", "delete")} < {color for color, _ in marks}
    alike = [
        (one, other)
        for one, other in itertools.combinations(sorted({*marks}), 2)
        if abs(look.lightness(one[0]) - look.lightness(other[0])) < 12 and one[1] == other[1]
    ]
    assert len(marks) > 8 and not alike
    drawn = {path.get("data-hatch") for path in svg.iter(f"{SVG}path")}
    assert {hatch for _, hatch in marks if hatch} <= drawn


def test_a_narrow_window_has_the_plot_above_what_is_chosen(page: Pages) -> None:
    opened = page(mode="delete")
    size = opened.browser.get_window_size()
    try:
        opened.browser.set_window_size(400, 900)
        opened.open()
        assert opened.js("app.stage.width") >= 190
        stage, details = opened.js(
            "['stage', 'details'].map((id) => document.getElementById(id).getBoundingClientRect().toJSON())"
        )
        assert details["top"] >= stage["bottom"] - 1 and details["width"] > 300
        assert opened.js("document.documentElement.scrollWidth <= innerWidth")
        opened.js("app.choose('transactions', 0, true)")
        # at most two lines to a name
        assert opened.js(
            "Math.max(...[...document.querySelectorAll('.bars tr')].map((r) => r.clientHeight)) < 45"
        )
    finally:
        opened.browser.set_window_size(size["width"], size["height"])


def test_the_keyboard_stays_where_it_was(page: Pages) -> None:
    """Lists that are made anew keep the focus; Escape leaves the search for the timeline."""
    opened = page("#tables=1", mode="delete")

    def enter(selector: str) -> str:
        opened.js(f"void document.querySelector({selector!r}).focus()")
        opened.keys(Keys.ENTER)
        return str(opened.js("document.activeElement.textContent"))

    slowest = opened.browser.find_element(By.CSS_SELECTOR, "#details .node")
    name, row = slowest.accessible_name, int(slowest.text.split()[1])
    # the number and the time are two words
    assert name.split()[1] == str(row)
    assert enter("#details .node").startswith(" ".join(name.split()[:2]))
    assert opened.js("document.activeElement.getAttribute('aria-current')") == "true"
    assert opened.js("[app.chosen.table, app.chosen.row]") == ["transactions", row]
    assert opened.text("#heard").startswith(opened.js(f"app.run.label('transactions', {row})"))
    opened.keys("0")
    opened.wait("document.querySelectorAll('#rows tbody tr').length > 1")
    assert enter("#rows thead button") == "transaction ↓"
    assert opened.js("document.querySelector('#rows th').getAttribute('aria-sort')") == "descending"
    last = opened.js("app.run.transactions.rows") - 2
    enter("#rows tbody tr:nth-child(2) button")
    assert opened.js("[app.chosen.table, app.chosen.row]") == ["transactions", last]
    assert enter('[data-kind="flush"]') == "flush"
    assert enter('[data-switch="op update"]') == "update"
    opened.keys("/", Keys.ESCAPE)
    assert opened.js("document.activeElement.id") == "stage"
    opened.keys("?")
    assert opened.js("document.activeElement.textContent") == "close"
    assert markup.lacks((opened.folder / "inspect.html").read_text()) == []


@pytest.mark.parametrize("theme", ["auto", "dark"])
def test_paper_has_the_whole_timeline_in_light_colours(page: Pages, theme: str) -> None:
    opened = page(f"#theme={theme}", mode="delete")
    try:
        opened.js("void dispatchEvent(new Event('beforeprint'))")
        opened.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        drawn = opened.js(
            "['Width', 'Height'].map((way) => document.getElementById('sheet')[`client${way}`])"
        )
        assert min(drawn) > 300
        assert opened.js("document.querySelector('#sheet svg > rect').getAttribute('fill')") == "#ffffff"
        texts = opened.js("[...document.querySelectorAll('#sheet text')].map((text) => text.textContent)")
        assert set(opened.js("app.lanes.map((lane) => lane.name).filter(Boolean)")) <= {*texts}
    finally:
        opened.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    opened.js("void dispatchEvent(new Event('afterprint'))")
    assert opened.js(
        "[document.documentElement.dataset.theme, document.querySelector('#sheet').innerHTML]"
    ) == [
        theme,
        "",
    ]
