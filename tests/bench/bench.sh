#!/bin/sh
# bench.sh KICKIO [ROUNDS [IOS]]: what kickio itself costs per I/O, 512-byte random reads of a file in
# memory, for each engine and depth, with one job and with one per core. Bare loop, kickio and fio take turns, so
# that a drift of the machine hits all alike; the median of the ratios within one round counts. What is compared is
# I/Os per second of processor time: what else runs on the machine takes turns away, but not that. Then the user
# instructions per I/O, as valgrind's callgrind counts them with all histograms and percentiles on: difference of a
# long and a short run, so that starting up cancels out.
# Many short turns, in alternating order, stand a loaded machine better than few long ones.
# Status 1 when kickio misses 0.95 of the bare loop, is not faster than fio, loses more per job with many jobs than
# the bare loop does, or needs too many instructions.
set -eu

kickio=$1 rounds=${2:-11} ios=${3:-300000}
[ "$rounds" -ge 7 ] || { echo "bench.sh: at least 7 rounds, or the median says little" >&2; exit 2; }
[ -w /dev/shm ] || { echo "bench.sh: skipped: /dev/shm is not there" >&2; exit 77; }
folder=$(mktemp -d /dev/shm/kickio-bench.XXXXXX)
cached=$(mktemp -d "${TMPDIR:-/tmp}/kickio-bench.XXXXXX")
trap 'rm -rf "$folder" "$cached"' EXIT
trap 'exit 1' INT TERM
bare=$folder/bareloop
${CC:-cc} -O2 -D_GNU_SOURCE -o "$bare" "$(dirname "$0")/bareloop.c" -laio -luring
dd if=/dev/urandom of="$folder/data" bs=1M count=32 2>/dev/null
# io_uring hands reads of a tmpfs to threads of the kernel, so that its file is one in the page cache.
cp "$folder/data" "$cached/data"
have_fio=$(command -v fio || true)
cores=$(getconf _NPROCESSORS_ONLN)
fails=0

missed() { echo "MISSED: $*"; fails=1; }

job() { # ENGINE DEPTH
	echo "--name=bench --filename=$file --rw=randread --bs=512 --ioengine=$1 --iodepth=$2 --size=32m --invalidate=0"
}

# I/Os per second of processor time of fio or kickio, from JSON: of a group, runtime and shares are of all jobs.
# Drawn with repeats like the bare loop's, or the cache would see another pattern.
iops() { # PROGRAM ENGINE DEPTH JOBS
	# shellcheck disable=SC2046
	"$1" $(job "$2" "$3") --norandommap --io_size=1g --number_ios="$ios" --numjobs="$4" --group_reporting \
		--output-format=json | awk -F'[:,]' -v ios="$((ios * $4))" '
		/"job_runtime" :/ { ms = $2 } /"usr_cpu" :/ { cpu += $2 } /"sys_cpu" :/ { cpu += $2 }
		END { printf "%.0f\n", ios / (ms / 1000 * cpu / 100) }'
}

# Of the numbers on stdin: median, then the quartiles, which tell how far to trust it.
median() {
	sort -g | awk '{ v[NR] = $1 }
		function at(q, x, i) { x = 1 + q * (NR - 1); i = int(x); return v[i] + (x - i) * (v[i < NR ? i + 1 : i] - v[i]) }
		END { printf "%.3f %.3f %.3f\n", at(0.5), at(0.25), at(0.75) }'
}

# One line per round: bare, kickio, fio.
rounds() { # ENGINE DEPTH JOBS
	: >"$folder/rounds"
	round=0
	while [ $round -lt "$rounds" ]; do
		f=0
		if [ $((round % 2)) -eq 0 ]; then
			b=$("$bare" "$1" "$2" "$3" "$file" "$ios" 512)
			k=$(iops "$kickio" "$1" "$2" "$3")
			[ -z "$have_fio" ] || f=$(iops fio "$1" "$2" "$3")
		else
			[ -z "$have_fio" ] || f=$(iops fio "$1" "$2" "$3")
			k=$(iops "$kickio" "$1" "$2" "$3")
			b=$("$bare" "$1" "$2" "$3" "$file" "$ios" 512)
		fi
		echo "$b $k $f" >>"$folder/rounds"
		round=$((round + 1))
	done
}

# Prints what came out and leaves kickio / bare in $to_bare.
compare() { # ENGINE DEPTH JOBS
	rounds "$@"
	label="$1, iodepth $2, $3 job(s)"
	awk '{ b = $1 > b ? $1 : b; k = $2 > k ? $2 : k; f = $3 > f ? $3 : f }
		END { printf "'"$label"': best round: bare loop %d, kickio %d, fio %d I/Os per CPU second\n", b, k, f }' "$folder/rounds"
	# shellcheck disable=SC2046 # three words are wanted
	set -- $(awk '{ print $2 / $1 }' "$folder/rounds" | median)
	to_bare=$1
	echo "$label: kickio / bare loop: $1 (median of $rounds rounds, quartiles $2 and $3)"
	awk "BEGIN { exit !($3 - $2 > 0.1) }" &&
		echo "note: the rounds differ widely, something else keeps this machine busy; repeat when it is idle"
	[ -n "$have_fio" ] || return 0
	# shellcheck disable=SC2046
	set -- $(awk '{ print $2 / $3 }' "$folder/rounds" | median)
	echo "$label: kickio / fio: $1 (quartiles $2 and $3)"
	awk "BEGIN { exit !($1 > 1) }" || missed "$label: faster than fio"
}

# Threads instead of processes: callgrind writes one file for the whole.
instructions() {
	valgrind --tool=callgrind --callgrind-out-file="$folder/callgrind" "$@" >/dev/null 2>"$folder/valgrind" ||
		{ cat "$folder/valgrind" >&2; exit 1; }
	awk '/^(summary|totals):/ { n = $2 } END { print n }' "$folder/callgrind"
}

# shellcheck disable=SC2046
per_io() { # PROGRAM ENGINE DEPTH
	all="--thread --slat_percentiles=1 --clat_percentiles=1 --lat_percentiles=1"
	# shellcheck disable=SC2086
	short=$(instructions "$1" $(job "$2" "$3") $all --number_ios=10000)
	# shellcheck disable=SC2086
	long=$(instructions "$1" $(job "$2" "$3") $all --number_ios=30000)
	echo $(((long - short) / 20000))
}

for what in "psync 1 350" "libaio 64 500" "io_uring 64 500"; do
	# shellcheck disable=SC2086
	set -- $what
	engine=$1 depth=$2 most=$3
	file=$folder/data
	[ "$engine" != io_uring ] || file=$cached/data
	compare "$engine" "$depth" 1
	one=$to_bare
	awk "BEGIN { exit !($one >= 0.95) }" || missed "$engine: 0.95 of the bare loop"
	if [ "$cores" -gt 1 ]; then
		compare "$engine" "$depth" "$cores"
		awk "BEGIN { exit !($to_bare >= 0.95 || $to_bare >= $one - 0.02) }" ||
			missed "$engine: as near to the bare loop with $cores jobs as with one"
	fi
	if command -v valgrind >/dev/null; then
		k=$(per_io "$kickio" "$engine" "$depth")
		echo "$engine, iodepth $depth: user instructions per I/O: kickio $k"
		[ "$k" -lt "$most" ] || missed "$engine: fewer than $most instructions"
		[ -z "$have_fio" ] || echo "$engine, iodepth $depth: user instructions per I/O: fio $(per_io fio "$engine" "$depth")"
	else
		echo "$engine: user instructions per I/O: not counted, valgrind is not installed"
	fi
done
exit $fails
