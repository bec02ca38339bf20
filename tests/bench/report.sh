#!/bin/sh
# report.sh BUILD [--synthetic]: what `kickbench report` costs for runs of 10 000, 50 000 and 100 000 trials: time, processor
# time and the largest memory, of the first report, which reads the trial files, and of later ones, which have the index.
# The trials are those of a real run (KICKBENCH_RUN, or one that is made here in real guests), multiplied; with
# --synthetic they are made up, 20 KB each. Wants 2.5 GB below TMPDIR.
# Then the growth: y of time = x^y from the smallest to the largest; 1 is linear.
# Status 1 when the first report of 100 000 trials takes 60 s or more, a later one 5 s, or any 500 MB.
set -eu

build=$1 synthetic=${2:-}
kickbench=$build/kickbench
folder=$(mktemp -d "${TMPDIR:-/tmp}/kickbench-report.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
root=$(dirname "$0")/../..
fails=0

missed() { echo "MISSED: $*"; fails=1; }

# shellcheck disable=SC2046
${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -I"$root" $(pkg-config --cflags jansson) -o "$folder/multiply" \
	"$root/tests/bench/multiply.c" "$root/guest/histogram.c" $(pkg-config --libs jansson) -lm

if [ "$synthetic" = --synthetic ]; then
	from=--synthetic
elif [ -n "${KICKBENCH_RUN:-}" ]; then
	from=$KICKBENCH_RUN
else
	from=$folder/run
	"$kickbench" run "$root/scenarios/quick.ini" --set scenario.blocks=2 -o "$from" >"$folder/run.log" 2>&1 ||
		{ cat "$folder/run.log" >&2; exit 1; }
fi

# "seconds processor-seconds MB" of one report, which is checked for its first line.
measure() { # RUNDIR
	/usr/bin/time -f '%e %U %S %M' -o "$folder/time" "$kickbench" report "$1" >"$folder/report" 2>"$folder/messages" ||
		{ cat "$folder/messages" >&2; exit 1; }
	grep -q "$2 of $2 counted" "$folder/report" || missed "a report of all $2 trials"
	tail -n 1 "$folder/time" | awk '{ printf "%.2f %.2f %.0f\n", $1, $2 + $3, $4 / 1000 }'
}

fits() { awk "BEGIN { exit !($1) }"; }

: >"$folder/first"
: >"$folder/later"
for wanted in 10000 50000 100000; do
	run=$folder/of-$wanted
	"$folder/multiply" "$from" $wanted "$run"
	trials=$(find "$run/trials" -name '*.json' | wc -l)
	size=$(du -sb "$run/trials" | awk -v n="$trials" '{ printf "%.1f", $1 / n / 1000 }')
	sleep 3 # until the times of the last files are believed
	first=$(measure "$run" "$trials")
	measure "$run" "$trials" >/dev/null
	later=$(for _ in 1 2 3; do measure "$run" "$trials"; done | sort -g | sed -n 2p)
	echo "$trials $first" >>"$folder/first"
	echo "$trials $later" >>"$folder/later"
	echo "$trials $size $first $later" | awk '{ printf "%d trials of %s KB: first report %s s (%s s of processors), %d MB; " \
		"later %s s (%s s), %d MB\n", $1, $2, $3, $4, $5, $6, $7, $8 }'
	rm -r "$run"
done
for which in first later; do
	awk -v which=$which 'NR == 1 { n = $1; s = $2; c = $3 }
		END { printf "%s reports: time grows as trials^%.2f, processor time as trials^%.2f\n", which,
			log($2 / s) / log($1 / n), log($3 / c) / log($1 / n) }' "$folder/$which"
done
# shellcheck disable=SC2086
set -- $first
fits "$1 < 60" || missed "the first report of 100000 trials in under 60 s"
fits "$3 < 500" || missed "the first report of 100000 trials in 500 MB"
# shellcheck disable=SC2086
set -- $later
fits "$1 < 5" || missed "a report of 100000 trials in under 5 s"
fits "$3 < 500" || missed "a report of 100000 trials in 500 MB"
exit $fails
