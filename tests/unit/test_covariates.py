"""What a board notes of itself beside a run, from trees of /proc and /sys; and what a run is rejected for."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import polars as pl
import pytest

from analysis.adapters import covariates as stored
from analysis.checks import covariates as checks
from commitpath.host import ansible
from model.covariates import COMMANDS, SECTORS

ENTRY = {"board_kind": "lab", "board_device": "/dev/disk/by-partlabel/commitpath", "board_device_bytes": 1}
MMC = "sys/devices/platform/mmc_host/mmc0/mmc0:aaaa"
ZONE, COOLING = "sys/class/thermal/thermal_zone0", "sys/class/thermal/cooling_device"
POLICY = "sys/devices/system/cpu/cpufreq/policy0"
GROUPS = "sys/fs/cgroup"
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
# A board with an eMMC; the counters of err_stats are Linux 6.1's.
EMMC = {
    "proc/sys/kernel/random/boot_id": "one\n",
    "proc/sys/kernel/osrelease": "6.1.0-9-arm64\n",
    "boot/config-6.1.0-9-arm64": "CONFIG_PSI=y\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter\n",
    f"{POLICY}/scaling_governor": "performance\n",
    f"{POLICY}/scaling_min_freq": "600000\n",
    f"{POLICY}/scaling_max_freq": "1500000\n",
    f"{POLICY}/scaling_cur_freq": "1500000\n",
    "sys/devices/platform/soc/soc:firmware/get_throttled": "0\n",
    f"{COOLING}0/type": "thermal-cpufreq-0\n",
    f"{COOLING}0/cur_state": "0\n",
    f"{COOLING}0/stats/total_trans": "4\n",
    f"{COOLING}1/type": "pwm-fan\n",
    f"{COOLING}1/cur_state": "3\n",
    f"{ZONE}/type": "cpu-thermal\n",
    f"{ZONE}/temp": "51121\n",
    f"{MMC}/name": "DG4016\n",
    f"{MMC}/cid": "4501004447343031360137\n",
    f"{MMC}/csd": "d02701320f5903ff\n",
    f"{MMC}/fwrev": "0x3137000000000000\n",
    f"{MMC}/life_time": "0x01 0x01\n",
    f"{MMC}/block/mmcblk0/stat": " ".join(str(n) for n in range(17)) + "\n",
    f"{MMC}/block/mmcblk0/queue/write_cache": "write back\n",
    f"{MMC}/block/mmcblk0/queue/scheduler": "none [mq-deadline]\n",
    f"{MMC}/block/mmcblk0/mmcblk0p2/partition": "2\n",
    f"{MMC}/block/mmcblk0/mmcblk0p2/stat": " ".join(str(n) for n in range(17)) + "\n",
    "sys/kernel/debug/mmc0/err_stats": "# Command Timeout Occurred:\t 0\n# Data CRC Errors Occurred:\t 0\n",
    "proc/self/mountinfo": "21 1 179:1 / / rw - ext4 /dev/mmcblk0p1 rw\n"
    "36 21 179:2 / /mnt/target rw - ext4 /dev/mmcblk0p2 rw\n37 36 0:44 / /mnt/target rw - tmpfs over rw\n",
    "proc/pressure/io": PRESSURE.format(900),
    "proc/self/cgroup": "0::/user.slice/session-1.scope\n",
    f"{GROUPS}/cgroup.controllers": "io\n",
    f"{GROUPS}/system.slice/io.pressure": PRESSURE.format(100),
    f"{GROUPS}/user.slice/io.pressure": PRESSURE.format(800),
    f"{GROUPS}/user.slice/session-2.scope/io.pressure": PRESSURE.format(20),
    f"{GROUPS}/user.slice/session-1.scope/io.pressure": PRESSURE.format(780),
}


@pytest.fixture(scope="module")
def on_board() -> ModuleType:
    """playbooks/board/covariates.py, which imports what lies beside it."""
    folder = ansible.PLAYBOOKS / "board"
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("board_covariates", folder / "covariates.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def tree(root: Path, files: dict[str, str]) -> Path:
    """A board's files below a folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    numbers = root / "sys/dev/block"
    numbers.mkdir(parents=True)
    (root / MMC / "block/mmcblk0/device").symlink_to("../..")
    (numbers / "179:2").symlink_to(root / MMC / "block/mmcblk0/mmcblk0p2")
    (root / "sys/class/block").mkdir(parents=True)
    (root / "sys/class/block/mmcblk0").symlink_to(root / MMC / "block/mmcblk0")
    return root


