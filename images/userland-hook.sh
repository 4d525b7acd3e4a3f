#!/usr/bin/env bash
# Configure the board's Debian root, whose maintainer scripts do not run (accounts, init, sshd), and pack it.
# Called by mmdebstrap: userland-hook.sh ROOT OUT HERE
set -euo pipefail
root=$1 out=$2 here=$3

# unused on a board; dpkg's path-exclude takes three times as long, as it filters each package
rm -rf "$root"/usr/share/{doc,man,locale}

# usr-merge: usrmerge's links, which base-files leaves to its preinst
for dir in bin sbin lib; do [ -e "$root/$dir" ] || ln -s "usr/$dir" "$root/$dir"; done

# base-files, base-passwd, openssh-server: accounts, and folders that are not in packages
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
echo 'sshd:x:100:65534::/run/sshd:/usr/sbin/nologin' >> "$root/etc/passwd"
sed -i 's,^root:[^:]*:,root:x:,' "$root/etc/passwd"
# root has no password, only the board's key pair
printf 'root:*:20000:0:99999:7:::\nsshd:!:20000::::::\n' > "$root/etc/shadow"
chmod 0640 "$root/etc/shadow"
for dir in proc sys dev run tmp mnt/target root var/empty var/lock; do mkdir -p "$root/$dir"; done
echo board > "$root/etc/hostname"
echo '127.0.0.1 localhost board' > "$root/etc/hosts"

# busybox: PID 1, and shell tools that are otherwise missing
ln -sf /usr/bin/busybox "$root/usr/sbin/init"
install -m 0755 "$here/board-rc.sh" "$root/etc/board-rc"
install -m 0644 "$here/inittab" "$root/etc/inittab"
# dash and mawk links that update-alternatives would make
[ -e "$root/usr/bin/sh" ] || ln -s dash "$root/usr/bin/sh"
[ -e "$root/usr/bin/awk" ] || ln -s mawk "$root/usr/bin/awk"

# openssh: only the board's own keys (installed by board-rc.sh)
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
