"""Fit parameters of a device profile to published numbers of the device, with the model on this host.

usage: python -m commitpath.run.fit_profile DEVICE=NAME[,NAME...] PARAMETERS=NAME[,NAME...] [HOST_NS=29000]
       [WITHOUT=MEASURE[@AT][,...]]

Several devices have the same fitted parameters: one device in two modes. Least squares of the logarithms
of computed to published, where large deviations count less (soft_l1). WITHOUT holds sources out. Prints the
parameters and the ratio of each source; writes no profile.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from base.errors import BadInputError, LabError
from base.text import did_you_mean
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile
from commitpath.run.curves import host_time, of_source

Profile = Mapping[str, Any]
LEAST = 1.0  # of a fitted parameter: a logarithm needs more than 0
STEP = 0.02  # of a derivative: the model's times are whole nanoseconds and commands


def with_timing(profile: Profile, values: Mapping[str, int]) -> Profile:
    """Return a profile with other timing."""
    return {**profile, "timing": {**profile["timing"], **values}}


def name_of(source: Mapping[str, Any]) -> str:
    """Return the name of a source: MEASURE, or MEASURE@AT for a point of a curve."""
    return f"{source['measure']}@{source['at']:g}" if "at" in source else str(source["measure"])


def fit(
    profiles: Sequence[Profile], names: Sequence[str], host_ns: int, without: Sequence[str] = ()
) -> dict[str, int]:
    """Return the timing parameters that minimise the deviation from the sources."""
    sources = [
        (number, source)
        for number, profile in enumerate(profiles)
        for source in profile["sources"]
        if name_of(source) not in without
    ]
    if len(sources) < len(names):
        raise BadInputError(f"{len(names)} parameters need as many sources; there are {len(sources)}")

    def timing(logarithms: np.ndarray) -> dict[str, int]:
        return {name: round(math.exp(x)) for name, x in zip(names, logarithms, strict=True)}

    def deviations(logarithms: np.ndarray) -> list[float]:
        tried = [with_timing(profile, timing(logarithms)) for profile in profiles]
        return [math.log(of_source(tried[n], source, host_ns) / source["value"]) for n, source in sources]

    first = [math.log(max(LEAST, profiles[0]["timing"][name])) for name in names]
    found = least_squares(deviations, first, diff_step=STEP, loss="soft_l1", f_scale=0.1, max_nfev=15)
    return timing(found.x)


def ratios(profile: Profile, host_ns: int) -> list[tuple[str, float]]:
    """Return the computed number of each source over the published one."""
    return [
        (name_of(source), of_source(profile, source, host_ns) / source["value"])
        for source in profile["sources"]
    ]


def main(words: Sequence[str]) -> int:
    """Read the words of the command line, fit, and print parameters and ratios."""
    given = dict(word.partition("=")[::2] for word in words)
    if set(given) - {"DEVICE", "PARAMETERS", "HOST_NS", "WITHOUT"} or not {"DEVICE", "PARAMETERS"} <= set(
        given
    ):
        raise BadInputError("expected DEVICE=, PARAMETERS=, and perhaps HOST_NS= and WITHOUT=")
    devices = given["DEVICE"].split(",")
    for device in devices:
        axes()["device"].parse(device, "DEVICE")
    profiles = [load_profile("device", device) for device in devices]
    names = given["PARAMETERS"].split(",")
    for name in names:
        if name not in profiles[0]["timing"]:
            timing = sorted(profiles[0]["timing"])
            raise BadInputError(f"PARAMETERS={name}: {did_you_mean(name, timing)}one of {', '.join(timing)}")
    host_ns = host_time(given.get("HOST_NS"))
    without = [name for name in given.get("WITHOUT", "").split(",") if name]
    known = sorted({name_of(source) for profile in profiles for source in profile["sources"]})
    if unknown := sorted(set(without) - set(known)):
        raise BadInputError(f"WITHOUT={unknown[0]}: no source has that name; there are {', '.join(known)}")
    values = fit(profiles, names, host_ns, without)
    for name, value in values.items():
        print(f"{name}: {value}")
    for device, profile in zip(devices, profiles, strict=True):
        for name, ratio in ratios(with_timing(profile, values), host_ns):
            out = "  held out" if name in without else ""
            print(f"{device:22} {name:28} {ratio:6.3f}{out}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(f"fit_profile: {error}")
