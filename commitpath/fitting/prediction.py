"""Compare held-out commands' times with a fitted device's; keep other fits as good; list measured rates."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from commitpath.fitting.candidate import Candidate
from commitpath.fitting.device_fit import ALIKE, Result
from commitpath.fitting.experiment_lists import EXPERIMENTS
from commitpath.fitting.held_out import SEQUENCES
from commitpath.fitting.intervals import misfit
from commitpath.fitting.joint_fit import Fit, Problem, divided, problem
from commitpath.fitting.measurement import Measurement
from commitpath.fitting.profile_text import Source

# reads that end so much later than predicted were interrupted
LATE_NS, LATE_TIMES = 1e6, 5
READS = ("map reads", "read sizes", "read pages")


@dataclass(frozen=True)
class Predicted:
    """A sequence: its commands, measured and predicted time, ns."""

    name: str
    commands: int
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """Return the relative error of the prediction."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class Prediction:
    """All sequences; the share of commands that the host interrupted, and the mean time of that."""

    sequences: tuple[Predicted, ...]
    interrupted: float
    interruption_ns: float


def predict(measurement: Measurement, fitted: Candidate) -> Prediction:
    """Replay a measurement on a fitted device. Interruptions, as seen in reads, are added to each command."""
    predicted, _ = fitted.replay(measurement)
    measured = measurement.latency_ns.astype(float)
    reads = measurement.among(*READS)
    rest = measured[reads] - predicted[reads]
    late = rest > np.maximum(LATE_NS, LATE_TIMES * predicted[reads])
    share, each = float(late.mean()), float(rest[late].mean()) if late.any() else 0.0

    def sequences() -> Iterator[Predicted]:
        for name in SEQUENCES:
            which = measurement.among(name)
            # its first commands are those that empty the device: a FLUSH of its cache, a read
            which[np.flatnonzero(which)[: 2 if measurement.facts.write_cache else 1]] = False
            number = int(which.sum())
            yield Predicted(
                name,
                number,
                float(measured[which].sum()),
                float(predicted[which].sum()) + number * share * each,
            )

    return Prediction(tuple(sequences()), share, each)


def held_out(measurement: Measurement) -> Problem:
    """Return the held-out sequences as cells: the commands of one operation and size in each."""
    rows = [replace(row, cell=f"{row.op} {row.size}", mean=True) for row in measurement.rows]
    named = replace(measurement, rows=rows)
    return problem(named, divided(named, np.zeros(len(rows), int), *EXPERIMENTS))


def confirmed(measurement: Measurement, result: Result) -> dict[tuple[str, int], Candidate]:
    """Return the other fits of a device that meet the held-out sequences as well."""
    posed = held_out(measurement)
    own = Fit(result.candidate, posed.cost(result.candidate), len(posed.cells.names))
    most = own.cost + ALIKE * misfit(posed, own, 0)
    return {part: one for part, one in result.others.items() if posed.cost(one) < most}


def sources(measurement: Measurement) -> list[Source]:
    """Return what was measured of a device, by the names of `make calibrate`."""
    latency, rows = measurement.latency_ns.astype(float), measurement.rows
    data = np.array([row.op == "w" for row in rows])

    def mean_us(which: np.ndarray) -> float:
        return float(latency[which].mean()) / 1000

    writes = mean_us(measurement.among("random write 4 KiB, 100 MiB") & data)
    synced = measurement.among("4 KiB + FLUSH")
    first = np.flatnonzero(synced)[:2]
    synced[first] = False
    pair = float(latency[synced].sum()) / (synced & data).sum() / 1000
    tail = np.flatnonzero(measurement.among("sustained") & data)[-32:]
    rate = sum(rows[number].size for number in tail) / (latency[tail].sum() / 1e9) / 1e6
    # the range that is nearest to the 100 MiB of `make calibrate`: more of the map may be read there
    reads = mean_us(measurement.cells == "map reads: 128 MiB")
    return [
        Source("read_random_4k_qd1", reads, "us"),
        Source("write_random_4k_qd1", writes, "us"),
        Source("write_fdatasync_4k", pair, "us"),
        Source("write_sustained", rate, "MB/s", 256),
    ]
