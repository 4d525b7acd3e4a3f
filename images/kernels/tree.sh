#!/usr/bin/env bash
# Copy a kernel for the virtual board from its build tree, which is not changed: image, modules, headers.
#
# usage: tree.sh OUT_DIR TREE [SOURCE]
#   OUT_DIR  as made by deb.sh; it appears only when complete
#   TREE     where `make ARCH=arm64 Image modules` was run, or its O= folder
#   SOURCE   the kernel's source, TREE itself if not an O= folder: src is made too
#
# This copies what `make modules_install` installs and what a headers package contains; running those make
# targets might build something. Drivers that no virtual board needs (unneeded.txt) are left out.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 tree=$2 source=${3:-}
release=$(cat "$tree/include/config/kernel.release")

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work"
modules=$work/kernel/lib/modules/$release
mkdir -p "$modules/kernel" "$work/kernel/src"

cp "$tree/arch/arm64/boot/Image" "$work/kernel/vmlinuz"
# older kernels prefix kernel/, later ones list the objects
sed 's,^kernel/,,; s,\.[a-z]*$,.ko,' "$tree/modules.order" |
  sed -E "\,^($(paste -s -d '|' "$here/unneeded.txt"))/,d" > "$work/names"
# a name that begins with - must not be an option of tar
tar -C "$tree" --verbatim-files-from -T "$work/names" -cf - | tar -C "$modules/kernel" -xf - --no-same-owner
sed 's,^,kernel/,' "$work/names" > "$modules/modules.order"
sed 's,^\(kernel/\)\?,kernel/,' "$tree/modules.builtin" > "$modules/modules.builtin"
[ ! -e "$tree/modules.builtin.modinfo" ] || cp "$tree/modules.builtin.modinfo" "$modules/"
/sbin/depmod -b "$work/kernel" "$release"

# copy FROM: what builds modules; files of an O= folder replace those of its source
headers=$work/kernel/src/linux-headers-$release
copy() {
  cd "$1"
  folders=()
  for folder in include scripts arch/arm64/include arch/arm/include tools/include; do
    [ ! -d $folder ] || folders+=("$folder")
  done
  {
    find "${folders[@]}" '(' -type f -o -type l ')' ! -name '*.o' ! -name '.*.cmd' -print0
    find arch/arm64 -type f '(' -name '*.lds' -o -name Platform -o -name 'Kbuild*' -o -name 'Makefile*' ')' \
      -print0
    # an O= folder's Makefile contains its source's path
    [ "$1" != "$source" ] || find . -maxdepth 1 '(' -name Makefile -o -name Kbuild ')' -print0
    for file in .config Module.symvers System.map tools/bpf/resolve_btfids/resolve_btfids; do
      [ ! -e $file ] || printf '%s\0' $file
    done
  } | tar --no-recursion --null -T - -cf - | tar -C "$headers" -xf - --no-same-owner
}
if [ "$source" ]; then
  mkdir "$headers"
  (copy "$source")
  [ "$source" = "$tree" ] || (copy "$tree")
  # a module's type information refers only to the kernel's
  if grep -qx CONFIG_DEBUG_INFO_BTF=y "$tree/.config"; then
    objcopy -I elf64-little -O elf64-little --only-section=.BTF "$tree/vmlinux" "$headers/vmlinux"
  fi
fi
echo "linux-tree $release" > "$work/kernel/versions.txt"
rm -rf "$out"
mv "$work/kernel" "$out"
