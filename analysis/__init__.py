"""Evaluate a finished run: check its raw files, then write tables, figures and a report."""

import logging
import os
import sys
from pathlib import Path

# matplotlib's font list and settings are kept in the virtual environment.
# Settings in a user's home would change the figures.
if sys.prefix != sys.base_prefix:
    os.environ["MPLCONFIGDIR"] = str(Path(sys.prefix) / "matplotlib")
    # if the folder is not writable, matplotlib warns and uses a temporary one
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
