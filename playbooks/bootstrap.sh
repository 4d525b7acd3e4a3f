#!/usr/bin/env bash
# Make the Python environment that everything else runs in. usage: bootstrap.sh VENV
# Asks for root only when Debian's python3-venv is missing.
set -euo pipefail
venv=$1
# as commitpath/places.py, before there is a Python to ask
case $PWD in
  *[:\${}]* | *[[:cntrl:]]*)
    echo "commitpath: this folder's path does not work: it may have any printable characters but : \$ { }" >&2
    exit 2 ;;
esac
trap 'echo "commitpath: the Python environment was not made (network? disk?); see above" >&2' ERR

begin=$SECONDS
if ! python3 -c 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
  echo "install python3-venv …" >&2
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get -qq update
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends python3 python3-venv
fi
echo "make the Python environment …" >&2
rm -f "$venv/ready"
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
touch "$venv/ready"
echo "make the Python environment: done, $((SECONDS - begin)) s" >&2
