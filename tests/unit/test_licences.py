"""Each file has a licence: LICENSES/ has the texts, .reuse/dep5 and the files' own tags say which."""

import fnmatch
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TAG = re.compile("SPDX-License" + r"-Identifier: (\S+)")


def test_a_file_without_a_licence_is_found(tmp_path: Path) -> None:
    for folder in (".reuse", "LICENSES"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/uncovered.py").write_text("\n")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    done = subprocess.run(["reuse", "lint"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "elsewhere/uncovered.py" in done.stdout


def test_tags_and_dep5_agree() -> None:
    """A file that is moved from where dep5 has it keeps its tag, and would get a second licence."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    patterns = re.findall(r"^Files: (.*(?:\n .*)*)", (ROOT / ".reuse/dep5").read_text(), re.M)[-1].split()
    by_dep5 = {name for name in files for pattern in patterns if fnmatch.fnmatchcase(name, pattern)}
    tagged = {}
    for name in files:
        if not name.startswith("LICENSE"):
            head = (ROOT / name).read_bytes()[:200].decode(errors="replace").partition("\n")[0]
            if tag := TAG.search(head):
                tagged[name] = tag[1]
    assert tagged and set(tagged.values()) == {"GPL-2.0-only"}
    assert by_dep5 == tagged.keys()
