#!/bin/sh
# Make the Linux guest: a kernel and an initramfs with kickio and the disk's modules. Needs no root.
set -eu
umask 022
export LC_ALL=C

usage() {
	cat <<'END'
usage: images/linux/build.sh [FOLDER [KICKIO]]
  FOLDER  where the image and what it is made from are kept (default: build/images/linux)
  KICKIO  the statically linked program (default: build/kickio)
Environment:
  KERNEL   a kernel file, or the folder of an unpacked kernel package; without it the newest readable
           /boot/vmlinuz-* that has modules, or else the kernel package of the distribution, fetched and not installed
  MODULES  the kernel's folder of modules, .../lib/modules/VERSION (default: that beside the kernel, in lib/modules of its
           folder or of the one above; else that of this system)
  PACKAGE  a kernel package to use instead of looking for a kernel on this system
Makes vmlinuz, initramfs.cpio.gz and manifest.json; does nothing when they are up to date.
Remove FOLDER/kernel to fetch a newer package.
END
}

say() { echo "linux image: $*" >&2; }
die() { say "$*"; exit 1; }
need() { command -v "$1" >/dev/null 2>&1 || die "$1 is missing (package $2)"; }
digest() { sha256sum "$1" | cut -d' ' -f1; }

case ${1-} in -h | --help) usage; exit 0 ;; -*) usage >&2; exit 2 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/build/images/linux}
kickio=${2:-$root/build/kickio}
KERNEL=${KERNEL-} MODULES=${MODULES-} PACKAGE=${PACKAGE-}

# What a virtio disk behind PCI needs; behind MMIO (microvm), too, where the kernel has it.
wanted='virtio_pci virtio_blk'
welcome='virtio_mmio'
# File systems for a disk that has one, each loaded when a job asks for it; only where they are modules.
filesystems='ext4 xfs'
# What they ask the crypto API for at run time: there is no modprobe in the guest.
checksums='crc32c_generic'

