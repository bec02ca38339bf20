#!/bin/sh
# Make the probe: one ELF file that QEMU boots with -kernel, by the host's compiler, without a library. Needs no root.
set -eu
umask 022
export LC_ALL=C

usage() {
	cat <<'END'
usage: images/probe/build.sh [FOLDER]
  FOLDER  where the image is kept (default: build/images/probe)
Environment:
  CC      the compiler, gcc or clang (default: cc)
Makes probe.elf; vmlinuz, the same under the name that every image's kernel has; initramfs.cpio.gz, an empty archive,
which the probe does not look at; and manifest.json. Does nothing when they are up to date.
END
}

say() { echo "probe image: $*" >&2; }
die() { say "$*"; exit 1; }
digest() { sha256sum "$1" | cut -d' ' -f1; }

case ${1-} in -h | --help) usage; exit 0 ;; -*) usage >&2; exit 2 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/build/images/probe}
cc=${CC:-cc}
shared='error frame histogram json_read text'

mkdir -p "$out"
out=$(cd "$out" && pwd)
exec 9>"$out/.lock"
! command -v flock >/dev/null 2>&1 || flock 9
rm -rf "$out"/.new.*

# Where kickbench is installed there are no sources of guest/: the probe lies there ready made.
if [ -f "$root/probe.elf" ]; then
	version='made when kickbench was installed'
	sources="$root/probe.elf $here/build.sh"
else
	$cc --version >/dev/null 2>&1 || die "$cc is missing (package gcc or clang)"
	version=$($cc --version | head -n 1)
	sources="$(ls "$here"/*.[chS] "$here"/*.ld "$here"/include/*.h) $here/build.sh"
	for name in $shared; do sources="$sources $root/guest/$name.c $root/guest/$name.h"; done
fi
inputs=$({ cat $sources; echo "$version"; } | sha256sum | cut -d' ' -f1)
if [ "$(cat "$out/inputs" 2>/dev/null)" = "$inputs" ] && [ -f "$out/probe.elf" ] && [ -f "$out/vmlinuz" ] &&
	[ -f "$out/initramfs.cpio.gz" ] && [ -f "$out/manifest.json" ]; then
	exit 0
fi
work=$(mktemp -d "$out/.new.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# No floating point and no vector registers: nobody sets them up, and an emulating KVM does not know them. Functions that
# the shared files have beyond what is used here are thrown away by the linker, with what they would call.
flags='-std=gnu11 -m32 -march=i686 -mno-mmx -mno-sse -mno-80387 -ffreestanding -fno-pic -fno-pie -fno-stack-protector
	-fno-asynchronous-unwind-tables -fcf-protection=none -fno-strict-aliasing -O2 -ffunction-sections -fdata-sections
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes'
compile() {
	files=$(ls "$here"/*.c)
	for name in $shared; do files="$files $root/guest/$name.c"; done
	objects=
	for file in $files "$here/start_x86.S"; do
		object=$work/$(basename "$file").o
		$cc $flags -I"$here/include" -I"$root" -c -o "$object" "$file" || die "$file does not compile with $cc"
		objects="$objects $object"
	done
	$cc -m32 -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,max-page-size=4096 \
		-T "$here/link_x86.ld" -o "$work/probe.elf" $objects || die "the probe does not link"
}

if [ -f "$root/probe.elf" ]; then
	cp "$root/probe.elf" "$work/probe.elf"
else
	compile
fi
cp "$work/probe.elf" "$work/vmlinuz"
: | gzip -9nc >"$work/initramfs.cpio.gz"
cat >"$work/manifest.json" <<END
{
  "schema": "kickbench-image/1",
  "os": "probe",
  "kernel": "probe ($version)",
  "arguments": "$(sed -n 's/^arguments *= *//p' "$here/guest.ini")",
  "sha256": {
    "vmlinuz": "$(digest "$work/vmlinuz")",
    "initramfs.cpio.gz": "$(digest "$work/initramfs.cpio.gz")"
  }
}
END
rm -f "$out/inputs"
for file in probe.elf vmlinuz initramfs.cpio.gz manifest.json; do
	mv "$work/$file" "$out/$file"
done
echo "$inputs" >"$out/inputs"
say "$(wc -c <"$out/probe.elf") bytes by $version in $out"
