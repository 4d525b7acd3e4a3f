#!/usr/bin/env bash
# Lay out a kernel of the virtual board from a tree where it was built; the tree stays as it is.
#
# usage: tree.sh OUT_DIR TREE [headers]
#   OUT_DIR  gets what deb.sh makes; it appears only when whole
#   TREE     where `make ARCH=arm64 Image modules` was run
#   headers  what a module of ours is built against is there, too
#
# What is copied is what `make modules_install` installs and what a package of headers has: run in the tree,
# either may build something. Needs no root.
set -euo pipefail
out=$1 tree=$2 headers=${3:-}
release=$(cat "$tree/include/config/kernel.release")

work=$(mktemp -d "$out.XXXXXX") # the template of mktemp
trap 'rm -rf "$work"' EXIT
chmod 0755 "$work"
modules=$work/kernel/lib/modules/$release
mkdir -p "$modules" "$work/kernel/src"

cp "$tree/arch/arm64/boot/Image" "$work/kernel/vmlinuz"
# before 6.2 a line begins with kernel/, later ones name the object
sed 's,^kernel/,,; s,\.[a-z]*$,.ko,' "$tree/modules.order" > "$work/names"
while read -r name; do
  mkdir -p "$modules/kernel/${name%/*}"
  cp "$tree/$name" "$modules/kernel/$name"
done < "$work/names"
sed 's,^,kernel/,' "$work/names" > "$modules/modules.order"
sed 's,^\(kernel/\)\?,kernel/,' "$tree/modules.builtin" > "$modules/modules.builtin"
[ ! -e "$tree/modules.builtin.modinfo" ] || cp "$tree/modules.builtin.modinfo" "$modules/"
/sbin/depmod -b "$work/kernel" "$release"

if [ "$headers" ]; then
  copy=$work/kernel/src/linux-headers-$release
  mkdir "$copy"
  cd "$tree"
  {
    find . -path ./Documentation -prune -o -maxdepth 3 '(' -name 'Makefile*' -o -name 'Kbuild*' ')' -type f -print
    find include scripts arch/arm64/include arch/arm/include tools/include -type f ! -name '*.o' ! -name '*.cmd'
    find arch/arm64 -type f '(' -name '*.lds' -o -name 'Makefile*' -o -name 'Platform' ')'
    find tools/bpf/resolve_btfids -maxdepth 1 -type f -name resolve_btfids
    for file in .config Module.symvers System.map; do [ ! -e $file ] || echo $file; done
  } | LC_ALL=C sort -u | tar -c --no-recursion -T - -f - | tar -C "$copy" -xf - --no-same-owner
  # of the kernel itself a module's BTF needs only the BTF
  [ ! -e vmlinux ] || objcopy -I elf64-little --only-section=.BTF vmlinux "$copy/vmlinux"
fi
echo "linux-tree $release" > "$work/kernel/versions.txt"
rm -rf "$out"
mv "$work/kernel" "$out"
