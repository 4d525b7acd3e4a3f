"""What the results database has for a cell: one query, and one table of metrics."""
