"""A write that is there once more, in all that recorded it."""

from __future__ import annotations

import numpy as np
from forged import Forged
from witnesses import Commands


def again(run: Forged, found: Commands, place: int) -> None:
    """Write once more what a command wrote, just after it."""
    one = found.of(place)
    end, later = int(run.records["end_ns"][place]), 1000
    by = end + later - int(run.records["c"][place])
    rows = np.sort(np.r_[one.bios, one.pages, [place]])
    copies = run.records[rows].copy()
    for field in ("begin_ns", "end_ns"):
        copies[field] += np.uint64(by)
    block = copies["type"] == run.records["type"][place]
    copies["c"][block] += np.uint64(by)
    top = int(run.records["d"][run.of("bio")].max()) + 1
    copies["d"][~block] += np.uint64(top)
    copies["d"][block] = int(run.records["d"][run.of("block")].max()) + 1
    run.records = np.insert(run.records, int(rows[-1]) + 1, copies)
    _by_time(run)
    run.count("write_ios", 1, end)
    run.count("write_sectors", int(copies["n"][block][0]), end)
    if one.traced.size:
        records, payloads = run.trace
        more = records[one.traced].copy()
        more["time"] += np.uint64(by)
        at = int(np.searchsorted(records["time"], more["time"][0]))
        new = [payloads[i] for i in one.traced.tolist()]
        run.trace = run.trace._replace(
            records=np.insert(records, at, more), payloads=payloads[:at] + new + payloads[at:]
        )
    if one.kept is not None:
        kept, data = run.content
        copy = kept[one.kept : one.kept + 1].copy()
        copy["time_ns"] += np.uint64(by)
        at = int(np.searchsorted(kept["time_ns"], copy["time_ns"][0]))
        whole = [*data[:at], data[one.kept], *data[at:]]
        run.content = run.content._replace(records=np.insert(kept, at, copy), data=whole)
    if one.entry is not None:
        entry = run.log[one.entry : one.entry + 1].copy()
        for field in ("begin_ns", "end_ns"):
            entry[field] += np.uint64(by)
        run.log = np.insert(run.log, int(np.searchsorted(run.log["begin_ns"], entry["begin_ns"][0])), entry)


def _by_time(run: Forged) -> None:
    """Number commands and bios by their times."""
    for names in (("block",), ("bio", "pages")):
        places = run.of(names[0])
        rows = run.records[places]
        order = np.lexsort((rows["d"], rows["begin_ns"]))
        new = dict(zip(rows["d"][order].tolist(), range(order.size), strict=True))
        for name in names:
            at = run.of(name)
            run.records["d"][at] = [new[serial] for serial in run.records["d"][at].tolist()]
