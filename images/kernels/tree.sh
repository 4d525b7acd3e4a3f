#!/usr/bin/env bash
# Lay out a kernel of the virtual board from a folder where it was built; that stays as it is.
#
# usage: tree.sh OUT_DIR TREE [SOURCE]
#   OUT_DIR  gets what deb.sh makes; it appears only when whole
#   TREE     where `make ARCH=arm64 Image modules` was run, or its O= folder
#   SOURCE   the kernel's source, TREE itself if it is no O= folder: src is made, too
#
# What is copied is what `make modules_install` installs and what a package of headers has: run in the tree,
# either may build something. Drivers that no virtual board has (unneeded.txt) are left out. Needs no root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 tree=$2 source=${3:-}
release=$(cat "$tree/include/config/kernel.release")

work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work"
modules=$work/kernel/lib/modules/$release
mkdir -p "$modules" "$work/kernel/src"

cp "$tree/arch/arm64/boot/Image" "$work/kernel/vmlinuz"
# older kernels have kernel/ in front, later ones name the objects
sed 's,^kernel/,,; s,\.[a-z]*$,.ko,' "$tree/modules.order" |
  sed -E "\,^($(paste -s -d '|' "$here/unneeded.txt"))/,d" > "$work/names"
# a name that begins with - is no option of tar's
tar -C "$tree" --verbatim-files-from -T "$work/names" -cf - | tar -C "$work" --one-top-level=built -xf - --no-same-owner
mv "$work/built" "$modules/kernel"
sed 's,^,kernel/,' "$work/names" > "$modules/modules.order"
sed 's,^\(kernel/\)\?,kernel/,' "$tree/modules.builtin" > "$modules/modules.builtin"
[ ! -e "$tree/modules.builtin.modinfo" ] || cp "$tree/modules.builtin.modinfo" "$modules/"
/sbin/depmod -b "$work/kernel" "$release"

# copy FROM: what modules are built with; what an O= folder has goes over what its source has
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
    # an O= folder's Makefile says where its source was
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
  # a module's types refer to the kernel's, and to nothing else of it
  if grep -qx CONFIG_DEBUG_INFO_BTF=y "$tree/.config"; then
    objcopy -I elf64-little -O elf64-little --only-section=.BTF "$tree/vmlinux" "$headers/vmlinux"
  fi
fi
echo "linux-tree $release" > "$work/kernel/versions.txt"
rm -rf "$out"
mv "$work/kernel" "$out"
