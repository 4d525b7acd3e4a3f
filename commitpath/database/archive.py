"""Run folders in a tar archive: LAB/CELL NAME/RUN ID/…, with the database of their lab, results.sqlite."""

import gzip
import lzma
import re
import shutil
import tarfile
import zlib
from pathlib import Path

from analysis import stored_files
from analysis.files import read_document
from base.errors import BadInput, BadInputError, LabError
from commitpath.database.store import LABEL

DATABASE = "results.sqlite"
# of a run's folder; the rest is what an analysis makes of these
DOCUMENTS, EVIDENCE = ("cell.json", "host.json"), ("raw", "twin", "crash")


def add(archive: tarfile.TarFile, folder: Path, name: str) -> None:
    """Add a run's documents and raw files under a name. LabError where these are not as they were stored."""
    try:
        found = stored_files.hashes(folder)
        stored_files.compare(folder, found, stored_hashes(folder))
        for file in DOCUMENTS:
            stored_files.check_own(folder, file)
    except BadInput as error:
        raise LabError(f"{error}; nothing was exported") from error
    for file in (*DOCUMENTS, *found):
        archive.add(folder / file, f"{name}/{file}", recursive=False)


def stored_hashes(folder: Path) -> dict[str, str]:
    """Return the hashes that a run's files were stored with. BadInput where there are none."""
    hashes: dict[str, str] | None = read_document(folder / "host.json", "host").get("raw_sha256")
    if not hashes:
        raise BadInput(folder / "host.json", "raw_sha256", "it is missing", "the hashes of the run's files")
    return hashes


def unpack(source: Path, into: Path) -> None:
    """Write the files of an archive to a folder of ours. Raises BadInputError at anything else in it."""
    try:
        with tarfile.open(source) as archive:
            for member in archive:
                if member.isdir():
                    continue  # it is made with the files in it
                if not is_exported(member):
                    raise BadInputError(
                        f"{source}: {member.name!r} is neither {DATABASE} nor a file of a run, "
                        "LAB/CELL/RUN/…; nothing was imported"
                    )
                path = into / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    if data := archive.extractfile(member):
                        shutil.copyfileobj(data, file)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        why = str(error).partition("\n")[0].removesuffix(":")
        raise BadInputError(f"{source}: no export, or a damaged one ({why}); nothing was imported") from None
    if not (into / DATABASE).is_file():
        raise BadInputError(f"{source}: no export: there is no {DATABASE} in it; nothing was imported")


def is_exported(member: tarfile.TarInfo) -> bool:
    """Return whether a member is a plain file that an export has, and stays in its folder."""
    lab, *below = parts = member.name.split("/")
    if not member.isreg() or {"", ".", ".."} & {*parts}:
        return False
    of_run = below[2:3] and below[2] in (DOCUMENTS if len(below) == 3 else EVIDENCE)
    return member.name == DATABASE or bool(of_run and re.fullmatch(LABEL, lab))