[ -f "$kickio" ] || die "$kickio is missing: build kickio first"
if command -v readelf >/dev/null 2>&1 && readelf -l "$kickio" | grep -q 'INTERP'; then
	die "$kickio is not statically linked: it cannot be the guest's /init"
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
# One at a time, and without what a killed one has left.
exec 9>"$out/.lock"
! command -v flock >/dev/null 2>&1 || flock 9
rm -rf "$out"/.new.*
work=$(mktemp -d "$out/.new.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- the kernel --------------------------------------------------------------------------------

# A bzImage tells its version (Documentation/arch/x86/boot.rst, kernel_version); others only by their name.
kernel_version() {
	if [ "$(dd if="$1" bs=1 skip=514 count=4 2>/dev/null)" = HdrS ]; then
		at=$(($(od -An -tu2 -j526 -N2 "$1") + 512))
		dd if="$1" bs=1 skip="$at" count=128 2>/dev/null | tr '\0 ' '\n\n' | head -n 1
	else
		basename "$1" | sed 's/^[^-]*-//'
	fi
}

newest_installed() {
	for k in $(ls /boot/vmlinuz-* 2>/dev/null | sort -rV); do
		if [ -r "$k" ] && [ -d "/lib/modules/${k#/boot/vmlinuz-}" ]; then
			echo "$k"
			return
		fi
	done
}

# The versioned packages behind a distribution's name for "the kernel": image, and modules where they are apart.
resolve_package() {
	real=$(apt-cache depends "$1" 2>/dev/null | sed -n 's/^ *Depends: *\(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1)
	case $1 in linux-image-[0-9]*) real=$1 ;; esac
	[ -n "$real" ] || return 1
	echo "$real"
	modules=linux-modules-${real#linux-image-}
	apt-cache depends "$real" 2>/dev/null | grep -q "Depends: $modules\$" && echo "$modules"
	return 0
}

find_packages() {
	arch=$(dpkg --print-architecture)
	for name in $PACKAGE ${PACKAGE:-linux-image-cloud-$arch linux-image-virtual linux-image-$arch linux-image-generic}; do
		resolve_package "$name" && return
	done
	return 1
}

# apt-get with this system's sources and lists of its own: an ordinary user may not update the system's.
private_apt() {
	mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
	printf 'Dir::State::lists "%s";\nDir::Cache "%s";\nDebug::NoLocking "1";\n' \
		"$work/apt/lists" "$work/apt/cache" >"$work/apt/apt.conf"
	export APT_CONFIG="$work/apt/apt.conf"
	apt-get -q update >&2 || die "the distribution's package lists cannot be fetched"
}

fetch() {
	mkdir -p "$work/packages"
	packages=$(find_packages) || return 1
	say "fetching" $packages
	# _apt cannot write into our folder, and there is no need for it.
	(cd "$work/packages" && apt-get -q -o APT::Sandbox::User="$(id -un)" download $packages >&2)
}

unpack_package() {
	need apt-get apt
	need dpkg-deb dpkg
	if ! fetch; then
		say "the package lists of this system do not help; fetching new ones"
		private_apt
		fetch || die "no kernel package could be fetched; name a kernel with KERNEL= (and MODULES=)"
	fi
	for deb in "$work"/packages/*.deb; do
		dpkg-deb -x "$deb" "$work/unpacked"
	done
	rm -rf "$work/packages"
	source=$(echo $packages)
	source="$source $(apt-cache show "${source%% *}" | sed -n 's/^Version: //p' | head -n 1)"
	kernel=$(ls "$work"/unpacked/boot/vmlinuz-* "$work"/unpacked/usr/lib/modules/*/vmlinuz 2>/dev/null | head -n 1)
	[ -n "$kernel" ] || die "$source holds no kernel"
	version=$(kernel_version "$kernel")
	modules=$work/unpacked/lib/modules/$version
	[ -d "$modules" ] || modules=$work/unpacked/usr/lib/modules/$version
}

# ---- its modules -------------------------------------------------------------------------------

# The folder with modules.dep: made by depmod beside a copy when it is missing, as in a package.
need_dependencies() {
	[ -f "$modules/modules.dep" ] && return
	PATH=$PATH:/usr/sbin:/sbin
	need depmod kmod
	mkdir -p "$work/depmod/lib/modules"
	case $modules in
	"$work"/*) mv "$modules" "$work/depmod/lib/modules/$version" ;;
	*) cp -R "$modules" "$work/depmod/lib/modules/$version" ;;
	esac
	modules=$work/depmod/lib/modules/$version
	depmod -b "$work/depmod" "$version"
}

# Paths below the folder of modules, each behind what it needs. modules.dep names the nearest need first.
load_order() { # WANTED WELCOME
	awk -v wanted="$1" -v welcome="$2" -v builtin="$modules/modules.builtin" '
	function name(path) {
		sub(/.*\//, "", path); sub(/\.ko.*/, "", path); gsub(/-/, "_", path)
		return path
	}
	function load(path,   n, i, needs) {
		if (path in done) return
		done[path] = 1
		n = split(needed[path], needs, " ")
		for (i = n; i > 0; i--) load(needs[i])
		print path
	}
	{
		path = $1; sub(/:$/, "", path)
		file[name(path)] = path
		$1 = ""; needed[path] = $0
	}
	END {
		while ((getline path < builtin) > 0) inside[name(path)] = 1
		n = split(wanted, list, " "); must = n
		n += split(welcome, more, " ")
		for (i = must + 1; i <= n; i++) list[i] = more[i - must]
		for (i = 1; i <= n; i++) {
			if (list[i] in inside) continue
			if (list[i] in file) load(file[list[i]])
			else if (i <= must) { print "missing " list[i]; exit }
		}
	}' "$modules/modules.dep"
}

