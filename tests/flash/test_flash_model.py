"""The flash model's times are those of hand-made sums, flashbench and the oracle; it takes each profile."""

import random
import re
from itertools import pairwise

import numpy as np
import pytest
import yaml
from mutants import BOARD, HOST, SOURCES
from oracle import made_again
from plain_device import PLAIN, ROOT, Refused

from analysis.adapters.device_logs import ENTRY
from model.block_operations import FUA

COMMAND, READ, PROGRAM = 100_000, 60_000, 1_000_000
PROFILES = [p for p in (ROOT / "experiments/device").glob("*.yml") if "driver: flash" in p.read_text()]
# what `make new KIND=device` writes
PROFILES += (ROOT / "commitpath/skeletons/device").rglob("*.yml")


def transfer(size):
    """Nanoseconds of `size` bytes on the bus of the plain device, 100 MB/s."""
    return size * 10


def latencies(times, gap=0):
    """Of commands that each start `gap` after the one before was done."""
    return [b - a - gap for a, b in pairwise([-gap, *times])]


def causes(counters):
    return {k[5:-3]: v for k, v in counters.items() if k.startswith("time_") and v}


def test_read_is_command_sense_and_transfer(model):
    times, counters = model(["r 0 0 8"])
    assert times == [COMMAND + READ + transfer(4096)]
    assert causes(counters) == {"command": COMMAND, "read": READ, "bus": transfer(4096)}


def test_a_program_ends_what_the_register_holds(model):
    _, counters = model(["r +0 0 8", "w +0 0 8", "w +0 0 8", "r +0 0 8"])
    assert counters["page_reads"] == 2


def test_a_page_in_the_register_is_not_sensed_again(model):
    assert latencies(model(["r +0 0 8", "r +0 8 8"])[0]) == [
        COMMAND + READ + transfer(4096),
        COMMAND + transfer(4096),
    ]


def test_pages_of_one_read_are_sensed_on_all_dies(model):
    # two pages on two dies: sensed at once, transferred one after the other
    assert model(["r 0 0 64"])[0] == [COMMAND + READ + 2 * transfer(16384)]
    # on one die the second is sensed during the first's transfer
    assert model(["r 0 0 64"], dies=1)[0] == [COMMAND + READ + 2 * transfer(16384)]
    assert model(["r 0 0 64"], dies=1, bus_mb_s=100000)[0] == [COMMAND + 2 * READ + 163]


def test_plain_write_is_durable_when_done(model):
    times, counters = model(["w 0 0 8", "F +0"])
    assert times == [COMMAND + transfer(4096) + PROGRAM] * 2
    assert counters["flushes_clean"] == 1


def test_a_large_write_uses_both_dies(model):
    times, counters = model(["w 0 0 128"])
    # four units, two a die; the last die gets its last unit after the other's
    assert times == [COMMAND + transfer(16384) * 2 + 2 * PROGRAM]
    assert counters["programs"] == 4
    assert sum(causes(counters).values()) == times[0]


def test_commands_at_once_share_the_device(model):
    times, counters = model(["w 0 0 8", "w 0 8 8", "w 0 16 8"], queue_depth=8)
    first = COMMAND + transfer(4096) + PROGRAM
    assert times[:2] == [first, first + COMMAND]
    # the third finds both dies busy
    assert times[2] == first + PROGRAM
    assert counters["time_queue_ns"] == 3 * COMMAND
    assert counters["time_die_ns"] > 0


def test_fua_costs_its_price(model):
    cached = {"write_cache": 1, "fua": 1, "cache_kib": 256, "fua_ns": 70_000}
    assert model(["f 0 0 8"], **cached)[0] == [COMMAND + transfer(4096) + PROGRAM + 70_000]


