"""The pages: links and paths lead somewhere, make takes each command, answers have their sources' numbers."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from base import identity
from base.errors import BadInputError
from commitpath.cells import grid
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import stored
from commitpath.command_line import help, variables
from model import filesystems

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^()\s]+)\)")
NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?!\w)")
MENTION = re.compile(r"\b(docs/[\w./-]+\.(?:md|png|svg))\b")


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """What `#…` may name in a page: its headings, as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    found = []
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def test_links_lead_somewhere() -> None:
    assert {page.name: links for page in tracked("*.md") if (links := broken(page))} == {}


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `thing`, and (another)\n")
    page = tmp_path / "page.md"
    good = ["other.md", "other.md#one-thing-and-another", "#here", "https://example.org/none"]
    page.write_text("# Here\n" + " ".join(f"[x]({link})" for link in good))
    assert broken(page) == []
    bad = ["gone.md", "other.md#two", "#there"]
    page.write_text("# Here\n" + " ".join(f"[x]({link})" for link in bad))
    assert broken(page) == bad


def test_what_the_sources_mention_is_there() -> None:
    gone = {}
    for path in tracked(":!*.svg", ":!*.xz", ":!*.png", ":!requirements*"):
        names = MENTION.findall(path.read_bytes().decode(errors="replace"))
        if lost := [name for name in names if not (ROOT / name).exists()]:
            gone[str(path.relative_to(ROOT))] = lost
    assert gone == {}