# The kernel gets plain files: not every one can unpack, and our init does not.
stage_module() {
	plain=$work/kernel/modules/$(basename "$1" | sed 's/\.ko.*/.ko/')
	case $1 in
	*.ko.xz) need xz xz-utils; xz -dc "$modules/$1" >"$plain" ;;
	*.ko.zst) need zstd zstd; zstd -qdc "$modules/$1" >"$plain" ;;
	*.ko.gz) gzip -dc "$modules/$1" >"$plain" ;;
	*) cp "$modules/$1" "$plain" ;;
	esac
}

stage_kernel() {
	mkdir -p "$work/kernel/modules"
	cp "$kernel" "$work/kernel/vmlinuz"
	: >"$work/kernel/order"
	[ -d "$modules" ] || die "$modules, the folder of the kernel's modules, is missing (MODULES=)"
	need_dependencies
	load_order "$wanted" "$welcome" >"$work/load_order"
	case $(tail -n 1 "$work/load_order") in
	missing*) die "the kernel $version has no module $(tail -n 1 "$work/load_order" | cut -d' ' -f2) in $modules" ;;
	esac
	while read -r path; do
		stage_module "$path"
		basename "$path" | sed 's/\.ko.*/.ko/' >>"$work/kernel/order"
	done <"$work/load_order"
	for filesystem in $filesystems; do
		: >"$work/kernel/order.$filesystem"
		load_order '' "$filesystem" | grep -q . || continue
		load_order '' "$checksums $filesystem" >"$work/load_order"
		while read -r path; do
			module=$(basename "$path" | sed 's/\.ko.*/.ko/')
			grep -qx "$module" "$work/kernel/order" && continue
			[ -f "$work/kernel/modules/$module" ] || stage_module "$path"
			echo "$module" >>"$work/kernel/order.$filesystem"
		done <"$work/load_order"
	done
	echo "$version" >"$work/kernel/version"
	echo "$source" >"$work/kernel/source"
	echo "$identity" >"$work/kernel/identity"
	rm -rf "$out/kernel"
	mv "$work/kernel" "$out/kernel"
}

# The newest kernel of a folder, as a package holds it.
kernel_in() {
	newest=$(ls "$1"/boot/vmlinuz-* "$1"/usr/lib/modules/*/vmlinuz "$1"/lib/modules/*/vmlinuz 2>/dev/null | sort -V | tail -n 1)
	echo "${newest:-$1/boot/vmlinuz}"
}

# Where a kernel's modules are: beside it, where it and they lie in one unpacked package, else this system's.
modules_of() {
	folder=$(dirname "$1")
	for place in "$folder/lib/modules/$2" "$folder/usr/lib/modules/$2" "$folder/../lib/modules/$2" \
		"$folder/../usr/lib/modules/$2" "$folder/modules" "$folder"; do
		if [ -d "$place/kernel" ]; then
			echo "$place"
			return
		fi
	done
	echo "/lib/modules/$2"
}

# What the kernel in FOLDER/kernel was made from; another answer makes it anew.
choose_kernel() {
	if [ -z "$PACKAGE$KERNEL" ]; then
		KERNEL=$(newest_installed)
	fi
	if [ -n "$KERNEL" ]; then
		[ ! -d "$KERNEL" ] || KERNEL=$(kernel_in "$KERNEL")
		[ -f "$KERNEL" ] && [ -r "$KERNEL" ] || die "$KERNEL is no file that can be read"
		kernel=$KERNEL
		version=$(kernel_version "$KERNEL")
		modules=${MODULES:-$(modules_of "$KERNEL" "$version")}
		source="file $KERNEL"
		identity="$KERNEL $modules $(digest "$KERNEL") $wanted $welcome $filesystems $checksums"
	else
		identity="package ${PACKAGE:-of the distribution} $wanted $welcome $filesystems $checksums"
	fi
}

