"""A results database with made-up runs, for the tests of a paper's figures."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
