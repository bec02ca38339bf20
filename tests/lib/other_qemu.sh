#!/usr/bin/env bash
# other_qemu.sh FOLDER [SUITE]: the QEMU of another release of Debian, for "emulator = FOLDER/qemu-system-x86_64".
#
# SUITE: trixie (default), bookworm, sid, or "bookworm bookworm-backports". Unpacked, not installed: about 80 MB are fetched
# and 260 MB kept. Does nothing when FOLDER has one of that suite already.
set -eu
. "$(dirname "$0")/other_debian.sh"
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ "$(uname -m)" = x86_64 ] || other_die "made for x86_64 alone"
wrapper=$1/qemu-system-x86_64
if [ -x "$wrapper" ] && [ "$(cat "$1/suite" 2>/dev/null)" = "${2-default}" ]; then
	echo "$wrapper: $("$wrapper" -version | head -n 1)"
	exit 0
fi
other_begin "$1" "${2-}"
# Without these two it would take the host's modules of the same name, and end in module_load_dso.
other_unpack qemu-system-x86 qemu-system-modules-opengl qemu-system-modules-spice seabios ipxe-qemu

loader=$(cd "$other_folder" && find . -name 'ld-linux-x86-64.so.2' | head -n 1)
[ -n "$loader" ] && [ -x "$other_folder/usr/bin/qemu-system-x86_64" ] || other_die "$other_suite's packages hold no emulator"
# Its own C library, and so its own loader. The version stands here so that another one makes another file.
cat >"$wrapper.new" <<END
#!/bin/sh
# QEMU $(other_version qemu-system-x86) of $other_suite
here='${other_folder//\'/\'\\\'\'}'
export QEMU_MODULE_DIR="\$here/usr/lib/x86_64-linux-gnu/qemu"
exec "\$here/${loader#./}" --library-path "\$here/lib/x86_64-linux-gnu:\$here/usr/lib/x86_64-linux-gnu" --argv0 "\$0" \\
	"\$here/usr/bin/qemu-system-x86_64" -L "\$here/usr/share/seabios" -L "\$here/usr/share/qemu" -L "\$here/usr/lib/ipxe/qemu" "\$@"
END
chmod 755 "$wrapper.new"
"$wrapper.new" -version >/dev/null || other_die "the emulator of $other_suite does not start"
mv "$wrapper.new" "$wrapper"
echo "${2-default}" >"$other_folder/suite"
echo "$wrapper: $("$wrapper" -version | head -n 1)"
