"""Draw charts of runs from one model of panels, series and values: bars, lines, scatter and tables."""
