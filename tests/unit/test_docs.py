"""The pages that people read: links that lead somewhere, each page reachable, each command named."""

import re
import subprocess
from pathlib import Path

from base import identity
from commitpath.cells.from_variables import make_cell
from commitpath.cells.identities import stored
from commitpath.command_line import help
from model import filesystems

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^()\s]+)\)")
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
