"""Write the documentation of this version as HTML pages, to which reports link."""

import errno
import itertools
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from analysis.report import html_page
from base import scratch
from base.paths import ROOT
from base.text import printable
from base.version import version

# The page from which links lead to all others; linked files that are not pages are copied.
FIRST = "README.md"
HERE = Path(__file__).parent


def pages() -> str:
    """Return the folder of the pages of docs/, below that of the cells' folders."""
    return f"docs/{version()}/docs/"


def above(folder: Path, cell_name: str) -> Path:
    """Return the folder in which a run's cell has its folder; the run's own, if it is in none."""
    place = folder.resolve().parent
    return place.parent if place.name == cell_name else place


def write(place: Path) -> None:
    """Write all pages to PLACE/docs/<version>/, unless they are there, of the same sources."""
    folder = place / "docs" / version()
    newest = max(path.stat().st_mtime_ns for path in [*sources(), *HERE.glob("*.*")])
    first = (folder / FIRST).with_suffix(".html")
    if first.exists() and first.stat().st_mtime_ns == newest:
        return
    try:
        if folder.exists() and not first.exists():
            raise FileExistsError(errno.EEXIST, "a folder of something else is there", str(folder))
        with scratch.folder(folder.parent, f".{folder.name}") as part:
            _write_all(part)
            os.utime(part / first.name, ns=(newest, newest))
            shutil.rmtree(folder, ignore_errors=True)
            try:
                scratch.keep(part, folder)
            except OSError as error:
                # another call has just written them, or removes these to write them
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                    raise
    except OSError as error:
        # the analysis itself is complete
        line = f"commitpath: docs/, to which reports link, was not written: {error}"
        print(printable(line), file=sys.stderr)


def sources() -> list[Path]:
    """Return the files of all pages."""
    places = ("*.md", "docs/*/*.md", "images/devices/*/*.md", "workloads/engines/*/extension/*.md")
    return [path for place in places for path in ROOT.glob(place)]


def _write_all(folder: Path) -> None:
    """Write each page that is reached, and copy other files that pages link to, at the sources' places."""
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.add_render_rule("table_open", lambda *_: '<div class="scroll"><table>\n')
    markdown.add_render_rule("table_close", lambda *_: "</table></div>\n")
    template = html_page.environment().get_template("manual.html.j2")
    todo, done = [FIRST], set[str]()
    while todo:
        if (name := todo.pop()) in done:
            continue
        done.add(name)
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            # a file in it may be linked, too
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.suffix != ".md":
            shutil.copyfile(source, target)
        else:
            tokens = markdown.parse(source.read_text(encoding="utf-8"))
            title, parent = _headings(tokens)[0], Path(name).parent
            todo += _links(tokens, parent)
            html = markdown.renderer.render(tokens, markdown.options, {})
            body = Markup(html.replace("<th></th>", "<td></td>"))
            text = template.render(title=title, body=body, root=os.path.relpath(".", parent))
            target.with_suffix(".html").write_text(text, encoding="utf-8")


def _headings(tokens: list[Token]) -> list[str]:
    """Give each heading the id that GitHub gives it; return their texts, at least one."""
    seen, texts = Counter[str](), list[str]()
    for opened, inline in itertools.pairwise(tokens):
        if opened.type == "heading_open":
            texts.append("".join(child.content for child in inline.children or ()))
            name = re.sub(r"[^\w\- ]", "", texts[-1].lower()).replace(" ", "-")
            opened.attrSet("id", f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return texts or ["documentation"]


def _links(tokens: list[Token], parent: Path) -> Iterator[str]:
    """Let links to pages name their HTML; yield the linked files, by their paths in the checkout."""
    for child in (child for token in tokens for child in token.children or ()):
        key = "src" if child.type == "image" else "href"
        path, mark, anchor = str(child.attrs.get(key, "")).partition("#")
        if not path or ":" in path or not (ROOT / parent / path).exists():
            continue
        yield os.path.normpath(parent / path)
        if path.endswith(".md"):
            child.attrSet(key, f"{path.removesuffix('.md')}.html{mark}{anchor}")
