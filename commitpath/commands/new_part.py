"""`make new KIND=… NAME=…`: write files of a new engine, filesystem, device, …, a commented example to run.

A skeleton is a folder of commitpath/skeletons/ with the files of a part at their places in the tree. NAME
in a path and {{NAME}} in a file are replaced; {{UPPER}} is the name in capitals.
"""

import keyword
import os
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from base import scratch
from base.errors import BadInputError
from base.paths import ROOT
from commitpath.cells import observers
from commitpath.cells.axes import axes, probe_names
from commitpath.command_line import variables
from commitpath.host import places

SKELETONS = ROOT / "commitpath/skeletons"
# For a Python module, a registered C file and a sourced shell script.
IN_CODE = (re.compile("[a-z][a-z0-9_]*"), "lower-case letters, digits and _, the first a letter")
IN_DATA = (re.compile("[a-z0-9]+([._-][a-z0-9]+)*"), "lower-case letters and digits, between them also . _ -")
# NAME_MAX of Linux, less the affixes of scratch files, suffixes and cell names
LONGEST = 64
# Words with a meaning in lists of names (PROBES=all,NAME; PROBES=none).
WORDS = ("all", "none", "fs", "op")


@dataclass(frozen=True)
class Kind:
    """One kind of part: the rule of its name, and the command to run next."""

    names: tuple[re.Pattern[str], str]
    following: str
    # the axis that gets a new value
    axis: str = ""


KINDS = {
    "engine": Kind(IN_CODE, "make experiment ENGINE={} ROWS=1000 N=20", "engine"),
    "workload": Kind(IN_CODE, "make experiment WORKLOAD={} ROWS=1000 N=20", "workload"),
    "filesystem": Kind(IN_CODE, "make plan FS={}", "fs"),
    "device": Kind(IN_DATA, "make plan DEVICE={}", "device"),
    "observer": Kind(IN_CODE, "make experiment PROBES=all,{} ROWS=1000 N=20"),
    "figure": Kind(IN_DATA, "make sweep GRID=quick, then make figure NAME={0} FIGURE={0}.svg"),
}


def new(options: dict[str, str]) -> None:
    """Write the part's files, all of them or none; print them and the next command."""
    if missing := [name for name in ("KIND", "NAME") if not options.get(name)]:
        raise variables.missing("new", missing)
    kind, name = options["KIND"], options["NAME"]
    check_name(kind, name)
    skeleton = SKELETONS / kind
    sources = sorted(path for path in skeleton.rglob("*") if path.is_file() and path.suffix != ".pyc")
    files = {}
    for source in sources:
        path = source.relative_to(skeleton)
        check_place(path, name)
        text = source.read_text(encoding="utf-8").replace("{{NAME}}", name).replace("{{UPPER}}", name.upper())
        files[Path(str(path).replace("NAME", name))] = text
    write(files)
    print("\n".join(str(path) for path in files))
    print(f"next: {KINDS[kind].following.format(name)}")


def check_name(kind: str, name: str) -> None:
    """Refuse a name that its files could not have, or that is taken."""
    pattern, allowed = KINDS[kind].names
    if not pattern.fullmatch(name) or len(name) > LONGEST:
        raise BadInputError(f"NAME={name}: it may have {allowed}, at most {LONGEST} characters")
    axis = KINDS[kind].axis
    taken = {
        **dict.fromkeys(WORDS, "a word of commitpath's"),
        **(dict.fromkeys(keyword.kwlist, "a word of Python's") if pattern is IN_CODE[0] else {}),
        **(dict.fromkeys(axes()[axis].choices(), f"a value of {axis.upper()}") if axis else {}),
        # PROBES names both
        **(dict.fromkeys(probe_names(), "a probe") if kind == "observer" else {}),
        **(dict.fromkeys(observers.names(), "an observer") if kind == "filesystem" else {}),
        **(dict.fromkeys(documents(), "a member of a run's documents") if kind == "engine" else {}),
    }
    if name in taken:
        raise BadInputError(f"NAME={name}: it is {taken[name]} already; name another")


def documents() -> list[str]:
    """Return the members of the documents that have a member named after the engine."""
    schema = yaml.safe_load((ROOT / "analysis/schema.yml").read_text(encoding="utf-8"))["$defs"]
    return [member for document in ("config", "manifest") for member in schema[document]["properties"]]


def check_place(path: Path, name: str) -> None:
    """Refuse a file of a skeleton that exists in the tree, or cannot be written."""
    for part in (path, *path.parents):
        place = ROOT / str(part).replace("NAME", name)
        if "NAME" in part.name and os.path.lexists(place):
            raise BadInputError(f"NAME={name}: {place.relative_to(ROOT)} exists already; name another")
    places.check_writable(ROOT / str(path.parent).replace("NAME", name), "make new writes into the checkout")


def write(files: dict[Path, str]) -> None:
    """Write all files; where one cannot be written, remove those that were, and their folders."""
    made: list[Path] = []
    try:
        for path, text in files.items():
            place = ROOT / path
            made += [folder for folder in reversed(place.parents) if not folder.exists()]
            place.parent.mkdir(parents=True, exist_ok=True)
            with scratch.whole(place) as part:
                part.write_text(text, encoding="utf-8")
                if os.path.lexists(place):
                    raise BadInputError(f"{path} exists already; nothing is overwritten")
            made.append(place)
    except BaseException:
        for path in reversed(made):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)
        raise
