#!/bin/sh
# Make a small Debian disk image with a serial login and a C compiler. Needs no root and no loop device.
set -eu
umask 022
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"

usage() {
	cat <<'END'
usage: images/debian/build.sh [FOLDER]
  FOLDER  where the image is put (default: build/images/debian)
Environment:
  SUITE   Debian's release (default: bookworm)
  MIRROR  where its packages are (default: this system's own Debian archive, else deb.debian.org)
  FORMS   which images: debian (the usual one), and for tests of what can go wrong:
          no-compiler, full-disk, no-virtio (default: debian)
Makes FORM.qcow2 each and `password`, root's on the serial console; does nothing when they are there.
END
}

say() { echo "debian image: $*" >&2; }
die() { say "$*"; exit 1; }
need() { command -v "$1" >/dev/null 2>&1 || die "$1 is missing (package $2)"; }

case ${1-} in -h | --help) usage; exit 0 ;; -*) usage >&2; exit 2 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/build/images/debian}
SUITE=${SUITE:-bookworm} FORMS=${FORMS:-debian} MIRROR=${MIRROR-}

mkdir -p "$out"
out=$(cd "$out" && pwd)
exec 9>"$out/.lock"
! command -v flock >/dev/null 2>&1 || flock 9
rm -rf "$out"/.new.*
work=$(mktemp -d "$out/.new.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

inputs=$({ cat "$here/build.sh"; echo "$SUITE"; } | sha256sum | cut -d' ' -f1)
if [ "$(cat "$out/inputs" 2>/dev/null)" != "$inputs" ]; then
	rm -f "$out"/*.qcow2 "$out/tree.tar" "$out/inputs"
fi
todo=
for form in $FORMS; do
	case $form in
	debian | no-compiler | full-disk | no-virtio) [ -f "$out/$form.qcow2" ] || todo="$todo $form" ;;
	*) die "there is no form $form" ;;
	esac
done
[ -n "$todo" ] || exit 0

need mmdebstrap mmdebstrap
need mke2fs e2fsprogs
need qemu-img qemu-utils
need sfdisk fdisk
need syslinux syslinux
need mcopy mtools
need mkfs.vfat dosfstools
need modprobe kmod
need cpio cpio
mbr=/usr/lib/syslinux/mbr/mbr.bin
[ -f $mbr ] || die "$mbr is missing (package syslinux-common)"

# ---- what is in it -----------------------------------------------------------------------------

find_mirror() {
	[ -z "$MIRROR" ] || return 0
	MIRROR=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $SUITE" 'Component: main' \
		2>/dev/null | head -n 1) || true
	MIRROR=${MIRROR:-http://deb.debian.org/debian}
}

# What the guest's first process does: mount, start a login on the serial port, nothing else.
write_files() {
	mkdir -p "$work/files/etc"
	cat >"$work/files/etc/rc.boot" <<'END'
#!/bin/sh
[ -d /proc/1 ] || mount -t proc proc /proc
[ -d /sys/kernel ] || mount -t sysfs sys /sys
mkdir -p /dev/pts /run/lock
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=755 run /run
mount -o remount,rw /
hostname debian
END
	cat >"$work/files/etc/rc.stop" <<'END'
#!/bin/sh
sync
umount -r / || mount -o remount,ro /
poweroff -d -f
END
	chmod 755 "$work/files/etc/rc.boot" "$work/files/etc/rc.stop"
	cat >"$work/files/etc/inittab" <<'END'
id:2:initdefault:
si::sysinit:/etc/rc.boot
l0:0:wait:/etc/rc.stop
l6:6:wait:/etc/rc.stop
S0:2:respawn:/sbin/agetty -L 115200 ttyS0 vt100
END
}

make_tree() {
	find_mirror
	write_files
	say "fetching $SUITE from $MIRROR"
	[ -s "$out/password" ] || { od -An -N6 -tx1 /dev/urandom | tr -d ' \n'; echo; } >"$work/password"
	[ -f "$out/password" ] || (umask 077; cat "$work/password" >"$out/password")
	mmdebstrap --quiet --variant=minbase \
		--include=linux-image-cloud-amd64,sysvinit-core,gcc,libc6-dev,make,busybox-static \
		--aptopt='APT::Install-Recommends "false"' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		--setup-hook='mkdir -p "$1/etc"; echo "do_initrd = no" >"$1/etc/kernel-img.conf"' \
		--customize-hook="copy-in $work/files/etc/rc.boot $work/files/etc/rc.stop $work/files/etc/inittab /etc" \
		--customize-hook="printf 'root:%s\n' '$(cat "$out/password")' | chroot \"\$1\" chpasswd" \
		--customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin' \
		"$SUITE" "$work/tree.tar" "$MIRROR" >&2
	mv "$work/tree.tar" "$out/tree.tar"
	echo "$inputs" >"$out/inputs"
}

# ---- how it starts -----------------------------------------------------------------------------

# An initrd of busybox that loads the disk's driver and goes on with the root file system, or says why not.
make_initrd() { # FILE WITH-VIRTIO
	rm -rf "$work/initrd"
	mkdir -p "$work/initrd/bin" "$work/initrd/dev" "$work/initrd/proc" "$work/initrd/sys" "$work/initrd/root" "$work/initrd/modules"
	cp "$work/boot/bin/busybox" "$work/initrd/bin/busybox"
	if [ "$2" = yes ]; then
		depmod -b "$work/boot" "$version"
		for module in virtio_pci virtio_blk; do
			modprobe -d "$work/boot" -S "$version" --show-depends "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
		done | awk '!seen[$0]++' >"$work/modules"
		while read -r module; do
			case $module in
			*.xz) xz -dc "$module" ;;
			*) cat "$module" ;;
			esac >"$work/initrd/modules/$(basename "$module" .xz)"
			basename "$module" .xz >>"$work/initrd/modules/order"
		done <"$work/modules"
	fi
	cat >"$work/initrd/init" <<'END'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
[ ! -f /modules/order ] || while read -r m; do $b insmod /modules/$m; done </modules/order
turn=0
until disk=$($b findfs LABEL=kb-root 2>/dev/null); do
	turn=$((turn + 1))
	[ $turn -lt 50 ] || { echo "no root file system: no disk of this kernel holds kb-root"; exec $b sh; }
	$b usleep 100000
done
$b mount -o ro -t ext4 "$disk" /root
$b mount --move /dev /root/dev
$b umount /sys
$b umount /proc
exec $b switch_root /root /sbin/init
END
	chmod 755 "$work/initrd/init"
	(cd "$work/initrd" && find . | cpio --quiet -o -H newc | gzip -9n) >"$1"
}

unpack_boot() {
	mkdir -p "$work/boot"
	tar -xf "$out/tree.tar" -C "$work/boot" --wildcards './boot/vmlinuz-*' './lib/modules/*' './usr/lib/modules/*' \
		./bin/busybox ./usr/bin/busybox 2>/dev/null || true
	[ -d "$work/boot/lib/modules" ] || ln -s usr/lib "$work/boot/lib"
	[ -d "$work/boot/bin" ] || ln -s usr/bin "$work/boot/bin"
	version=$(basename "$work"/boot/boot/vmlinuz-* | sed 's/^vmlinuz-//')
	[ -f "$work/boot/boot/vmlinuz-$version" ] || die "the packages hold no kernel"
}

# ---- the disk: an MBR, a FAT partition with the boot loader and the kernel, the root file system ----

fat_at=1 fat_mib=31 root_at=32

make_root() { # FORM
	cat >"$work/make_root" <<'END'
set -eu
out=$1 work=$2 form=$3
mkdir "$work/tree"
tar -xf "$out/tree.tar" -C "$work/tree" --exclude='./dev/*' --exclude='./boot/*'
rm -rf "$work"/tree/boot/*
room=300
case $form in
no-compiler)
	rm -rf "$work"/tree/usr/bin/*gcc* "$work"/tree/usr/bin/cc "$work"/tree/usr/bin/make "$work"/tree/usr/lib/gcc ;;
full-disk) room=0 ;;
esac
mib=$(($(du -sm "$work/tree" | cut -f1) * 107 / 100 + 24 + room))
truncate -s "${mib}M" "$work/root"
mke2fs -q -F -t ext4 -O ^has_journal -m 0 -L kb-root -d "$work/tree" "$work/root"
rm -rf "$work/tree"
END
	if [ "$(id -u)" = 0 ]; then
		sh "$work/make_root" "$out" "$work" "$1"
	else
		need fakeroot fakeroot
		fakeroot sh "$work/make_root" "$out" "$work" "$1"
	fi
}

# What is left free is taken by a file: how much that is, only the made file system knows.
fill_root() {
	free=$(dumpe2fs -h "$work/root" 2>/dev/null | sed -n 's/^Free blocks: *//p')
	size=$(dumpe2fs -h "$work/root" 2>/dev/null | sed -n 's/^Block size: *//p')
	truncate -s $(((free - 96) * size)) "$work/filler"
	tr '\0' x <"$work/filler" >"$work/filler.x"
	debugfs -w -R "write $work/filler.x /filler" "$work/root" >/dev/null 2>&1
	rm -f "$work/filler" "$work/filler.x"
}

