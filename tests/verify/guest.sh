#!/usr/bin/env bash
# guest.sh KICKIO: verification of raw disks in a guest. nbdkit serves one disk for each fault, all in one boot: what
# the disk did to the N-th write is named for what it is, with its offset, and a clean disk verifies clean. Ends with
# "N passed, N failed, N skipped".
set -u
kickio=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0

finish() {
	echo "$passed passed, $failed failed, ${1:-0} skipped"
	[ $failed = 0 ]
	exit
}
skip() {
	echo "SKIP all: $1"
	finish 1
}
for program in qemu-system-x86_64 nbdkit busybox; do
	command -v $program >/dev/null || skip "$program is missing"
done
[ -f /usr/include/nbdkit-plugin.h ] || skip "nbdkit-plugin.h is missing (package nbdkit-plugin-dev)"

work=$(mktemp -d "${TMPDIR:-/tmp}/kickio-guest.XXXXXX") || exit 2
servers=''
# shellcheck disable=SC2086
trap '[ -z "$servers" ] || kill $servers 2>/dev/null; wait; rm -rf "$work"' EXIT
trap 'exit 2' INT TERM
export LC_ALL=C
broken() {
	echo "FAIL $1"
	tail -n 20 "${@:2}" | sed 's/^/     | /'
	failed=$((failed + 1))
	finish
}
${CC:-cc} -O1 -Wall -Wextra -Werror -shared -fPIC -o "$work/faultdisk.so" tests/verify/faultdisk.c 2>"$work/log" ||
	broken "the plugin is not built" "$work/log"

# One disk for each fault, told by its serial number in the guest.
disks='' arguments=()
disk() { # NAME PARAMETER…
	local name=$1 socket=$work/$1.socket
	shift
	nbdkit -f --exit-with-parent -U "$socket" -P "$work/$name.pid" "$work/faultdisk.so" size=1M "$@" >"$work/log" 2>&1 &
	servers="$servers $!"
	for _ in $(seq 100); do
		[ -s "$work/$name.pid" ] && break
		sleep 0.1
	done
	[ -s "$work/$name.pid" ] || broken "nbdkit does not start for $name" "$work/log"
	disks="$disks $name"
	arguments+=(-blockdev "nbd,node-name=$name,server.type=unix,server.path=$socket"
		-device "virtio-blk-pci,drive=$name,serial=$name")
}

# 256 writes of 4k in a pass: the N-th is at (N-1)*4096, and the 257th begins the second pass.
disk clean
disk lost fault=drop:7
disk stale fault=drop:260
disk misdirected fault=misdirect:300 shift=-65536
disk torn fault=tear:300
disk torn-first fault=tear:5
disk replayed fault=replay:515
disk corrupt fault=corrupt:5

. tests/lib/guest_image.sh
guest_begin "$kickio" "$work" 2>"$work/log" || broken "no image" "$work/log"
# shellcheck disable=SC2034
guest_disks=$(set -- $disks && echo $#)
guest_boot 400 "${arguments[@]}" <<'END'
for disk in /sys/block/vd*; do
	read -r name <$disk/serial
	case $name in
	lost | torn-first | corrupt) passes=1 ;;
	replayed) passes=3 ;;
	*) passes=2 ;;
	esac
	echo "disk $name"
	/bin/kickio --name=v --filename=/dev/${disk##*/} --size=1m --direct=1 --ioengine=psync --rw=write --bs=4k \
		--verify=crc32c --loops=$passes --eta=never
	echo "status $?"
done
echo end
END
grep -q '^end' "$work/out" || broken "the guest did not come to its end" "$work/console" "$work/out"

# told NAME STATUS TEXT…: that disk's run ended so and said each text; nothing else was found bad.
told() {
	local name=$1 status=$2 text
	shift 2
	awk -v name="$name" '/^disk /{ on = $2 == name } on' "$work/out" >"$work/told"
	if ! grep -qx "status $status" "$work/told"; then
		text="status $status"
	elif [ "$(grep -c 'verify: .* offset' "$work/told")" != $# ]; then
		text="$# faults and no more"
	else
		for text; do
			grep -qF -- "$text" "$work/told" || break
			text=''
		done
	fi
	if [ -z "${text-}" ]; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	echo "FAIL $name: not told: $text"
	sed 's/^/     | /' "$work/told" | head -n 30
}
told clean 0
told lost 1 "verify: lost write (expected generation 1, found zeros) at file /dev/vdb offset 24576, length 4096"
told stale 1 "verify: stale (generation 1, 2 was completed; job 0) at file /dev/vdc offset 12288, length 4096"
told misdirected 1 \
	"verify: misdirected write (belongs to offset 176128, generation 2 of job 0) at file /dev/vdd offset 110592, length 4096" \
	"verify: stale (generation 1, 2 was completed; job 0) at file /dev/vdd offset 176128, length 4096"
told torn 1 "verify: torn (expected generation 2, found generation 1 of job 0) at file /dev/vde offset 178176, length 2048"
told torn-first 1 "verify: torn (expected generation 1, found zeros) at file /dev/vdf offset 18432, length 2048"
told replayed 1 "verify: stale (generation 1, 3 was completed; job 0) at file /dev/vdg offset 8192, length 4096"
told corrupt 1 "verify: corrupt (expected generation 1, the data does not match its checksum; header: generation 1 of job 0) at file /dev/vdh offset 18432, length 512"
finish
