#!/bin/sh
# build.sh OUT KICKIO: our own guest with this system's fio and the libraries that it wants beside kickio.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
linux=$here/../../../../images/linux
out=$1
fio=$(command -v fio) || { echo "fio image: fio is missing (package fio)" >&2; exit 1; }
mkdir -p "$out/base"
sh "$linux/build.sh" "$out/base" "$2"

# What its libraries are links to is copied under their own names.
libraries=$(ldd "$fio" | sed -n 's,^[^/]*\(/[^ ]*\) (.*,\1,p' | sort -u)
inputs=$({ cat "$here/build.sh" "$out/base/manifest.json"; ls -lL "$fio" $libraries; } | sha256sum)
[ "$(cat "$out/inputs" 2>/dev/null)" != "$inputs" ] || [ ! -f "$out/manifest.json" ] || exit 0

folders() { for path; do while path=$(dirname "$path") && [ "$path" != / ]; do echo "dir $path 755"; done; done; }
{
	folders "$fio" $libraries | sort -u
	for file in "$fio" $libraries; do echo "file $file 755 $(readlink -f "$file")"; done
} >"$out/list"
"${HOSTCC:-cc}" -O1 -o "$out/mkinitramfs" "$linux/mkinitramfs.c"
cp "$out/base/initramfs.cpio.gz" "$out/new.gz"
size=$(wc -c <"$out/new.gz")
truncate -s $(((size + 3) / 4 * 4)) "$out/new.gz"
"$out/mkinitramfs" <"$out/list" >>"$out/new.gz"
cp "$out/base/vmlinuz" "$out/vmlinuz"
mv "$out/new.gz" "$out/initramfs.cpio.gz"
sed "s,\"initramfs.cpio.gz\": \"[0-9a-f]*\",\"initramfs.cpio.gz\": \"$(sha256sum <"$out/initramfs.cpio.gz" | cut -d' ' -f1)\"," \
	"$out/base/manifest.json" >"$out/manifest.json"
echo "$inputs" >"$out/inputs"
