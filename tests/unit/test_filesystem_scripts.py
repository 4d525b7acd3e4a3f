"""playbooks/filesystems/ext4.sh asks the kernel for a journal to quiesce, resume or count; silence fails."""

import subprocess

import pytest

from base.paths import ROOT

# cat and mount stand for the kernel's answer and for what is done
SCRIPT = """set -eu
DEVICE_NAME=vdz MOUNT_OPTIONS=noatime MOUNTPOINT=/mnt/target
. playbooks/filesystems/ext4.sh
cat() {{ [ "$1" = /sys/fs/ext4/vdz/journal_task ] && {answer}; }}
mount() {{ echo "mount $*"; }}
{call}
echo end
"""


def call(answer: str, what: str) -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(answer=answer, call=what)
    return subprocess.run(["sh", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", ["quiesce", "resume", "counters"])
def test_ext4_has_a_journal_or_none_as_the_kernel_says(what: str) -> None:
    done = call("echo '<none>'", what)
    assert (done.returncode, done.stdout) == (0, "end\n")
    done = call("echo 123", what)
    if what == "counters":
        # there is no such device here, and nothing is counted in its place
        assert done.returncode and "/proc/fs/jbd2/vdz-*/info" in done.stderr
    else:
        seconds = {"quiesce": 3600, "resume": 5}[what]
        assert done.stdout == f"mount -o remount,commit={seconds},noatime /mnt/target\nend\n"


@pytest.mark.parametrize("what", ["quiesce", "resume", "counters"])
def test_an_answer_that_cannot_be_read_is_a_failure(what: str) -> None:
    done = call("return 1", what)
    assert done.returncode and not done.stdout