@pytest.mark.parametrize(
    ("sector", "sectors", "commands"),
    # whole and at a multiple; of one sector each: before it, a part, and behind it
    [(0, 8, 1), (0, 32, 4), (3, 8, 8), (8, 4, 4), (5, 16, 3 + 1 + 5), (0, 12, 1 + 4)],
)
def test_reliable_writes_go_in_the_cards_units(model, sector, sectors, commands):
    device = {"write_cache": 1, "fua": 1, "cache_kib": 256, "fua_ns": 70_000, "rel_sectors": 8, "dies": 1}
    times, counters = model([f"f 0 {sector} {sectors}"], **device)
    assert counters["reliable_commands"] == commands
    assert times == [commands * (COMMAND + PROGRAM + 70_000) + transfer(sectors * 512)]
    # other writes are one command
    assert model([f"w 0 {sector} {sectors}"], **device)[0] == [COMMAND + transfer(sectors * 512)]


CACHE = {"write_cache": 1, "cache_kib": 256, "flush_dirty_ns": 300_000, "flush_clean_ns": 20_000}


def test_cached_write_costs_no_program(model):
    assert model(["w 0 0 8"], **CACHE)[0] == [COMMAND + transfer(4096)]


def test_flush_drains_then_pays_its_base(model):
    times, counters = model(["w +0 0 8", "F +0", "F +0"], **CACHE)
    assert latencies(times)[1:] == [PROGRAM + 300_000, 20_000]
    assert (counters["flushes_dirty"], counters["flushes_clean"]) == (1, 1)
    assert counters["time_drain_ns"] == PROGRAM


def test_reads_and_writes_have_their_own_command_times(model):
    times, counters = model(["r +0 0 8", "w +0 0 8", "d +0 0 8"], read_command_ns=7000, write_command_ns=900)
    plain = latencies(model(["r +0 0 8", "w +0 0 8", "d +0 0 8"])[0])
    assert latencies(times) == [plain[0] + 7000, plain[1] + 900, plain[2]]
    assert counters["time_command_ns"] == 3 * COMMAND + 7900


def test_flush_costs_what_was_written_since_the_last(model):
    device = {**CACHE, "flush_dirty_kib_ns": 1000}
    commands = ["w +0 0 8", "F +0", "w +0 0 8", "w +0 0 8", "f +0 64 8", "F +0", "F +0"]
    times, _ = model(commands, fua=1, **device)
    slower = [
        a - b for a, b in zip(latencies(times), latencies(model(commands, fua=1, **CACHE)[0]), strict=True)
    ]
    # FUA bypasses the cache; what is overwritten in it counts again
    assert slower == [0, 4000, 0, 0, 0, 8000, 0]


@pytest.mark.parametrize("command", ["F 0", "f 0 512 8"])
def test_an_exclusive_command_holds_up_others(model, command):
    device = {**CACHE, "fua": 1, "fua_ns": 70_000, "queue_depth": 8}
    commands = ["w 0 0 8", command, "r 0 8224 8"]
    shared, alone = (model(commands, exclusive=exclusive, **device)[0] for exclusive in (0, 1))
    assert shared[:2] == alone[:2]
    assert shared[2] < shared[1]
    assert alone[2] == alone[1] + COMMAND + READ + transfer(4096)


def test_full_cache_waits_for_the_dies(model):
    writes = [f"w +0 {i * 256} 256" for i in range(64)]
    times, counters = model(writes, bus_mb_s=10000, **CACHE)
    assert latencies(times)[0] < PROGRAM
    # two dies program 16 KiB a millisecond each: 128 KiB take 4 ms
    assert times[-1] - times[-11] == pytest.approx(10 * 4 * PROGRAM, rel=0.03)
    assert counters["time_cache_ns"] > 0


def test_writes_enter_a_full_cache_in_order(model):
    """Four fill the cache. What a program frees is there at its end, also for those that came later."""
    device = {**CACHE, "cache_kib": 16, "dies": 1, "queue_depth": 16}
    times, _ = model([f"w 0 {8 * number} 8" for number in range(12)], **device)
    full = 4 * COMMAND + transfer(4096)
    assert times[3:] == [full] + 4 * [full + PROGRAM] + 4 * [full + 2 * PROGRAM]


