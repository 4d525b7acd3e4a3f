"""The flash model's page map: garbage collection as computed, map reads, SLC, padding, used devices."""

import random

import numpy as np
import pytest
from plain_device import Refused
from scipy.special import lambertw

# 64 MiB in blocks of 256 KiB, 64 pages
SMALL = {
    "sectors": 131072,
    "erase_kib": 256,
    "gc_blocks": 2,
    "spare_permille": 150,
    "program_bytes": 4096,
    "dies": 1,
}
PAGES, PER_BLOCK = 16384, 64


def random_pages(number, pages=PAGES, seed=1):
    draw = random.Random(seed)
    return [f"w +0 {8 * draw.randrange(pages)} 8" for _ in range(number)]


def filled(pages=PAGES):
    return [f"w +0 {sector} 256" for sector in range(0, 8 * pages, 256)]


def amplification(model, pages=PAGES, **device):
    """Bytes programmed for each byte of random writes, once it no longer changes."""
    start = filled(pages) + random_pages(3 * PAGES, pages)
    early, late = (
        model(commands, **{**SMALL, **device})[1]
        for commands in (start, [*start, *random_pages(3 * PAGES, pages, 2)])
    )
    copied, erases = (late[name] - early[name] for name in ("gc_bytes", "erases"))
    # what is written and copied takes what was erased
    assert erases * PER_BLOCK * 4096 == pytest.approx(3 * PAGES * 4096 + copied, rel=0.01)
    return 1 + copied / (3 * PAGES * 4096)


def closed_blocks(spare_permille, gc_blocks=2):
    """Blocks in the steady state without the free ones and half the open one."""
    return 256 * (1000 + spare_permille) // 1000 - (gc_blocks + 1) - 0.5


def mean_field(live, blocks, pages=PER_BLOCK):
    """Return the write amplification of greedy collection of many blocks under uniform random writes.

    A block loses pages in proportion to its live ones. Blocks are reclaimed with j or j + 1 live pages: of a
    flow R of new blocks f comes down to j, so R (pages - j - 1) + f = 1, and the blocks of all levels add up.
    """
    for j in range(pages):
        above = sum(1 / i for i in range(j + 2, pages + 1))
        flow = (blocks - live / (j + 1)) / (live * above - live * (pages - j - 1) / (j + 1))
        down = 1 - flow * (pages - j - 1)
        if 0 <= down <= flow:
            return flow * pages
    raise AssertionError("no such level")


def desnoyers(alpha):
    """Return the same for large blocks: Analytic Modeling of SSD Write Performance, SYSTOR 2012."""
    return alpha / (alpha + lambertw(-alpha * np.exp(-alpha)).real)


@pytest.mark.parametrize("spare", [70, 150, 300])
def test_greedy_collection_amplifies_writes_as_computed(model, spare):
    blocks = closed_blocks(spare)
    expected = mean_field(PAGES, blocks)
    assert amplification(model, spare_permille=spare) == pytest.approx(expected, rel=0.03)
    # small blocks cost less
    alpha = blocks * PER_BLOCK / PAGES
    assert mean_field(PAGES, blocks / 64, PER_BLOCK * 64) == pytest.approx(desnoyers(alpha), rel=0.01)
    assert desnoyers(alpha) * 0.8 < expected < desnoyers(alpha)


def test_a_device_that_is_less_full_copies_less(model):
    half = PAGES // 2
    found = amplification(model, half)
    assert found == pytest.approx(mean_field(half, closed_blocks(150)), rel=0.03)
    assert found < amplification(model) / 2


def test_what_was_discarded_is_not_copied(model):
    """Half the device is discarded: as if it had never been written."""
    half = PAGES // 2
    start = [*filled(), f"d +0 {8 * half} {8 * half}", *random_pages(3 * PAGES, half)]
    kept = [*filled(), *random_pages(3 * PAGES, half)]
    discarded, full = (model(commands, **SMALL)[1]["gc_bytes"] for commands in (start, kept))
    assert discarded < full / 2


def test_no_garbage_is_collected_before_the_watermark(model):
    for times, collected in ((1, False), (2, True)):
        counters = model(filled() * times, **SMALL)[1]
        assert (counters["erases"] > 0) is collected
        assert (counters["gc_busy_ns"] > 0) is collected
    # in order: no block has live pages when it is reclaimed
    assert counters["gc_bytes"] == 0
    assert counters["free_blocks"] == SMALL["gc_blocks"] + 1
    assert model(filled() * 2, **{**SMALL, "gc_blocks": 0})[1]["erases"] == 0


