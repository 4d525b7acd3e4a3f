"""Record tests/probes/sample.bin.xz again: python tests/probes/record_sample.py

What all probes saw on the board of exercise.sh.
"""

import lzma
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from conftest import run_on_board  # noqa: E402


def main() -> None:
    """Run exercise.sh, keep its raw/probes.bin."""
    output = run_on_board(HERE / "exercise.sh", FS="ext4")
    if output.text("run-cell.status").strip() != "0":
        sys.exit(output.text("run-cell.log"))
    with tempfile.TemporaryDirectory() as folder:
        output.extract(Path(folder))
        data = (Path(folder) / "raw/probes.bin").read_bytes()
    (HERE / "sample.bin.xz").write_bytes(lzma.compress(data))


if __name__ == "__main__":
    main()
