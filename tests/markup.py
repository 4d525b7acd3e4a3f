"""What a page lacks for readers who hear it or use the keyboard; for the tests that write one."""

from html.parser import HTMLParser

VOID = ("meta", "link", "br", "img", "input", "hr")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lacks: list[str] = []
        self.seen: set[str] = set()
        self.level = 0
        self.open: list[str] = []
        self.head: str | None = None  # the text of the open <th>
        self.width = 0
        self.rows: list[int] = []  # the columns of each row of the open table
        self.below: list[int] = []  # of each cell that reaches down, how many rows more

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "html" and not given.get("lang"):
            self.lacks.append("html without lang")
        if tag in ("h1", "h2", "h3", "h4"):
            if int(tag[1]) > self.level + 1:
                self.lacks.append(f"{tag} after h{self.level}")
            self.level = int(tag[1])
        if (
            tag == "svg"
            and self.open.count("svg") == 1
            and not (given.get("role") and given.get("aria-label"))
        ):
            self.lacks.append("svg without a role and a label")
        if tag == "img" and not given.get("alt"):
            self.lacks.append("img without alt")
        if tag == "table":
            self.rows = []
        if tag == "tr":
            self.width = len(self.below)
            self.below = [rows - 1 for rows in self.below if rows > 1]
        if tag in ("td", "th"):
            self.width += int(given.get("colspan", 1))
            if (down := int(given.get("rowspan", 1)) - 1) > 0:
                self.below.append(down)
        if tag == "th":
            self.head = ""
            if "colspan" in given and "scope" not in given:
                self.lacks.append("th of several columns without scope")

    def handle_data(self, data: str) -> None:
        if self.head is not None:
            self.head += data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass
        if tag == "th":
            if not self.head:
                self.lacks.append("a th without text")
            self.head = None
        if tag == "tr":
            self.rows.append(self.width)
        if tag == "table" and len(set(self.rows)) > 1:
            self.lacks.append(f"a table whose rows have {sorted(set(self.rows))} columns")


def lacks(text: str) -> list[str]:
    """Return what a page lacks: labels of pictures, names of columns, a language, headings in order."""
    page = _Page()
    page.feed(text)
    missing = {"title", "h1", "main"} - page.seen
    return [*page.lacks, *(f"no {tag}" for tag in sorted(missing))]