def test_a_flush_programs_nothing_that_has_not_arrived(model):
    times, _ = model(["w 0 0 8", "F 0"], queue_depth=8, **CACHE)
    assert times[1] == COMMAND + transfer(4096) + PROGRAM + 300_000


UNITS = {"open_units": 2, "unit_kib": 64, "merge_ns": 5_000_000, "merge_spread_ns": 1_000_000, "dies": 1}


def test_writes_in_open_units_cost_no_merge(model):
    _, counters = model([f"w +0 {(i % 2) * 128 + (i * 8) % 128} 8" for i in range(50)], **UNITS)
    assert (counters["unit_opens"], counters["merges"]) == (2, 0)


def test_write_outside_merges_the_unit_used_longest_ago(model):
    visits = [0, 1, 0, 2, 0, 1]
    times, counters = model([f"w +0 {unit * 128 + 8} 8" for unit in visits], **UNITS)
    slow = [i for i, t in enumerate(latencies(times)) if t > 5_000_000]
    assert slow == [3, 5]
    assert counters["merges"] == 2
    assert 10_000_000 <= counters["time_merge_ns"] <= 12_000_000


def test_unit_filled_from_start_to_end_is_switched(model):
    commands = [f"w +0 {sector} 8" for sector in range(0, 128 * 6, 8)]
    _, counters = model(commands, **UNITS)
    assert (counters["unit_switches"], counters["merges"], counters["erases"]) == (4, 0, 4)
    # the same in another order is not
    half = len(commands) // 12
    for i in range(0, len(commands), 2 * half):
        commands[i : i + 2 * half] = commands[i + half : i + 2 * half] + commands[i : i + half]
    assert model(commands, **UNITS)[1]["merges"] == 4
    # nor is one of which only the end was written
    ends = [f"w +0 {sector} 8" for sector in range(120, 128 * 6, 128)]
    assert model(ends, **UNITS)[1]["merges"] == 4


def test_merges_fill_their_range_evenly(model):
    commands = [f"w +0 {i % 3 * 128 + 8} 8" for i in range(600)]
    times, counters = model(commands, **UNITS)
    extra = [t - min(latencies(times)[2:]) for t in latencies(times)[2:]]
    assert max(extra) <= 1_000_000
    assert counters["time_merge_ns"] / counters["merges"] == pytest.approx(5_500_000, rel=0.02)


LOG = {"open_units": 2, "unit_kib": 4096, "log_kib": 512, "merge_ns": 200_000_000, "dies": 1}


