"""Compare a calibration of a simulated device (playbooks/board/calibrate.sh) with its profile's sources."""

from typing import Any

# measures that time a write and its sync together
PAIRS = ("write_fdatasync_4k",)


def measure(name: str, entry: dict[str, Any]) -> dict[str, float]:
    """Return latency (us), IOPS and MB/s of a measure."""
    job = entry["fio"]["jobs"][0]
    side = job["write" if name.startswith("write") else "read"]
    seconds = side["runtime"] / 1000
    iops = side["total_ios"] / seconds if name in PAIRS else side["iops"]
    latency = 1e6 / iops if name in PAIRS else side["lat_ns"]["mean"] / 1000
    return {"us": latency, "IOPS": iops, "MB/s": side["io_bytes"] / seconds / 1e6}


def causes(entry: dict[str, Any]) -> str:
    """Return the four largest causes of time, in percent, from the device's counters."""
    times = {k[5:-3]: v for k, v in entry["stats"].items() if k.startswith("time_") and k != "time_ns" and v}
    total = sum(times.values())
    ranked = sorted(times.items(), key=lambda item: -item[1])[:4]
    return ", ".join(f"{name} {100 * value / total:.0f} %" for name, value in ranked)


def table(profile: dict[str, Any], raw: dict[str, Any]) -> list[str]:
    """Return the lines of two tables: all measures, and those with a source."""
    lines = [f"{'measure':28} {'us':>10} {'IOPS':>9} {'MB/s':>8}  device's time"]
    results = {name: measure(name, entry) for name, entry in raw.items()}
    for name, result in results.items():
        values = f"{result['us']:10.1f} {result['IOPS']:9.0f} {result['MB/s']:8.2f}"
        lines.append(f"{name:28} {values}  {causes(raw[name])}")
    lines += ["", f"{'source':28} {'unit':>5} {'wanted':>9} {'measured':>9} {'off':>7}  from"]
    for source in profile["sources"]:
        got = results[source["measure"]][source["unit"]]
        off = f"{100 * (got / source['value'] - 1):+.1f} %"
        wanted = f"{source['unit']:>5} {source['value']:9g} {got:9.4g} {off:>7}"
        lines.append(f"{source['measure']:28} {wanted}  {source['source']}")
    return lines
