#!/bin/sh
# bench.sh KICKIO [ROUNDS [MILLISECONDS]]: what kickio itself costs per I/O, 512-byte psync random reads
# of a file in memory. Bare loop, kickio and fio take turns, so that a drift of the machine hits all alike;
# the median of the ratios within one round counts. Then the user instructions per I/O, as valgrind's
# callgrind counts them: difference of a long and a short run, so that starting up cancels out.
# Many short turns, in alternating order, stand a loaded machine better than few long ones.
# Status 1 when kickio misses 0.95 of the bare loop, is not faster than fio, or needs 450 instructions.
set -eu

kickio=$1 rounds=${2:-15} ms=${3:-400}
[ "$rounds" -ge 7 ] || { echo "bench.sh: at least 7 rounds, or the median says little" >&2; exit 2; }
[ -w /dev/shm ] || { echo "bench.sh: skipped: /dev/shm is not there" >&2; exit 77; }
folder=$(mktemp -d /dev/shm/kickio-bench.XXXXXX)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
file=$folder/data
bare=$folder/bareloop
${CC:-cc} -O2 -o "$bare" "$(dirname "$0")/bareloop.c"
dd if=/dev/urandom of="$file" bs=1M count=32 2>/dev/null
seconds=$(awk "BEGIN { print $ms / 1000 }")
have_fio=$(command -v fio || true)

job="--name=bench --filename=$file --rw=randread --bs=512 --ioengine=psync --size=32m --invalidate=0"

# The IOPS of a run of fio or kickio: JSON, first "iops" of the read part.
iops() {
	"$@" $job --time_based --runtime="${ms}ms" --output-format=json |
		awk -F'[:,]' '/"iops" :/ { printf "%.0f\n", $2; exit }'
}

median() {
	sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

round=0
while [ $round -lt "$rounds" ]; do
	f=0
	if [ $((round % 2)) -eq 0 ]; then
		b=$("$bare" "$file" "$seconds" 512)
		k=$(iops "$kickio")
		[ -z "$have_fio" ] || f=$(iops fio)
	else
		[ -z "$have_fio" ] || f=$(iops fio)
		k=$(iops "$kickio")
		b=$("$bare" "$file" "$seconds" 512)
	fi
	echo "$b $k $f" >>"$folder/rounds"
	echo "round $((round + 1)): bare $b, kickio $k, fio $f IOPS"
	round=$((round + 1))
done
to_bare=$(awk '{ print $2 / $1 }' "$folder/rounds" | median)
echo "kickio / bare loop: $to_bare (median of $rounds)"
fails=0
awk "BEGIN { exit !($to_bare >= 0.95) }" || { echo "MISSED: 0.95 of the bare loop"; fails=1; }
if [ -n "$have_fio" ]; then
	to_fio=$(awk '{ print $2 / $3 }' "$folder/rounds" | median)
	echo "kickio / fio: $to_fio (median of $rounds)"
	awk "BEGIN { exit !($to_fio > 1) }" || { echo "MISSED: faster than fio"; fails=1; }
fi

# Threads instead of processes: callgrind writes one file for the whole.
instructions() {
	valgrind --tool=callgrind --callgrind-out-file="$folder/callgrind" "$@" >/dev/null 2>"$folder/valgrind" ||
		{ cat "$folder/valgrind" >&2; exit 1; }
	awk '/^(summary|totals):/ { n = $2 } END { print n }' "$folder/callgrind"
}

per_io() {
	short=$(instructions "$@" $job --thread --number_ios=10000)
	long=$(instructions "$@" $job --thread --number_ios=30000)
	echo $(((long - short) / 20000))
}

if command -v valgrind >/dev/null; then
	k=$(per_io "$kickio")
	echo "user instructions per I/O: kickio $k"
	[ "$k" -lt 450 ] || { echo "MISSED: fewer than 450"; fails=1; }
	[ -z "$have_fio" ] || echo "user instructions per I/O: fio $(per_io fio)"
else
	echo "user instructions per I/O: not counted, valgrind is not installed"
fi
exit $fails
