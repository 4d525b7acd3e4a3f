"""Evaluate a finished run. On import, keep matplotlib's settings and fonts in the virtual environment."""

import logging
import os
import sys
from pathlib import Path

# settings in a user's home would change the figures
if sys.prefix != sys.base_prefix:
    os.environ["MPLCONFIGDIR"] = str(Path(sys.prefix) / "matplotlib")
    # if the folder is not writable, matplotlib warns and uses a temporary one
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
