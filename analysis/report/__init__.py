"""Build the documents of an analysis: summary.json, manifest.json, report.html and the terminal's table."""
