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

# $job is meant to be split into words below.
# shellcheck disable=SC2086
# The IOPS of a run of fio or kickio: JSON, first "iops" of the read part.
iops() {
	# Drawn with repeats like the bare loop's, or the cache would see another pattern.
	"$@" $job --norandommap --time_based --runtime="${ms}ms" --output-format=json |
		awk -F'[:,]' '/"iops" :/ { printf "%.0f\n", $2; exit }'
}

# Of the numbers on stdin: median, then the quartiles, which tell how far to trust it.
median() {
	sort -g | awk '{ v[NR] = $1 }
		function at(q, x, i) { x = 1 + q * (NR - 1); i = int(x); return v[i] + (x - i) * (v[i < NR ? i + 1 : i] - v[i]) }
		END { printf "%.3f %.3f %.3f\n", at(0.5), at(0.25), at(0.75) }'
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
fails=0
# shellcheck disable=SC2046 # three words are wanted
set -- $(awk '{ print $2 / $1 }' "$folder/rounds" | median)
to_bare=$1
echo "kickio / bare loop: $1 (median of $rounds rounds, quartiles $2 and $3)"
awk '{ b = $1 > b ? $1 : b; k = $2 > k ? $2 : k } END { printf "kickio / bare loop, best round of each: %.3f\n", k / b }' \
	"$folder/rounds"
awk "BEGIN { exit !($3 - $2 > 0.1) }" &&
	echo "note: the rounds differ widely, something else keeps this machine busy; repeat when it is idle"
awk "BEGIN { exit !($to_bare >= 0.95) }" || { echo "MISSED: 0.95 of the bare loop"; fails=1; }
if [ -n "$have_fio" ]; then
	# shellcheck disable=SC2046
	set -- $(awk '{ print $2 / $3 }' "$folder/rounds" | median)
	echo "kickio / fio: $1 (median of $rounds rounds, quartiles $2 and $3)"
	awk "BEGIN { exit !($1 > 1) }" || { echo "MISSED: faster than fio"; fails=1; }
fi

# Threads instead of processes: callgrind writes one file for the whole.
instructions() {
	valgrind --tool=callgrind --callgrind-out-file="$folder/callgrind" "$@" >/dev/null 2>"$folder/valgrind" ||
		{ cat "$folder/valgrind" >&2; exit 1; }
	awk '/^(summary|totals):/ { n = $2 } END { print n }' "$folder/callgrind"
}

# shellcheck disable=SC2086
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