choose_kernel
if [ "$(cat "$out/kernel/identity" 2>/dev/null)" != "$identity" ]; then
	[ -n "$KERNEL" ] || unpack_package
	stage_kernel
fi

# ---- the initramfs -----------------------------------------------------------------------------

inputs=$({
	cat "$here/build.sh" "$here/mkinitramfs.c" "$here/guest.ini"
	echo "$identity"
	digest "$kickio"
} | sha256sum | cut -d' ' -f1)
if [ "$(cat "$out/inputs" 2>/dev/null)" = "$inputs" ] && [ -f "$out/vmlinuz" ] &&
	[ -f "$out/initramfs.cpio.gz" ] && [ -f "$out/manifest.json" ]; then
	exit 0
fi

need gzip gzip
cc=${HOSTCC:-cc}
need "$cc" "gcc or clang"
"$cc" -O1 -o "$work/mkinitramfs" "$here/mkinitramfs.c"
cp "$kickio" "$work/init"
strip "$work/init" 2>/dev/null || true

{
	echo "dir /dev 755"
	echo "node /dev/console 600 c 5 1"
	echo "file /init 755 $work/init"
	echo "dir /modules 755"
	sort "$out/kernel/order" | while read -r module; do
		echo "file /modules/$module 644 $out/kernel/modules/$module"
	done
	sed 's,^,/modules/,' "$out/kernel/order" >"$work/modules.list"
	echo "file /modules.list 644 $work/modules.list"
	for folder in proc sys tmp; do
		echo "dir /$folder 755"
	done
} >"$work/list"
"$work/mkinitramfs" <"$work/list" >"$work/initramfs.cpio"
gzip -9nc "$work/initramfs.cpio" >"$work/initramfs.cpio.gz"

# The file systems' modules follow as a second archive, not compressed: to copy megabytes costs a boot that does
# not want them next to nothing, to unpack them would not. An archive begins at a multiple of four.
{
	for filesystem in $filesystems; do
		[ -s "$out/kernel/order.$filesystem" ] || continue
		sed 's,^,/modules/,' "$out/kernel/order.$filesystem" >"$work/modules.$filesystem"
		echo "file /modules.$filesystem 644 $work/modules.$filesystem"
		sed "s,.*,file /modules/& 644 $out/kernel/modules/&," "$out/kernel/order.$filesystem"
	done
} | sort -u >"$work/list"
if [ -s "$work/list" ]; then
	size=$(wc -c <"$work/initramfs.cpio.gz")
	truncate -s $(((size + 3) / 4 * 4)) "$work/initramfs.cpio.gz"
	"$work/mkinitramfs" <"$work/list" >>"$work/initramfs.cpio.gz"
fi
cp "$out/kernel/vmlinuz" "$work/vmlinuz"

cat >"$work/manifest.json" <<END
{
  "schema": "kickbench-image/1",
  "os": "Linux",
  "kernel": "$(cat "$out/kernel/version")",
  "source": "$(cat "$out/kernel/source")",
  "arguments": "$(sed -n 's/^arguments *= *//p' "$here/guest.ini")",
  "modules": [$(sed 's/.*/"&"/' "$out/kernel/order" | paste -sd, -)],
  "filesystem_modules": [$(cat "$out"/kernel/order.* | sort -u | sed 's/.*/"&"/' | paste -sd, -)],
  "sha256": {
    "vmlinuz": "$(digest "$work/vmlinuz")",
    "initramfs.cpio.gz": "$(digest "$work/initramfs.cpio.gz")",
    "kickio": "$(digest "$kickio")"
  }
}
END
rm -f "$out/inputs"
for file in vmlinuz initramfs.cpio.gz manifest.json; do
	mv "$work/$file" "$out/$file"
done
echo "$inputs" >"$out/inputs"
say "kernel $(cat "$out/kernel/version"), initramfs of $(wc -c <"$out/initramfs.cpio.gz") bytes in $out"
