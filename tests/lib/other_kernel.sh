#!/usr/bin/env bash
# other_kernel.sh FOLDER [SUITE]: the kernel of another release of Debian, for "kernel = FOLDER/vmlinuz".
#
# SUITE: trixie (default), bookworm, sid, or "bookworm bookworm-backports". Its modules are in FOLDER/lib/modules, where
# images/linux/build.sh looks for them. Unpacked, not installed. Does nothing when FOLDER has one of that suite already.
set -eu
. "$(dirname "$0")/other_debian.sh"
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
kernel=$1/vmlinuz
if [ -e "$kernel" ] && [ "$(cat "$1/suite" 2>/dev/null)" = "${2-default}" ]; then
	echo "$kernel: $(readlink "$kernel")"
	exit 0
fi
other_begin "$1" "${2-}"
arch=$(dpkg --print-architecture)
package=$(other_package "linux-image-cloud-$arch")
[ -n "$package" ] || package=$(other_package "linux-image-$arch")
[ -n "$package" ] || other_die "$other_suite has no kernel for $arch"
# The package alone: what it depends on makes an initramfs, which ours is not.
(cd "$other_apt/cache/archives" && apt-get -qq download "$package") || other_die "$package cannot be fetched"
for deb in "$other_apt"/cache/archives/*.deb; do
	dpkg-deb -x "$deb" "$other_folder"
done
[ -e "$other_folder/lib" ] || ln -s usr/lib "$other_folder/lib"
version=${package#linux-image-}
[ -d "$other_folder/lib/modules/$version" ] || other_die "$package holds no modules"
ln -sf "boot/vmlinuz-$version" "$kernel"
echo "${2-default}" >"$other_folder/suite"
echo "$kernel: $(readlink "$kernel")"
