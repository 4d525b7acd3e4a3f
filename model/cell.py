"""Class Cell: one complete configuration of a run, with a field for each axis of experiments/schema.yml.

docs/reference/formats.md describes the document under cell.json. `from_document` makes a cell from it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from base import identity
from base.errors import BadInputError
from base.schema import schema

Profile = Mapping[str, Any]
# The group of axes that have an effect only with a workload that has `mix`.
MIX = "mix of operations"
# Entries of watch.json, the cell of a watched command, in addition to axes.
_OF_COMMAND = ("load", "command", "files", "packages")


@dataclass(frozen=True)
class Cell:
    """A configuration. `dataclasses.replace` changes an axis."""

    board: str
    board_number: int
    clock: str
    cpu_ns: int
    kernel: str
    device: str
    device_state: str
    fs: str
    mkfs_options: str
    mount_options: str
    engine: str
    journal_mode: str
    synchronous: str
    sqlite: str
    page_size: int
    cache_size: int
    wal_autocheckpoint: int
    journal_size_limit: int
    mmap_size: int
    auto_vacuum: str
    secure_delete: str
    temp_store: str
    locking_mode: str
    cache_spill: str
    held_reader: str
    writers: str
    busy_timeout: int
    checksums: str
    log_size: int
    log_full: int
    dirty_pages: int
    log_medium: str
    pcm_line: int
    pcm_write_ns: int
    not_repeatable: str
    checkpoint_write: str
    recovery_rule: str
    sector_size: int
    page_record: str
    sync_every: int
    background: str
    write_buffer_size: int
    max_file_size: int
    block_cache: int
    bloom_bits: int
    index_blocks: str
    wal_recovery_mode: str
    disable_wal: str
    cache_index_and_filter_blocks: str
    pin_l0_filter_and_index_blocks_in_cache: str
    map_size: int
    nosync: str
    nometasync: str
    writemap: str
    mapasync: str
    query_cache: int
    query_cache_place: str
    kv_form: str
    checkpoint_every: int
    workload: str
    file: str
    rows: int
    n: int
    value_size: int
    cache: str
    pace: str
    seed: int
    request_distribution: str
    insert_order: str
    value_size_distribution: str
    batch: int
    crash: str
    cuts: int
    cut_seed: int
    device_faults: str
    probes: str
    observers: str
    # content of the profiles that axes name, by axis
    profiles: Mapping[str, Profile]
    # what the run measures (base/identity.py), and of a watched command what it is given
    load: str = identity.DRIVER
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    # axes of another lab or version, which have no field here
    others: Mapping[str, Any] = field(default_factory=dict)
    # axes that the document lacks, because they came later or have no effect; the field has the default
    absent: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        """Return whether the cell's document has an axis of this name."""
        return (name in AXES and name not in self.absent) or name in self.others

    def value(self, name: str) -> Any:
        """Return the value of the axis with this name. Raises KeyError for an unknown one."""
        return getattr(self, name) if name in AXES else self.others[name]

    def axes(self) -> Iterator[tuple[str, Any]]:
        """Yield (name, value) of each axis that the document has."""
        yield from ((name, getattr(self, name)) for name in AXES if name not in self.absent)
        yield from self.others.items()

    def document(self) -> dict[str, Any]:
        """Return cell.json's object, or watch.json's, in its order and without `at_default`."""
        names = _OF_COMMAND if self.load == identity.COMMAND else ()
        more = {name: getattr(self, name) for name in names}
        return dict(sorted({**dict(self.axes()), **more, "profiles": self.profiles}.items()))


# Axes with values that are samples of one configuration.
SAMPLED = ("seed", "board_number")
_NO_AXES = {"profiles", *_OF_COMMAND, "others", "absent"}
# Axes in the schema's order, and the type of each.
AXES: dict[str, type] = {axis.name: axis.type for axis in fields(Cell) if axis.name not in _NO_AXES}  # type: ignore[misc]


def from_document(document: Mapping[str, Any]) -> Cell:
    """Return the cell of a document, stored or not. An axis that it lacks has the schema's default.

    Raises BadInputError for an axis of another type. Whether a board could run it is not checked.
    """
    specs = schema()["properties"]
    values = {name: document.get(name, specs[name]["default"]) for name in AXES}
    for name, kind in mistyped(document):
        raise BadInputError(f"cell: {name}: {document[name]!r} is not {kind}")
    names = _OF_COMMAND if identity.load(document) == identity.COMMAND else ()
    without = {*AXES, *names, "profiles", "at_default"}
    return Cell(
        **values,
        **{name: document[name] for name in names if name in document},
        profiles=document["profiles"],
        others={name: value for name, value in document.items() if name not in without},
        absent=frozenset(AXES.keys() - document.keys()),
    )


def sample(cell: Cell, run_id: str) -> tuple[int, int | str]:
    """Return the seed and the board of a run. Runs of a configuration with equal ones are one sample.

    In real time each run prepares its board afresh, so it is a board of its own.
    """
    return cell.seed, cell.board_number if cell.clock == "virtual" else run_id


def mistyped(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (axis, required type in words) of each axis of another type in a document."""
    for name, kind in AXES.items():
        if type(document.get(name, kind())) is not kind:
            yield name, "a whole number" if kind is int else "text"


def unused(cell: Cell) -> set[str]:
    """Return the axes without effect in a cell, by another axis's value (x-unless) or without a mix."""
    return {
        axis
        for axis, spec in schema()["properties"].items()
        if any(cell.value(other) in values for other, values in spec.get("x-unless", {}).items())
        or (spec["x-of"] == MIX and "mix" not in cell.profiles["workload"])
    }
