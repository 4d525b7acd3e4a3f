"""What an analysis hands out: summary.json, manifest.json, report.html and the terminal's table."""