def test_data_stay_over_a_reset_and_garbage_does_not(model):
    full, half = (
        model(
            [*filled(pages), *random_pages(2 * PAGES, pages), "reset", *random_pages(PAGES // 4, pages)],
            **SMALL,
        )[1]
        for pages in (PAGES, PAGES // 2)
    )
    # 38 spare blocks take 2432 pages, and 166 twice as many as are written
    assert full["erases"] > 0
    assert half["erases"] == 0


def test_padding_fills_blocks(model):
    """A page of 16 KiB for each write of 4 KiB."""
    commands = random_pages(3 * PAGES, PAGES // 8)
    plain, padded = (
        model(commands, **{**SMALL, "program_bytes": 16384, "pad_bytes": pad})[1] for pad in (0, 16384)
    )
    for counters in (plain, padded):
        taken = sum(counters[name] for name in ("program_bytes", "padding_bytes", "gc_bytes"))
        used = counters["erases"] + 294 - counters["free_blocks"]
        assert used * 256 * 1024 == pytest.approx(taken, abs=256 * 1024)
    assert padded["erases"] > 5 * plain["erases"]
    assert padded["padding_bytes"] == 3 * padded["program_bytes"]


def read_ns(model, mib, order, **device):
    """Return the mean time of the last 400 of 800 reads of 4 KiB, in the first MIB, and all map reads."""
    draw, places = random.Random(1), mib * 256
    pages = [draw.randrange(places) if order == "random" else 7 * i % places for i in range(800)]
    times, counters = model([f"r +0 {8 * page} 8" for page in pages], **device)
    return (times[-1] - times[399]) / 400, counters["map_reads"]


def test_random_reads_are_slower_beyond_the_reach_of_the_map(model):
    """Of 64 KiB are held, four pages of 16 KiB, each for 16 MiB: a random read over 256 MiB misses 3 of 4."""
    device = {"sectors": 1048576, "map_kib": 64}
    within, few = read_ns(model, 64, "random", **device)
    beyond, many = read_ns(model, 256, "random", **device)
    assert few == 4
    assert many == pytest.approx(800 * 3 / 4, rel=0.05)
    assert beyond - within == pytest.approx(60_000 * 3 / 4, rel=0.05)
    # in order, one of the 400 needs a page of the map
    whole, part = (read_ns(model, 256, "sequential", sectors=1048576, map_kib=kib)[0] for kib in (0, 64))
    assert part == whole + 60_000 / 400
    assert read_ns(model, 256, "random", **{**device, "map_kib": 256})[1] == 16


def test_a_write_needs_the_map_too(model):
    counters = model([f"w +0 {page * 32768} 8" for page in (0, 1, 0, 2, 0, 1)], map_kib=32)[1]
    assert (counters["map_reads"], counters["time_map_ns"]) == (4, 4 * 60_000)


SLC = {"slc_mib": 32, "slc_program_ns": 200_000, "program_ns": 2_000_000, "bus_mb_s": 2000, "dies": 4}


def mb_s(times, first, last):
    """Return the rate of writes of 128 KiB."""
    return (last - first) * 131072 / 1e6 / ((times[last - 1] - times[first - 1]) / 1e9)


def test_slc_fills_and_idle_dies_empty_it(model):
    """Writes go to SLC for 32 MiB, then as the cells are; a pause empties what four dies can fold."""
    writes = [f"w +0 {256 * i} 256" for i in range(512)]
    times, counters = model(writes, **SLC)
    assert mb_s(times, 16, 256) / mb_s(times, 272, 512) > 4
    assert counters["slc_bytes"] == 32 << 20
    assert counters["fold_bytes"] == 0
    # 500 ms: each die folds units of 16 KiB, a read of 60 us and a program of 2 ms
    folded = 4 * 16384 * (500_000_000 // 2_060_000)
    times, counters = model([*writes, f"w +500000000 {256 * 512} 256", *writes], **SLC)
    assert counters["fold_bytes"] == folded
    assert counters["slc_bytes"] == (32 << 20) + folded
    # a FLUSH with nothing to do leaves the dies idle, and their time counts once
    twice = model([*writes, "F +250000000", "F +250000000"], **SLC)[1]["fold_bytes"]
    assert 0.98 * folded < twice <= folded


USED = {"fill_permille": 900, "overwrite_permille": 3000}


def test_a_used_device_is_in_the_steady_state_of_its_fill(model):
    """From the first write on it copies as much as a device that was filled and overwritten by the host."""
    live = PAGES * 9 // 10
    counters = model(random_pages(PAGES), **{**SMALL, **USED})[1]
    found = 1 + counters["gc_bytes"] / counters["program_bytes"]
    # what the host writes to the other tenth is live from then on
    least, most = (mean_field(pages, closed_blocks(150)) for pages in (live, PAGES))
    assert 0.95 * least < found < most
    assert model(random_pages(PAGES), **SMALL)[1]["gc_bytes"] == 0


def test_other_data_survive_a_discard_until_they_are_replaced(model):
    whole = [f"d +0 0 {8 * PAGES}"]
    copied = [
        model([*start, *random_pages(PAGES)], **{**SMALL, **USED})[1]["gc_bytes"] for start in ([], whole)
    ]
    assert copied[0] == copied[1] > 0
    # once written by the host all is the host's, and a discard frees it
    again = [*filled(), *whole, "reset", *random_pages(PAGES // 8)]
    assert model(again, **{**SMALL, **USED})[1]["gc_bytes"] == 0


def test_a_used_device_goes_by_the_seed_and_not_by_resets(model):
    def counters(*commands, **device):
        return model([*commands, *random_pages(PAGES // 4)], **{**SMALL, **USED, **device})[1]

    assert counters() == counters()
    assert counters()["gc_bytes"] != counters(seed=2)["gc_bytes"]
    assert counters() == counters("reset")
    assert counters()["writes"] == PAGES // 4
    assert counters("w 0 0 8", "w +0 8 8")["gc_bytes"] >= counters()["gc_bytes"]


@pytest.mark.parametrize(
    "change",
    [
        {"spare_permille": 10},
        {"erase_kib": 6},
        {"program_bytes": 524288},
        {"open_units": 2, "unit_kib": 256},
        {"map_kib": 8},
        {"fill_permille": 900, "gc_blocks": 0},
        {"overwrite_permille": 1},
    ],
)
def test_parameters_that_do_not_fit_are_refused(model, change):
    with pytest.raises(Refused):
        model(["r 0 0 8"], **{**SMALL, **change})
