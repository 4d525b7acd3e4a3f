"""Print one transaction and its work in SQLite, filesystem and device, as a tree."""
