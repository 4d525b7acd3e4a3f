"""From the raw files of a run to checked tables, figures and a report."""

import logging
import os
import sys
from pathlib import Path

# Where matplotlib keeps its list of fonts, and looks for settings: those of a user's home would draw
# figures that nobody else's are like. In the environment that runs this, unless that is the system's.
if sys.prefix != sys.base_prefix:
    os.environ["MPLCONFIGDIR"] = str(Path(sys.prefix) / "matplotlib")
    # where that is another user's it takes a temporary folder, and would say so in two lines
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
