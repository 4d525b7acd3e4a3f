"""`make reproduce`: a paper's grids, its figures, and a verdict on each of its claims (docs/apsys17.md)."""
