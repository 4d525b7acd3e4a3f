"""The results database: one row per run, to be searched and shared (docs/how-to/results-db.md)."""