def spikes(times):
    """The commands that take far longer than most."""
    usual = sorted(latencies(times))[len(times) // 2]
    return [i for i, t in enumerate(latencies(times)) if t > 5 * usual]


@pytest.mark.parametrize(("pad", "small", "large"), [(0, 128, 8), (16384, 32, 8)])
def test_a_full_log_is_merged(model, pad, small, large):
    """Spikes stand as far apart as a log of 512 KiB takes writes; padding fills it sooner."""
    draw = random.Random(1)
    commands = [f"w +0 {8 * draw.randrange(1, 1024)} 8" for _ in range(1200)]
    slow = spikes(model(commands, pad_bytes=pad, **LOG)[0])
    assert slow == list(range(small, 1200, small))
    commands = [f"w +0 {128 * draw.randrange(1, 64)} 128" for _ in range(100)]
    assert spikes(model(commands, pad_bytes=pad, **LOG)[0]) == list(range(large, 100, large))
    assert model(commands, pad_bytes=pad, **{**LOG, "log_kib": 0})[1]["merges"] == 0


def test_writes_in_order_take_no_log(model):
    _, counters = model([f"w +0 {sector} 128" for sector in range(0, 8192 * 4, 128)], **LOG)
    assert (counters["unit_switches"], counters["partial_merges"], counters["merges"]) == (2, 0, 0)


@pytest.mark.parametrize("filled", [1, 4, 7])
def test_a_partial_merge_copies_the_rest(model, filled):
    """Of three units the first `filled` eighths were written in order; the third write closes the first."""
    commands = [f"w +0 {unit * 8192 + part * 1024} 1024" for unit in range(3) for part in range(filled)]
    _, counters = model(commands, **LOG)
    assert (counters["partial_merges"], counters["merges"]) == (1, 0)
    assert counters["merge_busy_ns"] == 3_000_000 + 197_000_000 * (8 - filled) // 8
    # written out of order, all is copied
    commands.insert(filled, "w +0 0 8")
    _, counters = model(commands, **LOG)
    assert (counters["partial_merges"], counters["merges"]) == (0, 1)


def test_a_merged_log_leaves_its_unit_open(model):
    """A log of four writes: the fifth merges it and begins a run from the unit's start."""
    small = {**LOG, "log_kib": 16}
    order = [8, 16, 24, 32, 0, *range(8, 8192, 8)]
    _, counters = model([f"w +0 {sector} 8" for sector in order] + ["w +0 8192 8", "w +0 16384 8"],
                        program_bytes=4096, **small)  # fmt: skip
    assert (counters["merges"], counters["unit_switches"]) == (1, 1)
    # what begins the run takes none of the empty log
    order[5:] = [40, 48, 56, 64]
    assert model([f"w +0 {sector} 8" for sector in order], program_bytes=4096, **small)[1]["merges"] == 1


# MB/s (2^20 bytes) of `flashbench --open-au` on a Kingston 4 GB microSDHC: 3 and 4 units of 4 MiB written in
# turn, by KiB a write: bradfa's blog "Flashbenching", 2014-05-07
FLASHBENCH = {
    128: (4.77, 0.302),
    256: (4.96, 0.607),
    512: (5.12, 1.25),
    1024: (5.17, 2.82),
    2048: (5.19, 4.49),
}
KINGSTON = {"open_units": 3, "unit_kib": 4096, "dies": 1, "command_ns": 1_000_000, "program_ns": 3_050_000,
            "merge_ns": 350_000_000, "bus_mb_s": 25}  # fmt: skip


def open_units_rate(model, kib, units, **device):
    """MB/s of flashbench's pattern: units filled in order and in turn."""
    sectors = 2 * kib
    commands = []
    for group in range(4):
        for place in range(0, 8192, sectors):
            commands += [f"w +0 {(group * units + unit) * 8192 + place} {sectors}" for unit in range(units)]
    done = model(commands, **{**KINGSTON, **device})[0][-1]
    return len(commands) * kib / 1024 / (done / 1e9)


@pytest.mark.parametrize("kib", FLASHBENCH)
def test_too_many_open_units_cost_what_flashbench_measures(model, kib):
    """A merge a write, so the rate falls with the size of a write. Above 512 KiB the card merges for less;
    partial merges hardly help, as only the first write to a unit is in order from its start."""
    within, beyond = FLASHBENCH[kib]
    assert open_units_rate(model, kib, 3) == pytest.approx(within, rel=0.03)
    assert open_units_rate(model, kib, 4) == pytest.approx(beyond, rel=0.12 if kib <= 512 else 0.4)


def test_reordering_cache_merges_less(model):
    device = {**CACHE, **UNITS, "program_bytes": 4096}
    commands = [f"w +0 {i % 8 * 128 + i // 8 * 8} 8" for i in range(64)] + ["F +0"]
    fifo = model(commands, cache_reorder=0, **device)[1]["merges"]
    sorted_ = model(commands, cache_reorder=1, **device)[1]["merges"]
    assert sorted_ < fifo / 4


GC = {"sectors": 131072, "erase_kib": 1024, "gc_blocks": 2, "spare_permille": 100}


def commands_of(seed, count=400):
    """Any commands at any times, some of them at once."""
    generator = random.Random(seed)
    now, out = 0, []
    for _ in range(count):
        now += generator.choice([0, 0, 1000, 100_000, 3_000_000])
        size = generator.choice([1, 3, 8, 9, 64, 256, 1024])
        sector = generator.randrange(0, 131072 - size)
        kind = generator.choice("rwwwwfFd")
        out.append(
            {"F": f"F {now}", "d": f"d {now} {sector} {size}"}.get(kind, f"{kind} {now} {sector} {size}")
        )
    return out


DEVICES = [{}, UNITS, LOG, {**CACHE, "fua": 1}, {**CACHE, **UNITS, "fua": 1, "cache_reorder": 1}, GC,
           {**CACHE, "cache_kib": 16},
           {**CACHE, "slc_mib": 2, "map_kib": 16, "fua": 1, "rel_sectors": 8}]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(4))
