"""`make profile`: time commands on a device, fit the flash model, write a profile, test its predictions."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from base import scratch
from base.errors import BadInputError, LabError
from base.paths import EXPERIMENTS, RESULTS
from base.progress import step
from base.text import printable_lines
from commitpath.cells import data_files
from commitpath.cells.axes import axes
from commitpath.cells.profiles import load_profile, schemas, with_whole
from commitpath.fitting import device_fit, measurement, prediction, profile_text
from commitpath.fitting.candidate import PLAIN, TIMES, Candidate
from commitpath.fitting.device_fit import Result
from commitpath.fitting.experiment_lists import MIB, SPAN, Facts, written_bytes
from commitpath.fitting.measurement import Measurement, planned
from commitpath.host import ansible
from commitpath.run import device_measurement
from commitpath.run.curves import host_time
from images.flash_model import FlashModel

NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}")
# commands of one kind differ by so much on a board that is too noisy to fit
MOST_JITTER = 0.25
# reads that end late by this share: with more, devices are predicted less well (profile-fit.md)
MOST_INTERRUPTED = 0.01


def profile(variables: dict[str, str]) -> None:
    """Measure or read, fit, write, and print how well held-out sequences are predicted."""
    given = dict(variables)
    path = new_profile(given.get("NAME", ""))
    if ("FILE" in given) == ("BOARD" in given):
        raise BadInputError("make profile takes BOARD=<a board> to measure, or FILE=<a measurement.json>")
    if ("DEVICE" in given) != (given.get("BOARD") == "virtual"):
        raise BadInputError("BOARD=virtual needs DEVICE=<a profile>; any other board has its own device")
    folder = RESULTS / f"profile-{path.stem}"
    if "FILE" in given:
        if "HOST_NS" in given:
            raise BadInputError("HOST_NS is for BOARD: the file has its measurement's")
        where, measured = given["FILE"], measurement.load(Path(given["FILE"]))
    else:
        where, measured = f"BOARD={given['BOARD']}", measure(given)
        folder.mkdir(parents=True, exist_ok=True)
        measurement.save(folder / "measurement.json", measured)
        print(f"kept in {folder}/measurement.json")
    with step("fit the flash model"):
        result = device_fit.fit(measured)
    predicted = prediction.predict(measured, result.candidate)
    check_noise(where, result, predicted)
    others = prediction.confirmed(measured, result)
    written = write(path, where, measured, result, others)
    truth = load_profile("device", given["DEVICE"]) if "DEVICE" in given else None
    lines = [*parameter_lines(result, truth), "", *prediction_lines(predicted), f"written to {path}"]
    lines += ["other fits that are as good there; ROBUST=yes of `make reproduce` runs them:"]
    for file, other in zip(written[1:], others.values(), strict=True):
        its = prediction.predict(measured, other).sequences
        lines.append(f"  {file.stem}: errors {', '.join(f'{one.error:+.1%}' for one in its)}")
    lines += [] if others else ["  none"]
    print(printable_lines(lines))


def new_profile(name: str) -> Path:
    """Return the file of a new profile. BadInputError if the name is not allowed, or taken."""
    if not NAME.fullmatch(name):
        raise BadInputError(f"NAME={name}: a name of small letters, digits, `-` and `.` is needed")
    files = axes()["device"].files()
    # its other fits begin with its name
    if taken := sorted(other for other in files if f"{other}-".startswith(f"{name}-")):
        raise BadInputError(f"NAME={name}: {files[taken[0]]} exists; remove it, or give another name")
    return EXPERIMENTS / "device" / f"{name}.yml"


def measure(given: Mapping[str, str]) -> Measurement:
    """Measure the device of BOARD, after a line on what that overwrites."""
    own_time = host_time(given.get("HOST_NS"))
    entry = ansible.board(given["BOARD"])
    size = int(entry.get("board_device_bytes", SPAN))
    if size < SPAN:
        raise BadInputError(
            f"BOARD={given['BOARD']}: its partition has {size // MIB} MiB, at least {SPAN // MIB} MiB are "
            "needed"
        )
    # a FLUSH follows each write that is to last if the device has a cache and no FUA
    kinds = [planned(Facts(SPAN, 512, True, fua, True, own_time))[1] for fua in (False, True)]
    commands, mib = max(map(len, kinds)), max(map(written_bytes, kinds)) // MIB
    print(
        f"up to {commands} commands follow, with up to {mib} MiB of writes; all that the partition holds is "
        "lost",
        flush=True,
    )
    return device_measurement.measure(given["BOARD"], given.get("DEVICE", ""), entry, own_time)


def check_noise(where: str, result: Result, predicted: prediction.Prediction) -> None:
    """Raise LabError if the measurement is too noisy to fit."""
    if result.jitter > MOST_JITTER:
        raise LabError(
            f"{where} is too noisy: commands of one kind differ by {result.jitter:.0%}, "
            f"at most {MOST_JITTER:.0%} can be fitted"
        )
    if predicted.interrupted > MOST_INTERRUPTED:
        raise LabError(
            f"{where}: {1000 * predicted.interrupted:.0f} of 1000 reads end over 1 ms later than the fit "
            f"predicts, at most {1000 * MOST_INTERRUPTED:.0f} may: other work, or a device unlike the model"
        )


def write(
    path: Path, where: str, measured: Measurement, result: Result, others: Mapping[tuple[str, int], Candidate]
) -> list[Path]:
    """Write the profile, checked as any other, then its other fits; return their files."""
    name, facts = path.stem, measured.facts
    whole = profile_text.text(
        name, f"fitted to a measurement, {where}", result, facts, prediction.sources(measured),
        f"make profile NAME={name}, {where}; with the host's time in it",
    )  # fmt: skip
    texts = {path: whole}
    for part, other in others.items():
        file = path.with_name(f"{name}-{part[0].replace('_', '-')}-{part[1]}.yml")
        texts[file] = profile_text.other_text(name, part, result, other, facts)
    for file, text in texts.items():
        content = with_whole(yaml.safe_load(text), yaml.safe_load(whole))
        for place, schema in schemas("device", content):
            data_files.check(file, content, schema, place)
        FlashModel(content)
    for file, text in texts.items():
        scratch.write(file, text)
    return [*texts]


def parameter_lines(result: Result, truth: Mapping[str, Any] | None) -> list[str]:
    """Return a line for each parameter of the device. truth: the profile of the measured device."""
    undecided = profile_text.unidentified(result)
    lines = [
        f"{'parameter':20} {'fitted':>12}  {'interval, or what fits as well':32}"
        f"{'measured profile' if truth else ''}"
    ]
    for name in (*PLAIN, *TIMES):
        value = result.candidate.value(name)
        if not value and name not in result.intervals:
            continue
        shown = ""
        if name in result.intervals:
            shown = " to ".join(f"{bound:.0f}" for bound in result.intervals[name])
        elif name in undecided:
            shown = profile_text.as_good(name, result)
        mark = " (not decided)" if name in undecided else ""
        was = ({**truth["geometry"], **truth["timing"]}).get(name, "") if truth else ""
        lines.append(f"{name:20} {value:12}  {shown + mark:32}{was}".rstrip())
    given = profile_text.assumed(result.candidate)
    lines.append(f"not measured, assumed: {', '.join(f'{name} {value}' for name, value in given.items())}")
    if result.candidate.phase:
        lines.append(profile_text.place(result) or f"phase {result.candidate.phase}")
    return lines


def prediction_lines(predicted: prediction.Prediction) -> list[str]:
    """Return the error of each held-out sequence."""
    lines = [f"{'held out':36} {'commands':>9} {'measured':>12} {'predicted':>12} {'error':>8}"]
    for one in predicted.sequences:
        lines.append(
            f"{one.name:36} {one.commands:9} {one.measured / 1e6:9.1f} ms {one.predicted / 1e6:9.1f} ms "
            f"{one.error:+8.1%}"
        )
    return [
        *lines,
        f"interruptions: {1000 * predicted.interrupted:.2f} in 1000 commands, of "
        f"{predicted.interruption_ns / 1e6:.1f} ms; they are in the prediction, and in no profile",
    ]
