#!/usr/bin/env bash
# What Debian's maintainer scripts would have done and the board needs; then pack the root.
# Called by mmdebstrap: userland-hook.sh ROOT OUT HERE
set -euo pipefail
root=$1 out=$2 here=$3

# what no board reads; dpkg's path-exclude takes thrice as long, as each package is filtered on its way
rm -rf "$root"/usr/share/{doc,man,locale}

# usr-merge: usrmerge's links, which base-files leaves to its preinst
for dir in bin sbin lib; do [ -e "$root/$dir" ] || ln -s "usr/$dir" "$root/$dir"; done

# base-files, base-passwd, openssh-server: accounts, and folders outside packages
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
echo 'sshd:x:100:65534::/run/sshd:/usr/sbin/nologin' >> "$root/etc/passwd"
sed -i 's,^root:[^:]*:,root:x:,' "$root/etc/passwd"
# no password opens root; the board's key pair does
printf 'root:*:20000:0:99999:7:::\nsshd:!:20000::::::\n' > "$root/etc/shadow"
chmod 0640 "$root/etc/shadow"
for dir in proc sys dev run tmp mnt/target root var/empty var/lock; do mkdir -p "$root/$dir"; done
echo board > "$root/etc/hostname"
echo '127.0.0.1 localhost board' > "$root/etc/hosts"

# busybox: PID 1 and the shell tools that Debian has elsewhere or not at all
ln -sf /usr/bin/busybox "$root/usr/sbin/init"
install -m 0755 "$here/board-rc.sh" "$root/etc/board-rc"
install -m 0644 "$here/inittab" "$root/etc/inittab"
# dash and mawk links that update-alternatives would make
[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
[ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"

# openssh: keys only, of the board's own pair (board-rc.sh puts them in place)
cat > "$root/etc/ssh/sshd_config" <<'SSHD'
HostKey /run/board/host_key
AuthorizedKeysFile /run/board/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UseDNS no
UsePAM no
Subsystem sftp internal-sftp
SSHD

# libc-bin
/sbin/ldconfig -r "$root" 2>/dev/null || ldconfig -r "$root"

# shellcheck disable=SC2016  # the format is dpkg-deb's
for deb in "$root"/var/cache/apt/archives/*.deb; do
  dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb"
done | LC_ALL=C sort > "$out/versions.txt"
rm -rf "${root:?}"/boot/* "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
tar -C "$root" --exclude='./dev/*' -cf "$out/root.tar" .
