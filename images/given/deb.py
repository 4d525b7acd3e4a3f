"""Inspect the arm64 kernel of KERNEL=deb:<file>: release, config, hash, if modules can be built for it.

The file is a package linux-image-<release>, by Debian or `make bindeb-pkg`. The packages needed to build
modules are looked for in the same folder: linux-headers-<release> and, for Debian's, its dependencies, each
with the same version.
"""

import glob
import hashlib
import io
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from base.errors import BadInputError, LabError
from images.given import Found, release_of

FIELDS = ("Package", "Version", "Architecture", "Depends")
# dependencies of a headers' package that build modules
TOOLS = re.compile(r"\b(linux-(?:headers|kbuild)-[^ ,:(]+)")
# e_machine of ELF
MACHINES = {b"\xb7\x00": "arm64", b"\x3e\x00": "amd64"}
FIXDEP = "scripts/basic/fixdep"
# bytes; Debian's config has 300 000
MOST_CONFIG = 16 << 20


def look(path: Path) -> Found:
    """Inspect the kernel in a package. BadInputError if there is none for the board."""
    if not path.is_file():
        raise BadInputError("no such file; it must be a package linux-image-<release> for arm64")
    fields = control(path)
    if fields["Architecture"] != "arm64":
        raise BadInputError(f"a package for {fields['Architecture']}; the board is arm64")
    release, config = boot_files(path)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    what = f"{fields['Package']} {fields['Version']}"
    return Found(what, release, digest, config, without_modules(path, release))


def parts(path: Path, found: Found) -> list[str]:
    """Return the packages that deb.sh unpacks."""
    more, _ = ([], None) if found.no_modules else headers(path, found.release)
    return [str(package) for package in (path, *more)]


def control(path: Path) -> dict[str, str]:
    """Return some fields of a package."""
    line = ["dpkg-deb", "-W", "--showformat=" + "".join(f"${{{name}}}\n" for name in FIELDS), str(path)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise LabError(f"dpkg-deb: {error.strerror}; `make host` installs it") from error
    if done.returncode:
        message = (done.stderr.strip().splitlines() or ["nothing"])[-1].rpartition(": ")[2]
        raise BadInputError(f"not a Debian package (dpkg-deb: {message})")
    return dict(zip(FIELDS, done.stdout.split("\n"), strict=False))


def members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield (name, content) of a package's files in order; the caller may stop early."""
    line = ["dpkg-deb", "--fsys-tarfile", str(path)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        with tarfile.open(fileobj=process.stdout, mode="r|") as tar:
            for member in tar:
                # a hard link's target may be in another package
                content = tar.extractfile(member) if member.isreg() else None
                yield member.name.removeprefix("./"), content or io.BytesIO()
    except tarfile.TarError as error:
        raise BadInputError(f"{path.name} cannot be unpacked: {error}") from error
    finally:
        process.kill()
        process.communicate()


def boot_files(path: Path) -> tuple[str, str]:
    """Return (release, config) of the kernel in a package: its files come first."""
    release = config = None
    for name, content in members(path):
        if name.startswith("boot/vmlinuz-"):
            release = release_of(name.removeprefix("boot/vmlinuz-"), path.name)
        elif name.startswith("boot/config-"):
            text = content.read(MOST_CONFIG + 1)
            if len(text) > MOST_CONFIG:
                raise BadInputError(f"{name} of {path.name} has more than {MOST_CONFIG >> 20} MiB")
            config = text.decode(errors="replace")
        if release and config:
            return release, config
    missing = "kernel in it (boot/vmlinuz-<release>)" if release is None else f"boot/config-{release} in it"
    raise BadInputError(
        f"there is no {missing}; a package linux-image-<release> has one, except Debian's 7.x kernels, "
        "which are several packages; use KERNEL=7.x"
    )


def without_modules(path: Path, release: str) -> str | None:
    """Return why no module can be built for the kernel in a package, or None if one can."""
    found, lacking = headers(path, release)
    if lacking:
        return lacking
    for package in found:
        for name, content in members(package):
            if name.endswith(FIXDEP):
                machine = MACHINES.get(content.read(20)[18:], "another machine")
                if machine != host():
                    return f"{FIXDEP} of {package.name} is a program for {machine}; this host is {host()}"
                return None
    return f"there is no {FIXDEP} in {', '.join(package.name for package in found)}"


def headers(path: Path, release: str) -> tuple[list[Path], str | None]:
    """Return the packages that modules are built with, and the missing ones in words."""
    version = control(path)["Version"]
    wanted = [f"linux-headers-{release}"]
    found: dict[str, Path] = {}
    while wanted:
        name = wanted.pop()
        # kbuild's programs run on this host
        architectures = {"all", host() if name.startswith("linux-kbuild-") else "arm64"}
        for other in sorted(path.parent.glob(f"{glob.escape(name)}_*.deb")):
            fields = control(other)
            if fields["Version"] == version and fields["Architecture"] in architectures:
                found[name] = other
                more = TOOLS.findall(fields["Depends"])
                wanted += [name for name in more if name not in found and name not in wanted]
                break
        else:
            return [], f"{name}_{version}_*.deb is not in the same folder"
    return list(found.values()), None


def host() -> str:
    """Return this host's architecture."""
    done = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    return done.stdout.strip()
