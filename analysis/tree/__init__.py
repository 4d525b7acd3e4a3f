"""One transaction on a terminal: what it made SQLite, the filesystem and the device do."""
