#!/usr/bin/env bash
# Make the Python environment for everything else, on Debian 12 or 13; install python3-venv if it is missing.
# usage: bootstrap.sh VENV
#
# It uses Debian's own Python, so that results do not depend on PATH. Every package is pinned with its hash
# (`make requirements`). pip installs requirements-build.txt, and uv of it the rest.
# Needs root only when Debian's python3 or python3-venv is missing. Writes nothing elsewhere: a VENV that is a
# link is the user's own environment, used unchanged. VENV/ready has the SHA-256 of what it was made of, as a
# clock that was wrong makes times of files useless.
set -euo pipefail
venv=$1
python=/usr/bin/python3
# as in commitpath/host/places.py, before there is a Python
case $PWD in
  *[:\${}]* | *[[:cntrl:]]*)
    echo "commitpath: this folder's path does not work: it may have any printable characters but : \$ { }" >&2
    exit 2 ;;
esac
if [ -L "$venv" ]; then
  if [ -x "$venv/bin/python" ]; then exit; fi
  echo "commitpath: $venv is a link, and there is no bin/python in what it leads to; without the link an environment is made" >&2
  exit 2
fi
# shellcheck source=/dev/null
host=$(. /etc/os-release 2> /dev/null && echo "${ID:-}${VERSION_ID:-} ${PRETTY_NAME:-}") || host='unknown a host without /etc/os-release'
case $host in
  'debian12 '* | 'debian13 '*) ;;
  *) echo "commitpath: ${host#* } is not Debian 12 or 13; with podman or docker, use \`make container\` and bin/commitpath --container TARGET (docs/how-to/container.md)" >&2
    exit 1 ;;
esac
# for another Python
for name in "${!PYTHON@}"; do unset "$name"; done
# pip's `user` would install elsewhere
export PIP_USER=0
trap 'echo "commitpath: the Python environment was not made (network? disk? ulimit -f?); see above" >&2' ERR
trap 'echo "commitpath: interrupted; the next call makes the Python environment" >&2; exit 130' INT TERM
sums=$(sha256sum requirements.txt requirements-build.txt "$0")
# quiet COMMAND...: show its output only if it fails
quiet() {
  local output
  output=$("$@" 2>&1) || { echo "$output" >&2; return 1; }
}

# A second concurrent first call waits. The lock is on a file of the checkout, so that nothing is left behind.
# NFS locks only what is open for writing, and a program that is open for writing cannot be started.
if [ -w requirements.txt ]; then exec 9<> requirements.txt; else exec 9< requirements.txt; fi
if ! flock --nonblock 9; then
  echo "make the Python environment: wait for another call that makes it …" >&2
  flock 9
  if cmp -s - "$venv/ready" <<< "$sums"; then exit; fi
fi

begin=$SECONDS
if ! "$python" -c 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
  echo "install python3-venv …" >&2
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get -qq update
  quiet $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends python3 python3-venv
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { echo "commitpath: needs Python 3.11 or newer; $("$python" --version) is there (Debian 12 or 13 have it)" >&2; exit 1; }
fi
echo "make the Python environment: a minute, 1.2 GB …" >&2
rm -f "$venv/ready"
quiet "$python" -m venv --clear "$venv"
pip=(quiet "$venv/bin/python" -m pip --disable-pip-version-check --no-input --no-cache-dir install --quiet --require-hashes)
"${pip[@]}" --only-binary :all: -r requirements-build.txt
# uv takes a quarter of pip's time, but reads none of its settings. PIP_QUIET would hide them.
settings=$(PIP_QUIET=0 "$venv/bin/python" -m pip --disable-pip-version-check config list)
why='' links=()
if grep -qE '\.(index-url|extra-index-url|no-index|trusted-host|client-cert|proxy)=' <<< "$settings"; then
  why="pip's index or proxy"
fi
# also without HOME
home=~
# pip passes over a folder that is not there
while read -r place; do
  place=${place/#~\//$home/}
  if [[ $place = *://* || -n $place && -e $place ]]; then links+=(--find-links="$place"); fi
done < <(sed -n "s/.*\.find-links=['\"]\(.*\)['\"]$/\1/p" <<< "$settings" | sed 's/\\n/ /g' | tr ' ' '\n')
by_uv() {
  # the user's settings of uv may put packages elsewhere, or link to its cache, which is removed
  local name
  for name in "${!UV_@}"; do unset "$name"; done
  UV_HTTP_TIMEOUT=180 "$venv/bin/uv" pip install --no-config --quiet --python "$venv/bin/python" \
    --cache-dir "$venv/uv-cache" --system-certs --require-hashes --no-build-isolation --compile-bytecode \
    "${links[@]}" -r requirements.txt
}
if [ -n "$why" ] || ! output=$(by_uv 2>&1); then
  echo "make the Python environment: three minutes, by pip (${why:-uv: ${output##*$'\n'}}) …" >&2
  "${pip[@]}" --no-build-isolation --use-pep517 -r requirements.txt
fi
rm -rf "$venv/uv-cache"
echo "$sums" > "$venv/ready"
echo "make the Python environment: done, $((SECONDS - begin)) s" >&2
