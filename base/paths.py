"""Where things are: the checkout, its data files, results."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENTS = ROOT / "experiments"
RESULTS = ROOT / (os.environ.get("COMMITPATH_RESULTS") or "results")
