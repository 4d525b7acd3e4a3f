"""A flash device's wear: write amplification, programs, erases, copies of merges, lifetime by endurance."""

from analysis.adapters.device_logs import flashsim
from analysis.report import terminal
from analysis.stats import totals
from base.data import load_yaml
from base.paths import EXPERIMENTS

COUNTED = {
    "write_bytes": 1_638_400, "program_bytes": 1_638_400, "programs": 100, "merges": 60, "unit_switches": 2,
    "erases": 2, "gc_bytes": 0, "merge_busy_ns": 0,
}  # fmt: skip


def parameters(device: str = "microsd-class10") -> dict[str, str]:
    profile = load_yaml(EXPERIMENTS / f"device/{device}.yml")
    each = {**profile["geometry"], **profile["timing"], "sectors": profile["size_mib"] * 2048}
    return {name: str(value) for name, value in each.items()}


def counters(**changed: int) -> dict[str, str]:
    return {name: str(value) for name, value in {**COUNTED, **changed}.items()}


def test_a_merge_copies_what_fits_into_its_time() -> None:
    """15 pages of 16 KiB a merge at the profile's times: 9 times what the host wrote, and an erase each."""
    page_ns = 210_000 + 1_265_000
    busy = 60 * (3_000_000 + 15 * page_ns) + 2 * 3_000_000
    found = flashsim.wear(parameters(), counters(merge_busy_ns=busy))
    assert found is not None
    assert (found["merge_programs"], found["merge_bytes"]) == (900, 900 * 16384)
    assert (found["programs"], found["erases"], found["merges"]) == (1000, 62, 60)
    assert found["write_amplification"] == 10
    said = " ".join(" ".join(terminal.flash(found)).split())
    assert said.startswith("device write amplification 10.00: 16,000 KiB programmed for 1,600 KiB written")
    assert said.endswith("1,000 programs and 62 erases; 60 merges copied 900 pages (14,400 KiB)")


def test_without_merges_the_device_writes_what_it_is_given() -> None:
    found = flashsim.wear(parameters("emmc-5.0"), counters(merges=0, unit_switches=0, erases=0))
    assert found is not None
    assert (found["write_amplification"], found["merge_programs"], found["erases"]) == (1, 0, 0)
    gc = counters(merges=0, unit_switches=0, gc_bytes=1_638_400, free_blocks=39)
    collected = flashsim.wear(parameters("emmc-5.0"), gc)
    assert collected is not None and collected["write_amplification"] == 2
    assert "merges" not in " ".join(terminal.flash(found))
    said = " ".join(" ".join(terminal.flash(collected)).split())
    assert said.endswith("garbage collection copied 1,600 KiB; 39 blocks free at the end")


def test_partial_merges_and_padding_count() -> None:
    """A device's own counters, if it has them: 8 partial merges copy 10 pages, padding is programmed too."""
    busy = 8 * 3_000_000 + 10 * (210_000 + 1_265_000)
    own = counters(
        merges=0, unit_switches=0, merge_busy_ns=busy, partial_merges=8, padding_bytes=1_638_400, erases=0
    )
    found = flashsim.wear(parameters(), own)
    assert found is not None
    assert (found["merge_programs"], found["erases"], found["write_amplification"]) == (10, 8, 2.1)
    said = " ".join(" ".join(terminal.flash(found)).split())
    assert "3,360 KiB programmed, 1,600 KiB of it padding, for 1,600 KiB written" in said
    assert said.endswith("0 merges and 8 partial ones copied 10 pages (160 KiB)")


def test_a_lifetime_is_the_endurance_over_what_a_transaction_programs() -> None:
    """16 GB, 3000 times: 100 transactions program 16.384 MB."""
    found = flashsim.wear(parameters(), counters(merge_busy_ns=60 * (3_000_000 + 15 * 1_475_000) + 6_000_000))
    assert found is not None and found["programmed_bytes"] == 16_384_000
    profile = {"endurance": {"gb": 16, "cycles": 3000}}
    left = totals.lifetime(found, 100, profile)
    assert left is not None
    assert left["transactions"] == 48e12 / 163_840
    assert totals.gb_a_day(left["host_bytes_per_transaction"], 2) == 2 * 16384 * 86400 / 1e9
    said = terminal.lasts({**found, "lifetime": left})
    assert said == (
        "one such transaction a second writes 1.42 GB a day and wears 16 GB of 3,000 cycles out in 9.28 years"
    )
    assert totals.lifetime(found, 100, {}) is None
    assert terminal.lasts(found) == ""
