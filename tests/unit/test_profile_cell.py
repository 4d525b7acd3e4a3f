"""A measurement of a device writes to the device that was verified, wherever its name leads since."""

import subprocess
from pathlib import Path

from base.paths import ROOT

# Another device takes the name when the first is given free, as when two disks are attached anew.
UMOUNT = "#!/bin/sh\nmv ROOT/dev/sda2 ROOT/gone\necho theirs > ROOT/dev/sda2\n"
LATENCIES = '#!/bin/sh\ncat "$1"\n'


def test_a_name_that_leads_elsewhere_after_the_umount(tmp_path: Path) -> None:
    folder, queue = tmp_path / "run/commitpath", tmp_path / "sys/class/block/sda2/queue"
    for made in (folder / "bin", tmp_path / "programs", tmp_path / "dev", queue):
        made.mkdir(parents=True)
    for name in ("logical_block_size", "write_cache", "fua", "discard_max_bytes"):
        (queue / name).write_text("0\n")
    (queue.parent / "size").write_text("8\n")
    (queue.parent / "dev").write_text("0:0\n")
    (tmp_path / "dev/sda2").write_text("ours\n")
    # a file has no number: 0:0
    environment = f"DEVICE_NAME=sda2 DEVICE_NUMBER=0:0 MOUNTPOINT={tmp_path}/mnt\n"
    for name, text in {"cell.env": environment, "device.sh": "", "bin/latencies": LATENCIES}.items():
        (folder / name).write_text(text)
    subprocess.run(f"gzip < /dev/null > {folder}/commands.gz", shell=True, check=True)
    (tmp_path / "programs/umount").write_text(UMOUNT.replace("ROOT", str(tmp_path)))
    (tmp_path / "programs/umount").chmod(0o755)
    text = (ROOT / "playbooks/board/profile-cell.sh").read_text()
    for path in ("/run/commitpath", "/sys/class/block", '"/dev/'):
        text = text.replace(path, f'"{tmp_path}{path[1:]}' if path[0] == '"' else f"{tmp_path}{path}")
    clean = {"PATH": f"{tmp_path}/programs:/usr/bin:/bin"}
    subprocess.run(["sh", "-c", text], env=clean, check=True)
    assert (tmp_path / "dev/sda2").read_text() == "theirs\n"
    assert (folder / "raw/latencies.txt").read_text() == "ours\n"