make_disk() { # FORM
	case $1 in no-virtio) virtio=no ;; *) virtio=yes ;; esac
	make_initrd "$work/initrd.gz" $virtio
	make_root "$1"
	[ "$1" != full-disk ] || fill_root
	root_mib=$(($(stat -c %s "$work/root") >> 20))
	rm -f "$work/disk"
	truncate -s $((root_at + root_mib + 1))M "$work/disk"
	printf '%s\n' "label: dos" "start=${fat_at}MiB, size=${fat_mib}MiB, type=e, bootable" \
		"start=${root_at}MiB, size=${root_mib}MiB, type=83" | sfdisk -q "$work/disk"
	dd if=$mbr of="$work/disk" bs=440 count=1 conv=notrunc status=none
	truncate -s ${fat_mib}M "$work/fat"
	mkfs.vfat -F 16 "$work/fat" >/dev/null
	cat >"$work/syslinux.cfg" <<'END'
SERIAL 0 115200
DEFAULT debian
PROMPT 0
LABEL debian
 LINUX vmlinuz
 INITRD initrd.gz
 APPEND console=ttyS0 quiet loglevel=4 panic=10 tsc=reliable no_timer_check cryptomgr.notests
END
	mcopy -i "$work/fat" "$work/syslinux.cfg" ::syslinux.cfg
	mcopy -i "$work/fat" "$work/boot/boot/vmlinuz-$version" ::vmlinuz
	mcopy -i "$work/fat" "$work/initrd.gz" ::initrd.gz
	syslinux --install "$work/fat"
	dd if="$work/fat" of="$work/disk" bs=1M seek=$fat_at conv=notrunc,sparse status=none
	dd if="$work/root" of="$work/disk" bs=1M seek=$root_at conv=notrunc,sparse status=none
	qemu-img convert -f raw -O qcow2 "$work/disk" "$work/$1.qcow2"
	mv "$work/$1.qcow2" "$out/$1.qcow2"
	rm -f "$work/fat" "$work/root" "$work/disk"
	say "$out/$1.qcow2: $SUITE, kernel $version, $(du -m "$out/$1.qcow2" | cut -f1) MiB"
}

[ -f "$out/tree.tar" ] || make_tree
unpack_boot
for form in $todo; do make_disk "$form"; done
