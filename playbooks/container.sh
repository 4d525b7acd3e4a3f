#!/usr/bin/env bash
# Build a Debian 13 container image, run bin/commitpath in it, for hosts of another system (podman or docker).
#
# usage: container.sh build
#        container.sh run FOLDER TARGET [WORD...]
#   FOLDER  the caller's; it, the checkout, the cache and the results have the same paths in the container
#
# The image has the packages of host.yml, installed by mmdebstrap: no registry is asked. Its tag is a hash of
# their names and its suite, so it is made once. Its Python environment is a folder of the cache.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
packages=$(awk '/^    [a-z_]+:/ { wanted = /(first|host|virtual)_packages:/ } wanted && $1 == "-" { print $2 }' \
  playbooks/host.yml | paste -sd,)
# apt's lists stay, compressed: sources are fetched from its mirrors
made_by=(mmdebstrap --quiet --variant=apt --include="$packages" --format=tar
  --aptopt='Acquire::GzipIndexes "true"' --skip=cleanup/apt/lists --dpkgopt='path-exclude=/usr/share/doc/*'
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' trixie -)
hash=$(sha256sum <<< "${made_by[*]}" | cut -c 1-12)
image=localhost/commitpath:$hash
# with EXPECT, 1 would be a number that is not as expected
failed=1
for word in "$@"; do
  case $word in
    EXPECT=*) failed=125 ;;
    --) break ;;
  esac
done
fail() { echo "commitpath: container: $1" >&2; exit "$failed"; }

engine=$(command -v podman || command -v docker) || fail "there is neither podman nor docker on this machine"
engine=${engine##*/}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/commitpath-container.XXXXXX" 2> /dev/null) ||
  fail "no temporary folder can be made in ${TMPDIR:-/var/tmp}"
trap 'rm -rf --one-file-system "$work"' EXIT

# image_exists: fails where the engine does not work, such as docker without its service
image_exists() {
  local id
  id=$("$engine" images --quiet "$image") || fail "$engine does not work here; see above"
  [ -n "$id" ]
}

build() {
  if image_exists; then return; fi
  # a second concurrent call waits; the lock is on this file, so that nothing is left behind
  exec 9< "$0"
  flock --nonblock 9 || { echo "wait for the image that another call makes …" >&2; flock 9; }
  if image_exists; then exec 9<&- && return; fi
  command -v mmdebstrap > /dev/null ||
    fail "mmdebstrap is missing; install it with Debian's archive keyring, or load the image from another machine (docs/how-to/container.md)"
  echo "make the container's image: two minutes or three, 600 MB …" >&2
  local begin=$SECONDS
  "${made_by[@]}" > "$work/image.tar" || fail "mmdebstrap could not make the image; see above"
  "$engine" import "$work/image.tar" "$image" > "$work/output" 2>&1 ||
    fail "$engine could not import the image: $(tail -n 1 "$work/output")"
  rm "$work/image.tar"
  # engines leave processes behind that would keep the lock
  exec 9<&-
  echo "make the container's image: done, $((SECONDS - begin)) s" >&2
}

# inside UID GID COMMAND...: as the container's root, which is the caller where ids are mapped (without root),
# else as the caller, so that files get the caller's id
# shellcheck disable=SC2016  # expanded by the inner shell
inside='
  touch /run/commitpath/started
  user=$1 group=$2
  shift 2
  read -r _ outside _ < /proc/self/uid_map
  if [ "$user" = 0 ] || [ "$outside" != 0 ]; then exec "$@"; fi
  echo "caller:x:$user:$group::/tmp:/bin/sh" >> /etc/passwd
  for file in /etc/subuid /etc/subgid; do echo "caller:100000:65536" > "$file"; done
  exec setpriv --reuid="$user" --regid="$group" --clear-groups env HOME=/tmp "$@"'

run() {
  local folder=$1 cache results path name code=0
  shift
  cache=$(realpath -m -- "${COMMITPATH_CACHE:-.cache}")
  results=$(realpath -m -- "${COMMITPATH_RESULTS:-results}")
  for path in "$PWD" "$cache" "$results" "$folder"; do
    # mounted there, they would be the container's own
    case ${path%/}/ in
      / | /bin/* | /dev/* | /etc/* | /lib/* | /lib64/* | /proc/* | /run/ | /sbin/* | /sys/* | /tmp/ | /usr/* | /var/)
        fail "$path is a folder of the system, which the container has itself; run it in a folder of yours" ;;
    esac
  done
  # containers' root is another user then, and with --userns=host the image's files are of that user
  if [ "$engine" = docker ] && [[ $(docker info --format '{{.SecurityOptions}}') = *name=userns* ]]; then
    fail "docker maps user ids here (userns-remap), so that no file could be the caller's; use podman, or rootless docker"
  fi
  [ ! -L .venv ] || fail "$PWD/.venv is a link; a container needs a folder there, remove the link"
  build
  mkdir -p "$cache/venv-$hash" "$results" .venv || fail "a folder cannot be made; see above"
  # the network is the host's: its names, proxies and loopback
  local options=(--rm --network=host --cap-add=SYS_ADMIN --security-opt=label=disable
    --security-opt=apparmor=unconfined --workdir="$folder"
    --volume="$cache/venv-$hash:$PWD/.venv" --volume="$work:/run/commitpath")
  while IFS= read -r path; do options+=(--volume="$path:$path"); done < \
    <(printf '%s\n' "$PWD" "$cache" "$results" "$folder" | sort -u)
  # the host's certificates, which may have a company's own: Debian's, Fedora's, openSUSE's
  for path in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem; do
    [ -e "$path" ] || continue
    options+=(--volume="$(realpath "$path"):/etc/ssl/certs/ca-certificates.crt:ro")
    for name in SSL_CERT_FILE PIP_CERT; do options+=(--env="$name=/etc/ssl/certs/ca-certificates.crt"); done
    break
  done
  while read -r name; do
    case $name in
      # as mounted: without links
      COMMITPATH_CACHE) options+=(--env="$name=$cache") ;;
      COMMITPATH_RESULTS) options+=(--env="$name=$results") ;;
      COMMITPATH_* | *_proxy | *_PROXY | PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_DEFAULT_TIMEOUT | TERM | NO_COLOR)
        options+=(--env="$name") ;;
    esac
  done < <(compgen -e)
  if [ -t 0 ] && [ -t 1 ] && [ -t 2 ]; then options+=(--tty); fi
  # only these read the caller's input, which may be the list of a loop
  case $* in
    board* | crash-replay* | inspect* | */dev/stdin*) options+=(--interactive) && exec 8<&0 ;;
    *) exec 8< /dev/null ;;
  esac
  # in the background, so that this shell passes signals on; <&8 and env undo what that does to it
  env --default-signal=INT,QUIT "$engine" run "${options[@]}" "$image" \
    sh -c "$inside" sh "$(id -u)" "$(id -g)" "$PWD/bin/commitpath" "$@" <&8 &
  local process=$!
  local signalled=yes
  trap 'signalled=yes; kill -INT "$process" || true' INT # the engine may have ended since
  trap 'signalled=yes; kill -TERM "$process" || true' TERM HUP # alike
  # a signal ends a wait, not the container
  while [ "$signalled" ]; do signalled='' code=0; wait "$process" || code=$?; done
  [ -e "$work/started" ] || fail "$engine could not start it (exit $code); see above"
  exit "$code"
}

case ${1:-} in
  build) build ;;
  run) shift; run "$@" ;;
  *) fail "usage: container.sh build | run FOLDER TARGET [WORD...]" ;;
esac
