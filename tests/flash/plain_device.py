"""The parameters of a plain flash device that the model's tests change, and the error of refused ones."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A small plain device that tests change: no cache, no units, no garbage collection.
PLAIN = {
    "sectors": 4194304, "seed": 1, "block_bytes": 512, "queue_depth": 1, "write_cache": 0, "fua": 0,
    "exclusive": 0, "rel_sectors": 0, "meta_reliable": 0, "discard": 1, "command_ns": 100000,
    "read_command_ns": 0, "write_command_ns": 0, "bus_mb_s": 100, "dies": 2, "read_bytes": 16384,
    "read_ns": 60000, "program_bytes": 16384, "pad_bytes": 0, "program_ns": 1000000, "program_kib_ns": 0,
    "slc_program_ns": 0, "cache_kib": 0, "cache_reorder": 0, "flush_clean_ns": 0, "flush_dirty_ns": 0,
    "flush_dirty_kib_ns": 0, "fua_ns": 0, "discard_ns": 50000, "open_units": 0, "unit_kib": 4096,
    "log_kib": 0, "merge_ns": 0, "merge_spread_ns": 0, "erase_kib": 4096, "erase_ns": 3000000,
    "spare_permille": 70, "gc_blocks": 0, "fill_permille": 0, "overwrite_permille": 0, "map_kib": 0,
    "slc_mib": 0, "undo_kib": 65536,
}  # fmt: skip


class Refused(Exception):
    """The model does not take these parameters."""