def test_the_paths_of_the_contributors_page_are_there() -> None:
    """Each path that CONTRIBUTING names, in a row, a checklist or a link, matches a file or folder."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    paths = re.findall(r"[`(]((?:[A-Za-z_-]+/)+[^`\s)…]*|Makefile)[`)]", page)
    assert len(paths) > 80
    patterns = {re.sub("<[a-z]+>|NAME", "*", path.partition("#")[0]) for path in paths}
    assert sorted(pattern for pattern in patterns if not any(ROOT.glob(pattern))) == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop().resolve()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            links = [link.partition("#")[0] for link in LINK.findall(prose(page)) if "://" not in link]
            todo += [page.parent / link for link in links if link]
    assert [page.name for page in tracked("docs/**/*.md") if page not in reached] == []


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 80
    picture = next(number for number, line in enumerate(lines) if line.startswith("!["))
    assert picture < 8, "the picture belongs into the first screen"


def test_commands_page_has_every_target_and_the_environment() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text()
    names = [*(f"make {name}" for name, _ in help.targets()), *help.ENVIRONMENT]
    assert [name for name in names if f"`{name}`" not in page] == []


def commands(text: str) -> list[list[str]]:
    """The words of the commands of make and the launcher in a page; a word to fill in is `…`."""
    plain = re.sub(r"<[a-z' ]+>", "…", re.sub(r"\\\n\s*", "", text))
    begin = r"(?:time )?(?:make|bin/commitpath)(?: --container| -s)? (?=[a-z])"
    spans = re.findall(rf"`{begin}([^`]+)`", plain) + re.findall(rf"^ {{4,}}{begin}(.+)$", plain, re.M)
    return [shlex.split(span, comments=True) for span in spans]


def mistakes(text: str) -> list[str]:
    """What make refuses in the commands of a page, and tests that `pytest -k` would not find."""
    found = []
    targets = {name for name, _ in help.targets()}
    for target, *words in commands(text):
        pairs = [re.fullmatch(r"\[?([A-Z_]+)=([^\]]*)\]?", word, re.S) for word in words]
        given = {pair[1]: pair[2] for pair in pairs if pair}
        complete = {name: value for name, value in given.items() if "…" not in value}
        try:
            assert target in targets, target
            variables.check(target, complete)
            if target == "experiment" and given == complete and not given.keys() & {"FILE", "OBSERVERS"}:
                make_cell({name: complete[name] for name in given.keys() - variables.without_axes(target)})
        except (AssertionError, BadInputError) as error:
            found.append(str(error))
    tests = " ".join(
        re.findall(r"def test_(\w+)", "".join(path.read_text() for path in tracked("tests/**.py")))
    )
    return found + [name for name in re.findall(r"-k (\w+)", text) if name not in tests]


def test_make_takes_the_commands_of_the_pages() -> None:
    pages = tracked("README.md", "CONTRIBUTING.md", "docs/**.md")
    texts = {str(page.relative_to(ROOT)): page.read_text() for page in pages}
    assert sum(len(commands(text)) for text in texts.values()) > 300
    assert {name: wrong for name, text in texts.items() if (wrong := mistakes(text))} == {}


def test_a_command_that_make_refuses_is_found() -> None:
    spans = "`make sweep GRID=quick`, `make -s table GRID=<a grid's name>`, `pytest tests/board -k syncs`"
    assert mistakes(f"{spans}\n\n    make experiment MODE=wal  # a run\n") == []
    for bad in (
        "`make swep GRID=x`",
        "    make tree RUM=results/latest\n",
        "`make experiment MODE=walk`",
        "-k walks",
    ):
        assert len(mistakes(bad)) == 1, bad


def test_the_formats_page_says_what_a_cell_and_a_board_have() -> None:
    page = (ROOT / "docs/reference/formats.md").read_text()
    for kind in filesystems.names():
        for name in filesystems.by_name(kind).files:
            assert f"`{name}`" in page, (kind, name)
    for key in identity.NO_SETTINGS:
        assert f"`{key}`" in page, key


def test_the_tutorials_runs_are_those_that_its_commands_make() -> None:
    """Each run has one name on the page, of the cell that the command above it has."""
    page = (ROOT / "docs/tutorial/tutorial.md").read_text()
    made = re.findall(r"^    make experiment (.+)\n(?:.*\n)*?```\n(\S+)  (\S+)  OK$", page, re.M)
    assert len(made) == 2
    for words, name, _ in made:
        assert identity.cell_name(stored(make_cell(dict(re.findall(r"(\w+)=(\w+)", words))))) == name
    assert [run for *_, run in made] == sorted(run for *_, run in made)
    (named,) = re.findall(r"RUN_A=results/(\S+)/(\S+)", page)
    assert named == made[0][1:]


def answers() -> dict[str, str]:
    """The sections of the questions page that have an answer, by their title."""
    page = (ROOT / "docs/how-to/questions.md").read_text()
    sections = dict(section.split("\n", 1) for section in re.split(r"^## ", page, flags=re.M)[1:])
    assert len(sections) > 10
    return sections


@pytest.mark.parametrize("title", answers())
def test_each_answer_has_one_form_and_the_numbers_of_its_source(title: str) -> None:
    section = answers()[title]
    assert re.match(r"\*\*[^*]+\*\*\n\n\|", section), "a verdict, then a table"
    _, rule, *rows = re.findall(r"^\|.*$", section, re.M)
    assert rule.startswith("|---") and 0 < len(rows) <= 5
    assert "\nBecause " in section
    commands = [shlex.split(line) for line in re.findall(r"^    (.+)$", section, re.M)]
    assert commands
    sources = [link.partition("#")[0] for link in LINK.findall(section)]
    pages = [name for name in sources if "/measurements/" in name or name == "expect.md"]
    # without a page the numbers are of the section's own command
    assert pages or "It ends with `" in section
    known = {number for name in pages for number in NUMBER.findall((ROOT / "docs/how-to" / name).read_text())}
    numbers = [number for row in rows for number in NUMBER.findall(row)]
    assert numbers and (not pages or [number for number in numbers if number not in known] == [])
    for name, target, *settings in commands:
        given = dict(setting.split("=", 1) for setting in settings if "=" in setting)
        if name == "make" and target == "experiment":
            given.pop("EXPECT", None)
            make_cell(given)
        elif name == "make" and target == "sweep":
            assert given["GRID"] in grid.names()
        else:
            assert target in ("bisect", "advise")
            variables.check(target, given)
