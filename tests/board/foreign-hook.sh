#!/usr/bin/env bash
# What Debian's maintainer scripts would have done and the foreign board needs; then pack its root.
# Called by mmdebstrap: foreign-hook.sh ROOT OUT KERNEL
set -euo pipefail
root=$1 out=$2 kernel=$3

# dpkg's own account of what is there, as `dpkg-query` asks for it
for deb in "$root"/var/cache/apt/archives/*.deb; do
  dpkg-deb -f "$deb" | sed 's/^Package: .*/&\nStatus: install ok installed/'
  echo
done > "$root/var/lib/dpkg/status"
rm -rf "${root:?}"/usr/share/{doc,man,locale} "${root:?}"/boot/* "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
cp -a "$kernel/lib/modules" "$root/usr/lib/"
cp "$kernel"/src/linux-headers-*-arm64/.config "$root/boot/config-$(ls "$kernel/lib/modules")"

# base-files, base-passwd, openssh-server: accounts and folders; those of systemd are made at the boot
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
{
  echo 'sshd:x:100:65534::/run/sshd:/usr/sbin/nologin'
  echo 'messagebus:x:101:101::/nonexistent:/usr/sbin/nologin'
} >> "$root/etc/passwd"
echo 'messagebus:x:101:' >> "$root/etc/group"
sed -i 's,^root:[^:]*:,root:x:,' "$root/etc/passwd"
printf 'root:*:20000:0:99999:7:::\nsshd:!:20000::::::\nmessagebus:!:20000::::::\n' > "$root/etc/shadow"
chmod 0640 "$root/etc/shadow"
mkdir -p "$root"/{proc,sys,dev,run,tmp,mnt,root,var/tmp,var/log,var/lib/dbus}
mkdir -p "$root/root/.ssh"
chmod 0700 "$root/root/.ssh"
chmod 1777 "$root/tmp" "$root/var/tmp"
for link in run lock; do [ -e "$root/var/$link" ] || ln -s "/run${link#run}" "$root/var/$link"; done
echo foreign > "$root/etc/hostname"
printf '127.0.0.1 localhost\n127.0.1.1 foreign\n' > "$root/etc/hosts"
echo 0123456789abcdef0123456789abcdef > "$root/etc/machine-id"
: > "$root/etc/fstab"

# update-alternatives, libc-bin
[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
[ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"
/sbin/ldconfig -r "$root" 2> /dev/null || ldconfig -r "$root"

# openssh-server, and systemd's own units that are enabled
mkdir -p "$root/etc/ssh/sshd_config.d" "$root/etc/systemd/network"
[ -e "$root/etc/ssh/sshd_config" ] || cp "$root/usr/share/openssh/sshd_config" "$root/etc/ssh/sshd_config"
echo 'UsePAM no' > "$root/etc/ssh/sshd_config.d/unpacked.conf"
printf '[Match]\nName=e*\n[Network]\nAddress=10.0.2.15/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n' \
  > "$root/etc/systemd/network/board.network"
wants=$root/etc/systemd/system/multi-user.target.wants
mkdir -p "$wants"
for unit in ssh systemd-networkd; do ln -sf "/lib/systemd/system/$unit.service" "$wants/$unit.service"; done
# no terminal; its consoles would take a shell each
for unit in serial-getty@ttyAMA0 getty@tty1 systemd-update-utmp-runlevel; do ln -sf /dev/null "$root/etc/systemd/system/$unit.service"; done

tar -C "$root" --exclude='./dev/*' -cf "$out/root.tar" .