def test_causes_add_up_and_nothing_ends_before_it_began(model, device, seed):
    commands = commands_of(seed)
    times, counters = model(commands, **device)
    spent = [done - int(c.split()[1]) for c, done in zip(commands, times, strict=True)]
    assert min(spent) >= 0
    assert sum(causes(counters).values()) == sum(spent)


@pytest.mark.parametrize("device", DEVICES)
def test_same_commands_same_times(model, device):
    assert model(commands_of(1), **device) == model(commands_of(1), **device)


def test_seed_changes_the_merges_and_reset_starts_over(model):
    commands = [f"w +0 {i % 3 * 128 + 8} 8" for i in range(9)]
    assert model(commands, **UNITS)[0] != model(commands, **{**UNITS, "seed": 2})[0]
    again = [
        "w 0 0 8",
        *commands,
        "reset",
        *(c.replace("+0", str(10**12 + i * 10**9)) for i, c in enumerate(commands)),
    ]
    fresh = [c.replace("+0", str(10**12 + i * 10**9)) for i, c in enumerate(commands)]
    assert model(again, **UNITS)[0][-9:] == model(fresh, **UNITS)[0]


def test_power_cut_empties_the_cache(model):
    times, counters = model(["w 0 0 8", "cut", "F 5000000"], **CACHE)
    assert times[1] == 5_020_000
    assert counters["programs"] == 0
    _, counters = model(["w 0 0 8", "cut", "w 5000000 0 8", "F +0"], **CACHE)
    assert counters["program_bytes"] == 4096


@pytest.mark.parametrize("change", [
    {"block_bytes": 1024}, {"block_bytes": 4096, "sectors": 4194301}, {"sectors": 0}, {"read_bytes": 3000},
    {"program_bytes": 0}, {"fua": 1}, {"cache_kib": 64}, {"write_cache": 1, "cache_kib": 8},
    {"write_cache": 1, "cache_kib": 1048576, "program_bytes": 4096}, {"open_units": 2, "unit_kib": 24},
    {"rel_sectors": 8}, {"meta_reliable": 1}, {"log_kib": 64}, {"open_units": 2, "log_kib": 8},
    {"pad_bytes": 1000}, {"pad_bytes": 32768},
    {"gc_blocks": 60}, {"gc_blocks": 1, "spare_permille": 1}, {"dies": 0}, {"dies": 65}, {"bus_mb_s": 0},
])  # fmt: skip
def test_parameters_that_do_not_fit_are_refused(model, change):
    with pytest.raises(Refused):
        model(["r 0 0 8"], **change)


@pytest.mark.parametrize("mutant", [*HOST, *BOARD], ids=lambda mutant: mutant[-2][:40])
def test_each_mutant_changes_the_sources(mutant):
    """A board is needed to try those of BOARD, so one whose text is gone would stay unseen."""
    file, old, new = mutant[-3:]
    assert old in (SOURCES / file).read_text() and old != new