def test_what_a_board_with_an_emmc_says(on_board: ModuleType, tmp_path: Path) -> None:
    board = on_board.Board(tree(tmp_path, EMMC), "179:2")
    edge = on_board.edge(board, last=True)
    assert edge["boot_id"] == "one" and edge["clocksource"] == "arch_sys_counter"
    assert edge["mounts"] == "36 179:2 /mnt/target; 37 0:44 /mnt/target"
    assert edge["cpufreq/policy0/scaling_max_freq"] == "1500000"
    assert edge["throttle/cooling_device0/total_trans"] == "4" and edge["throttle/get_throttled"] == "0"
    # a fan takes no speed from the CPU
    assert not [name for name in edge if "cooling_device1" in name]
    assert edge["temperature/thermal_zone0 cpu-thermal"] == "51121"
    assert edge["mmc/err_stats/Command Timeout Occurred"] == "0"
    assert edge["mmc/ios"] == {"unreadable": "/sys/kernel/debug/mmc0/ios: No such file or directory"}
    # the run's own group is none of the others, nor what holds it
    others = {name: value for name, value in edge.items() if "others" in name}
    assert others == {
        "pressure/others/system.slice": "100",
        "pressure/others/user.slice/session-2.scope": "20",
    }
    assert edge["disk/flush_ios"] == "15" and edge["partition/write_sectors"] == "6"
    assert int(edge["counted_from_ns"]) <= int(edge["counted_until_ns"])
    itself = on_board.itself(board)
    assert itself["disk/life_time"] == "0x01 0x01" and itself["queue/scheduler"] == "none [mq-deadline]"
    # an eMMC has it, and this kernel does not say it
    missing = {"unreadable": "/sys/class/block/mmcblk0/device/pre_eol_info: No such file or directory"}
    assert itself["disk/pre_eol_info"] == missing
    named, text = on_board.kernel_config(board)
    assert named["kernel_config"] == "/boot/config-6.1.0-9-arm64" and text == b"CONFIG_PSI=y\n"


def test_what_a_board_does_not_say_is_said_to_be_unreadable(on_board: ModuleType, tmp_path: Path) -> None:
    bare = {name: text for name, text in EMMC.items() if name.startswith((MMC, "proc/sys/kernel/random"))}
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(b"CONFIG_A=y\n"))
    board = on_board.Board(tree(tmp_path, bare), "179:2")
    edge = on_board.edge(board, last=False)
    for name in ("clocksource", "cpufreq", "throttle", "temperature", "pressure", "mmc/err_stats"):
        assert list(edge[name]) == ["unreadable"], name
    assert on_board.kernel_config(board)[0]["kernel_config"] == "/proc/config.gz"


COUNTED = (*COMMANDS, *SECTORS)
GOOD = {
    "time_ns": "1000000000",
    "boot_id": "one",
    "clocksource": "arch_sys_counter",
    "mounts": "36 179:2 /mnt/target",
    "cpufreq/policy0/scaling_max_freq": "1500000",
    "cpufreq/policy0/scaling_cur_freq": "600000",
    "throttle/cooling_device0/cur_state": "0",
    "throttle/get_throttled": "0x0",
    "mmc/err_stats/Data CRC Errors Occurred": "2",
    "temperature/thermal_zone0 cpu-thermal": "51121",
    "pressure/others/system.slice": "100",
    **{f"{whose}/{counted}": "10" for whose in ("disk", "partition") for counted in COUNTED},
    "disk/flush_ios": "5",
}
# a second later: a hundred commands of its own, four of others
LATER = {
    **GOOD,
    "time_ns": "2000000000",
    "cpufreq/policy0/scaling_cur_freq": "1500000",
    "partition/write_ios": "110",
    "partition/write_sectors": "810",
    "disk/write_ios": "114",
    "disk/write_sectors": "842",
    "pressure/others/system.slice": "20100",
}


def run_with(folder: Path, **end: Any) -> Any:
    """A lab board's run as the checks see it; end: what is otherwise after it, None: not there."""
    after = {name: value for name, value in {**LATER, **end}.items() if value is not None}
    (folder / "board").mkdir(exist_ok=True)
    document = {"begin": GOOD, "end": after, "board": {"disk/fwrev": "1"}}
    (folder / "board/covariates.json").write_text(json.dumps(document))
    plan = {"board": {"limits": ansible.limits("pi", ENTRY)}}
    board = SimpleNamespace(covariates=stored.read(folder), run={"clock": "real"})
    cell = {"board": "pi", "clock": "real"}
    return SimpleNamespace(cell=cell, plan=plan, board=board, is_virtual=False)


