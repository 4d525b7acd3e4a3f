"""Link report.html to inspect.html, the page of `make inspect`, once a run has one."""

import re
from pathlib import Path

PAGE = "inspect.html"
# a place in the page, and the text to be its link
_MARKED = re.compile("<!--inspect(#[a-z]+=[0-9]+)?-->(.*?)<!--/-->", re.DOTALL)


def linked(report: str, folder: Path) -> str:
    """Return the text of a run's report.html with its links to a page that is there."""
    return _MARKED.sub(rf'<a href="{PAGE}\1">\2</a>', report) if (folder / PAGE).is_file() else report