def header_parameters():
    """{name: (least, most)} as images/devices/flashsim/model.h has them."""
    values = {"FLASH_SECOND": 10**9, "FLASH_MAX_DIES": 64, "FLASH_MAX_UNITS": 64, "4294967295ULL": 2**32 - 1}
    text = (ROOT / "images/devices/flashsim/model.h").read_text()
    found = re.findall(r"\bP\((\w+), [01], (\d+), (\w+)\)", text)
    return {name: (int(least), values.get(most) or int(most)) for name, least, most in found}


def test_every_parameter_is_tried_here():
    assert set(header_parameters()) == set(PLAIN) - {"sectors"}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.stem)
def test_profile_is_whole_and_accepted(model, profile):
    content = yaml.safe_load(profile.read_text())
    parameters = {**content["geometry"], **content["timing"]}
    assert set(parameters) == set(PLAIN) - {"sectors"}
    model(["w 0 0 8"], sectors=content["size_mib"] * 2048, **parameters)


OWN_TIMES = {"write_command_ns": 9000, "read_command_ns": 3000}
# Each mechanism that no profile has
EXTENDED = [
    {**LOG, "unit_kib": 512, "log_kib": 64, "merge_spread_ns": 9_000_000},
    {**LOG, **CACHE, "fua": 1, "cache_reorder": 1, "unit_kib": 512, "log_kib": 64, "pad_bytes": 8192},
    {"sectors": 65536, "erase_kib": 256, "gc_blocks": 2},
    {**CACHE, "fua": 1, "sectors": 65536, "erase_kib": 128, "gc_blocks": 1, "pad_bytes": 16384},
    {"sectors": 65536, "erase_kib": 256, "gc_blocks": 2, "fill_permille": 800, "overwrite_permille": 2500},
    {**CACHE, **OWN_TIMES, "fua": 1, "fua_ns": 70_000, "exclusive": 1, "flush_dirty_kib_ns": 900},
    {**CACHE, **OWN_TIMES, "fua": 1, "fua_ns": 70_000, "exclusive": 1, "rel_sectors": 16},
    {"map_kib": 64, "read_bytes": 4096, "sectors": 262144},
    {**CACHE, "map_kib": 16, "fua": 1, "cache_reorder": 1, "sectors": 262144},
    {**CACHE, "slc_mib": 1, "slc_program_ns": 90_000, "fua": 1, "pad_bytes": 16384},
]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_the_oracle_makes_the_same_times_of_a_profile(model, profile):
    described = yaml.safe_load(profile.read_text())
    the_oracle_agrees(model, {**described["geometry"], **described["timing"]})


@pytest.mark.parametrize("changes", EXTENDED)
def test_the_oracle_makes_the_same_times(model, changes):
    the_oracle_agrees(model, changes)


def the_oracle_agrees(model, changes):
    """tests/flash/oracle.py, of commands that meet and of commands that do not."""
    draw, now, told, entries = random.Random(1), 0, [], []
    pages = min({**PLAIN, **changes}["sectors"] // 8 - 100, 60000)
    for _ in range(1500):
        letter, number = draw.choice([("r", 0), ("w", 1), ("w", 1), ("f", 1 | FUA), ("F", 2), ("d", 3)])
        sector, sectors = 8 * draw.randrange(pages), 8 * draw.choice([1, 1, 4, 100])
        now += draw.choice([0, 1000, 100_000, 5_000_000])
        place = "" if letter == "F" else f" {sector} {sectors}"
        told.append(f"{letter} {now}{place}")
        entries.append((now, 0, sector, sectors, number))
    ends, counters = model(told, **changes)
    made, parts = made_again({**PLAIN, **changes}, np.array(entries, ENTRY))
    assert made.tolist() == ends
    assert {name: ns for name, ns in parts.items() if ns} == causes(counters)
