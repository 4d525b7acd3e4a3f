"""From the raw files of a run to checked tables, figures and a report."""
