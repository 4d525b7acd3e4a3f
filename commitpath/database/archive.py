"""Write and unpack the tar of `make export` (results.sqlite and run folders); check hashes and members."""

import gzip
import lzma
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from analysis.run_files import derived, stored_files
from analysis.run_files.reading import read_document
from base import raw_files
from base.errors import BadInputError, FileError, LabError
from commitpath.database.store import LABEL

DATABASE = "results.sqlite"
# of a run's folder: files and folders; what an analysis wrote may be missing
DOCUMENTS = ("cell.json", "host.json", *(name for name in derived.OUTPUTS if "." in name))
FOLDERS = ("raw", "twin", "crash", *(name for name in derived.OUTPUTS if "." not in name))
# limits of a file, and of all files
FILE_BYTES, ALL_BYTES = 2**30, 2**34


def add(archive: tarfile.TarFile, folder: Path, name: str) -> None:
    """Add a run's files under a name: its analysis, too, unless a file of that changed.

    Raises LabError if raw files changed since they were stored.
    """
    try:
        hashes = raw_files.hashes(folder)
        stored_files.compare(folder, hashes, stored_hashes(folder))
        for file in ("cell.json", "host.json"):
            stored_files.check_own(folder, file)
        analysed = [] if derived.whole_fault(folder) else outputs(folder)
    except FileError as error:
        raise LabError(f"{error}; nothing was exported") from error
    for file in ("cell.json", "host.json", *hashes, *analysed):
        if (folder / file).stat().st_size > FILE_BYTES:
            raise LabError(f"{folder / file}: more than {FILE_BYTES} bytes: no import takes it")
        archive.add(folder / file, f"{name}/{file}", recursive=False)


def outputs(folder: Path) -> list[str]:
    """Return the names of the files that the analysis wrote."""
    paths = [path for name in derived.OUTPUTS for path in (folder / name, *(folder / name).rglob("*"))]
    return [str(path.relative_to(folder)) for path in paths if path.is_file() and not path.is_symlink()]


def stored_hashes(folder: Path) -> dict[str, str]:
    """Return the stored hashes of a run's files. FileError without them."""
    hashes: dict[str, str] | None = read_document(folder / "host.json", "host").get("raw_sha256")
    if not hashes:
        raise FileError(folder / "host.json", "raw_sha256", "it is missing", "the hashes of the run's files")
    return hashes


def unpack(source: Path, into: Path) -> None:
    """Unpack the files of an archive. BadInputError at any other member."""
    try:
        with tarfile.open(source) as archive:
            for member in _checked(source, archive):
                path = into / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                # a second member of a name fails
                with path.open("xb") as file:
                    if data := archive.extractfile(member):
                        shutil.copyfileobj(data, file)
    except (FileExistsError, NotADirectoryError):
        raise BadInputError(f"{source}: {member.name!r} is in it twice; nothing was imported") from None
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        why = str(error).partition("\n")[0].removesuffix(":")
        raise BadInputError(
            f"{source}: not an export, or a damaged one ({why}); nothing was imported"
        ) from None
    if not (into / DATABASE).is_file():
        raise BadInputError(f"{source}: not an export: {DATABASE} is missing; nothing was imported")


def _checked(source: Path, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the files of an archive. BadInputError at a member that an import refuses."""
    size = 0
    for member in archive:
        if member.isdir():
            continue
        size += member.size
        if wrong := _fault(member, size):
            raise BadInputError(f"{source}: {member.name[:200]!r} {wrong}; nothing was imported")
        yield member


def _fault(member: tarfile.TarInfo, size: int) -> str | None:
    """Return why a member is refused, or None. size: bytes of all members up to its end."""
    lab, *below = parts = member.name.split("/")
    if not member.isreg() or member.issparse():
        return "is a link, a sparse file, or no file"
    if member.size > FILE_BYTES or size > ALL_BYTES:
        return f"is larger than {FILE_BYTES} bytes, or all are than {ALL_BYTES}"
    if not member.name.isprintable() or any(part in ("", ".", "..") or len(part) > 200 for part in parts):
        return "would be outside its folder, or is not a valid file name"
    of_run = below[2:3] and below[2] in (DOCUMENTS if len(below) == 3 else FOLDERS)
    if member.name != DATABASE and not (of_run and re.fullmatch(LABEL, lab)):
        return f"is neither {DATABASE} nor a file of a run, LAB/CELL/RUN/…"
    return None