def test_a_run_beside_which_little_happened(tmp_path: Path) -> None:
    run = run_with(tmp_path)
    assert checks.unchanged(run) == checks.within(run) == checks.unknown(run) == []
    told = checks.manifest(run)
    assert told and (told["foreign_commands"], told["foreign_sectors"], told["disk_flushes"]) == (4, 32, 0)
    assert told["shares"] == {
        "foreign_commands": 0.04,
        "foreign_sectors": 0.04,
        "others_pressure": 0.02,
        "celsius": 51.121,
    }


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("boot_id", "two", "the board was rebooted: boot_id changed from one to two"),
        ("mounts", "37 179:2 /mnt/target", "or another was mounted on it: mounts changed from 36 179:2"),
        ("cpufreq/policy0/scaling_max_freq", "600000", "its frequency limits changed"),
        ("throttle/cooling_device0/cur_state", "1", "its CPU was throttled: throttle/cooling_device0"),
        ("throttle/get_throttled", "0x40000", "its CPU was throttled"),
        ("mmc/err_stats/Data CRC Errors Occurred", None, "mmc/err_stats/Data CRC Errors Occurred disap"),
        ("disk/flush_ios", "4", "covariates.json: disk/flush_ios decreased by 1"),
        ("disk/write_ios", "109", "covariates.json: the disk counted 1 commands fewer than the partition"),
        ("mmc/err_stats/Data CRC Errors Occurred", "3", "the card's host counted errors: mmc/err_stats/Data"),
        ("disk/write_ios", "116", "foreign_commands is 0.06, limit 0.05"),
        ("disk/read_sectors", "20", "foreign_sectors is 0.0525, limit 0.05"),
        ("disk", {"unreadable": "gone"}, None),
        ("disk/write_ios", {"unreadable": "gone"}, "foreign_commands is unknown"),
        ("pressure/others/system.slice", "60100", "others_pressure is 0.06, limit 0.05"),
        ("temperature/thermal_zone0 cpu-thermal", "80001", "celsius is 80, limit 80"),
    ],
)  # fmt: skip
def test_what_a_run_is_rejected_for(name: str, value: Any, says: str | None, tmp_path: Path) -> None:
    run = run_with(tmp_path, **{name: value})
    found = [*checks.unchanged(run), *checks.within(run)]
    assert (len(found) == 1 and says in found[0]) if says else found == [], found


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("cpufreq", "whether its frequency limits changed: gone"),
        ("mmc/err_stats", "whether its card had errors: gone"),
        ("throttle/cooling_device0/cur_state", "whether its CPU was throttled: gone"),
        ("pressure/others/system.slice", "how long other tasks waited for IO: gone"),
    ],
)
def test_what_could_not_be_read_is_not_checked_and_said(name: str, what: str, tmp_path: Path) -> None:
    assert checks.unknown(run_with(tmp_path, **{name: {"unreadable": "gone"}})) == [what]


@pytest.mark.parametrize(
    ("name", "begin", "end", "says"),
    [
        ("time_ns", 999999999, 1500000000, "time_ns goes from 1000000000 to 2000000000"),
        (
            "write_ios",
            9,
            110,
            "partition/write_ios goes from 10 to 110; device_stat.csv, read in between, goes from 9 to",
        ),
    ],
)
def test_it_is_read_around_the_load(name: str, begin: int, end: int, says: str, tmp_path: Path) -> None:
    run = run_with(tmp_path)
    counted = {field: [10, 10] for field in COUNTED}
    good = {**counted, "time_ns": [1100000000, 1900000000], "write_ios": [10, 110], "discard_ios": [None] * 2}
    run.driver = SimpleNamespace(device_stat=pl.DataFrame(good))
    assert checks.around(run) == []
    run.driver.device_stat = pl.DataFrame({**good, name: [begin, end]})
    (reason,) = checks.around(run)
    assert says in reason


def test_a_board_has_limits_of_its_own() -> None:
    assert ansible.limits("pi", {**ENTRY, "board_limits": {"celsius": 60}})["celsius"] == 60
