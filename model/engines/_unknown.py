"""The engine of a command: nobody says which it is, or whether it has one."""

from __future__ import annotations

import re

TITLE = "the command"
# of its files what it is their bytes say (analysis/ledger/recognised.py)
FILES: dict[str, tuple[str, str]] = {}
PROPERTIES = "properties"
LOGS_CALLS = False
RECOVERIES: dict[str, bool | None] = {}
OF_ANY_SQLITE = False
COUNTED = re.compile("(?!)")
JOBS: dict[str, str] = {}
ADDS_MISSING = False
UNASKED: dict[str, str] = {}
CALLS: dict[str, str] = {}
UNORDERED: tuple[str, ...] = ()
order = None
UNFINISHED = re.compile("(?!)")
