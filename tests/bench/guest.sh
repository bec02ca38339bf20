#!/usr/bin/env bash
# guest.sh KICKIO [ROUNDS]: kickio against fio inside one TCG guest on QEMU's null-co, psync 4 KiB random reads. Both
# take turns in one boot; the median of the ratios within a round counts: I/Os per second, and the guest's CPU per I/O.
# The guest is our image's kernel and modules with busybox, fio and fio's libraries. Status 1 when kickio does not do
# more I/Os than fio, or not with less CPU; 77 where a program is missing.
set -eu
kickio=$(realpath "$1") rounds=${2:-9}
cd "$(dirname "$0")/../.."
for program in qemu-system-x86_64 fio busybox; do
	command -v $program >/dev/null || { echo "guest.sh: skipped: $program is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/lib/guest_image.sh
guest_begin "$kickio" "$work"
guest_program "$(command -v fio)"
guest_boot $((60 + 6 * rounds)) -blockdev null-co,node-name=null,size=268435456 \
	-device virtio-blk-pci,drive=null,ioeventfd=off <<END
/bin/busybox sleep 1 # the kernel settles
measure() {
	/bin/\$1 --name=b --filename=/dev/vda --rw=randread --bs=4k --ioengine=psync --direct=1 --norandommap \\
		--time_based --runtime=1 --output-format=json >/tmp/out 2>/tmp/err
	/bin/busybox awk -v p=\$1 -F'[:,]' '/"iops" :/ && !i { i = \$2 } /"usr_cpu"/ { u = \$2 } /"sys_cpu"/ { s = \$2 }
		END { printf "%s %.1f %.3f\n", p, i, (u + s) / 100 * 1e6 / i }' /tmp/out
}
measure kickio >/dev/null # the first of each finds cold caches, QEMU's translations among them
measure fio >/dev/null
round=0
while [ \$round -lt $rounds ]; do
	if [ \$((round % 2)) = 0 ]; then measure kickio; measure fio; else measure fio; measure kickio; fi
	round=\$((round + 1))
done
echo end
END
grep -q '^end' "$work/out" || { echo "guest.sh: the guest did not come to its end:"; tail -n 15 "$work/console" "$work/out"; exit 1; }

awk '
	$1 == "kickio" || $1 == "fio" { iops[$1, n[$1] + 0] = $2; cpu[$1, n[$1] + 0] = $3; n[$1]++ }
	function median(list, count,   i, j, t) {
		for (i = 0; i < count; i++) for (j = i + 1; j < count; j++)
			if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
		return list[int(count / 2)]
	}
	END {
		for (i = 0; i < n["fio"]; i++) {
			printf "round %d: kickio %.0f IOPS, %.2f us of guest CPU per I/O; fio %.0f, %.2f\n", i + 1,
				iops["kickio", i], cpu["kickio", i], iops["fio", i], cpu["fio", i]
			if (iops["kickio", i] * iops["fio", i] == 0) { print "a round measured nothing"; exit 1 }
			speed[i] = iops["kickio", i] / iops["fio", i]; cost[i] = cpu["kickio", i] / cpu["fio", i]
		}
		s = median(speed, n["fio"]); c = median(cost, n["fio"])
		printf "in a TCG guest on null-co, psync 4k: kickio/fio %.3f in IOPS, %.3f in guest CPU per I/O\n", s, c
		exit !(s > 1 && c < 1)
	}' "$work/out"
