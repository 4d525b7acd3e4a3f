"""A device with hidden parameters as a partition of the virtual board, measured as by `make profile`.

One prepared board serves all devices: each restore makes the device by the module of the flash model, with a
partition that begins 8 MiB and the device's own phase after the begin of the disk.
"""

import numpy as np

from commitpath.boards.payload import board_scripts, device_script, payload
from commitpath.boards.prepared import again_if_damaged
from commitpath.cells.from_variables import make_cell
from commitpath.fitting.candidate import PLAIN, TIMES, Candidate
from commitpath.fitting.experiment_lists import KIB, MIB, SPAN
from commitpath.fitting.measurement import Measurement
from commitpath.host import ansible
from commitpath.run import device_measurement
from commitpath.run.curves import HOST_NS

BEGIN = 8 * MIB
SIZE_MIB = 1040
# The profile of the board's own device, with the flash model.
BOARD_DEVICE = "emmc-5.0"

# In place of run-cell.sh. LIST: sfdisk's line. The disk's other device is unmounted by profile-cell.sh.
MAKE = """set -eu
cd /run/commitpath
disk=/sys/kernel/config/flashsim/hidden
mkdir $disk
echo {sectors} > $disk/sectors
for one in {attributes}; do echo "${{one#*=}}" > "$disk/${{one%%=*}}"; done
echo 1 > $disk/power
echo 'label: gpt
start={begin}, size={size}' | sfdisk -q --no-tell-kernel /dev/hidden
partx --add /dev/hidden || [ -e /dev/hidden1 ]
echo "DEVICE_NAME=hidden1 DEVICE_NUMBER=$(cat /sys/class/block/hidden1/dev) DEVICE_DRIVER=own" > device.env
exec sh profile-cell.sh
"""


def on_board(device: Candidate) -> Candidate:
    """Return the device with the phase of its partition."""
    return device.changed(phase=BEGIN + device.phase)


def measured(device: Candidate) -> Measurement:
    """Measure a device of on_board on the virtual board."""
    cell = make_cell({"DEVICE": BOARD_DEVICE, "PROBES": "none", "ROWS": "0"})
    script = MAKE.format(
        sectors=SIZE_MIB * MIB // 512,
        attributes=" ".join(f"{name}={device.value(name)}" for name in (*PLAIN, *TIMES)),
        begin=device.phase // 512,
        size=SPAN // 512,
    )
    files = {
        **payload(cell),
        **board_scripts([device_measurement.SCRIPT]),
        "devices/own.sh": device_script("own").read_bytes(),
        "run-cell.sh": script.encode(),
    }
    entry = ansible.board("virtual")
    return again_if_damaged(lambda: device_measurement.by_restore(cell, entry, files, HOST_NS))


def host_times(device: Candidate, made: Measurement) -> dict[str, float]:
    """Return what the host takes of each command beyond the device's model, in the median: us, and ns/KiB."""
    beyond = made.latency_ns - device.replay(made)[0] + made.facts.host_ns

    def median(op: str, size: int) -> float:
        which = [row.op == op and row.size == size for row in made.rows]
        return float(np.median(beyond[which]))

    # of writes those that no cache takes: one that waits for the flash hides the host's time
    durable = {"f" if made.facts.fua else "w"} if made.facts.fua or not made.facts.write_cache else set[str]()
    found = {}
    for op in {"r", *durable}:
        name, small = "read" if op == "r" else "write", median(op, 4 * KIB)
        found[name] = small / 1000
        found[f"{name}, ns/KiB"] = (median(op, 512 * KIB) - small) / 508
    if made.facts.write_cache:
        found["FLUSH"] = median("F", 0) / 1000
    return {**found, "discard": median("d", MIB) / 1000}
