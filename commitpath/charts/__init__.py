"""Charts of runs: bars, lines, scatter and tables, drawn from one model of panels, series and values."""
