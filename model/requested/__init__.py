"""Settings that a cell requests, and their form when they are read back."""
