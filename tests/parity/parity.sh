#!/bin/sh
# Run the same lines with fio and with kickio and compare what must be equal: exit statuses, the layout of the
# text report with numbers masked, exact counts of I/Os and bytes, the keys and types of the JSON report, the places
# of all I/Os, the files afterwards. Then let kickio's reports print fio's own numbers and compare them to the letter.
#
# What differs on purpose, and is left out of the comparison:
#	names		"kickio" for "fio" in the banner and before messages; messages are our own words
#	latencies, rates, processor times, shares of depths		are measured; numbers are masked
#	note:		fio's remark that a synchronous engine caps the depth is about fio's own queue
#	Disk stats, disk_util	of a regular file belong to the disk below it, which other programs use as well;
#			kickio reports the devices that a job opens, and those only
#	offsets of random jobs	fio's generator is not reproduced; the set of them is compared where it is fixed
#	(file:F:N		the source line of a failure, and the function
#	bw (, iops lines, lat ( lines, number of percentile lines	depend on the moment
#	layout writes		fio writes in the largest block of the job, kickio in chunks: only the result counts
#
#	parity.sh KICKIO [CASE…]
#
# Needs fio; without it everything is skipped. JSON shapes need a C compiler and jansson. Ends with
# "N passed, N failed, N skipped".
kickio=$1
[ -n "$kickio" ] && [ -x "$kickio" ] || { echo "usage: parity.sh KICKIO [CASE...]" >&2; exit 2; }
case $kickio in /*) ;; *) kickio=$PWD/$kickio ;; esac
shift
only=" $* "
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v fio >/dev/null 2>&1; then
	echo "SKIP all: fio is not installed"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
if [ "$(fio --version)" != fio-3.33 ]; then
	echo "SKIP all: the reports are those of fio 3.33, this is $(fio --version)"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kickio-parity.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' INT TERM
export LC_ALL=C
limit="timeout 60"
passed=0 failed=0 skipped=0

# With no part set this is the parent, which makes the tools and runs the parts.
part=${PARITY_PART:-all} tools=${PARITY_TOOLS:-$scratch}
build() { # NAME COMMAND…: made once, by the parent
	tool=$tools/$1
	shift
	[ -x "$tool" ] || { [ "$part" = all ] && "$@" 2>/dev/null; }
}

shape=
if build json_shape ${CC:-cc} -o "$tools/json_shape" "$here/json_shape.c" -ljansson; then
	shape=$tools/json_shape
fi

# What each program transfers is seen by a shim, for which kickio has to be linked dynamically.
shim='' dynamic=$(dirname "$kickio")/plain/kickio
if [ -x "$dynamic" ] && build trace.so ${CC:-cc} -shared -fPIC -O1 -o "$tools/trace.so" "$here/trace.c" -ldl; then
	shim=$tools/trace.so
fi

rerender=
guest=$here/../../guest
if build rerender ${CC:-cc} -std=gnu11 -I"$here/../.." -o "$tools/rerender" "$here/rerender.c" "$guest/error.c" "$guest/format.c" \
	"$guest/histogram.c" "$guest/job.c" "$guest/output_json.c" "$guest/output_percentiles.c" \
	"$guest/output_terse.c" "$guest/output_text.c" "$guest/report.c" "$guest/result.c" "$guest/text.c" -ljansson -lm; then
	rerender=$tools/rerender
fi

# Lines that depend on the speed of this moment are dropped (distribution, bandwidth samples, how many
# percentile lines there are), units of latencies are one, numbers are N and runs of blanks are one.
mask_text() {
	grep -v -e '^  lat (' -e '^     |' -e '^   bw (' -e '^   iops  ' -e '^note: ' -e '^  [a-z0-9-]*: ios=' \
		-e '^Disk stats' -e '^Jobs: ' |
		sed -e 's/kickio-[0-9.]*/PROGRAM/' -e 's/fio-[0-9.]*/PROGRAM/' \
			-e 's/^fio: /PROGRAM: /' -e 's/^kickio: /PROGRAM: /' -e 's/pid=[-0-9]*/pid=P/' -e 's/[numk]sec)/TIME)/' \
			-e 's/: [A-Z][a-z][a-z] [A-Z][a-z][a-z] .* [0-9:]* 20[0-9][0-9]$/: DATE/' \
			-e 's/(file:[^:]*:/(file:F:/' \
			-e 's/[0-9][0-9.]*[KkMGTP]*i*B/NB/g' -e 's/[0-9][0-9.]*[kMG]*/N/g' -e 's/  */ /g' -e 's/= N/=N/g' |
		cat -s | # fio adds a blank line of its own now and then when the machine is busy
		sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' # no blank lines at the end
}

# What was done, exactly: I/Os per direction and syncs, bytes.
counts() {
	sed -n -e 's/^ *issued rwts: total=\([0-9,]*\) .*/\1/p' \
		-e 's/^ *\([A-Z]*\): bw=.* io=\([^,]*\), run=.*/\1 \2/p'
}

differ() { # CASE WHAT: compares $scratch/fio.WHAT and $scratch/kickio.WHAT
	diff -u "$scratch/fio.$2" "$scratch/kickio.$2" >"$scratch/diff" && return 1
	echo "  $2 (- fio, + kickio):"
	sed 's/^/    /' "$scratch/diff"
}

run() { # PROGRAM NAME: writes NAME.out, NAME.err, NAME.status; PREPARE and ARGS come from the case
	rm -rf "$scratch/work"
	mkdir "$scratch/work"
	(
		cd "$scratch/work" || exit 1
		eval "$prepare"
		eval "$limit \"\$1\" $args" >"$scratch/$2.out" 2>"$scratch/$2.err" </dev/null
		echo $? >"$scratch/$2.status"
	)
}

verdict() { # CASE OK
	if [ "$2" = yes ]; then
		echo "ok   $1"
		passed=$((passed + 1))
	else
		echo "FAIL $1"
		head -n 40 "$scratch/why" | sed 's/^/  /'
		failed=$((failed + 1))
	fi
}

# Every other case belongs to the other half of its file.
nth=0
wanted() {
	nth=$((nth + 1))
	[ $((nth % 2)) = "${part##*-}" ] || return 1
	[ "$only" = "  " ] && return 0
	case $only in *" $1 "*) return 0 ;; esac
	return 1
}

# text NAME PREPARE ARGS ['']: status, layout and counts (with '': no counts)
text() {
	wanted "$1" || return 0
	prepare=$2 args=$3
	run fio fio
	run "$kickio" kickio
	ok=yes
	: >"$scratch/why"
	for p in fio kickio; do
		mask_text <"$scratch/$p.out" >"$scratch/$p.layout"
		counts <"$scratch/$p.out" >"$scratch/$p.counts"
	done
	for what in status layout ${4-counts}; do
		differ "$1" $what >>"$scratch/why" && ok=no
	done
	[ $ok = yes ] || cat "$scratch/kickio.err" >>"$scratch/why"
	verdict "$1" $ok
}

# json NAME PREPARE ARGS: status and shape
json() {
	wanted "$1" || return 0
	if [ -z "$shape" ]; then
		echo "SKIP $1: no C compiler with jansson"
		skipped=$((skipped + 1))
		return 0
	fi
	prepare=$2 args=$3
	run fio fio
	run "$kickio" kickio
	ok=yes
	: >"$scratch/why"
	for p in fio kickio; do
		"$shape" -x disk_util <"$scratch/$p.out" 2>>"$scratch/why" | sort -u >"$scratch/$p.shape"
		sed -n -e 's/^ *"\(io_bytes\|total_ios\|short_ios\|groupid\|jobname\|error\)" : //p' "$scratch/$p.out" \
			>"$scratch/$p.counts"
	done
	[ -s "$scratch/fio.shape" ] || ok=no
	for what in status shape counts; do
		differ "$1" $what >>"$scratch/why" && ok=no
	done
	verdict "$1" $ok
}

# terse NAME PREPARE ARGS: fields up to the disks (fio shows the disk below a file), numbers masked
terse() {
	wanted "$1" || return 0
	prepare=$2 args=$3
	run fio fio
	run "$kickio" kickio
	ok=yes
	for p in fio kickio; do
		grep '^3;' "$scratch/$p.out" | cut -d';' -f1,3-121 | sed 's/[0-9][0-9.]*/N/g' >"$scratch/$p.terse"
		# documents and reports: those in between and the last one, as many as a loaded machine lets happen
		grep -c -e '^{$' -e '^Run status' -e '^3;' "$scratch/$p.out" | sed 's/^[3-9]$/several/' >"$scratch/$p.reports"
	done
	: >"$scratch/why"
	for what in status terse reports; do
		differ "$1" $what >>"$scratch/why" && ok=no
	done
	verdict "$1" $ok
}

# status NAME PREPARE ARGS: only the exit status (messages are our own)
status() {
	wanted "$1" || return 0
	prepare=$2 args=$3
	run fio fio
	run "$kickio" kickio
	ok=yes
	differ "$1" status >"$scratch/why" && ok=no
	verdict "$1" $ok
}

# exact NAME PREPARE ARGS: fio's numbers in our reports
exact() {
	wanted "$1" || return 0
	if [ -z "$rerender" ]; then
		echo "SKIP $1: no C compiler with jansson"
		skipped=$((skipped + 1))
		return 0
	fi
	prepare=$2 args="$3 --output-format=terse,json+,normal"
	run fio fio
	ok=yes
	: >"$scratch/why"
	sed -n '/^{$/,/^}$/p' "$scratch/fio.out" >"$scratch/fio.json"
	cp "$scratch/fio.json" "$scratch/whole.json"
	"$rerender" "$scratch/kickio.text" "$scratch/kickio.json" "$scratch/kickio.terse" <"$scratch/fio.json" 2>>"$scratch/why" || ok=no
	# when, who and how many is not in the numbers, nor how many calls the shares of calls are of
	sed '1,/^}$/d' "$scratch/fio.out" | sed 's/jobs=[0-9]*): err= 0: pid=.*/TITLE/' >"$scratch/fio.text"
	sed -i 's/jobs=[0-9]*): err= 0: pid=.*/TITLE/' "$scratch/kickio.text"
	sed -i -e '/^  "\(fio version\|timestamp\|timestamp_ms\|time\)" : /d' -e '/^      "\(eta\|elapsed\)" : /d' \
		-e '/^      "iodepth_\(submit\|complete\)" : {/,/}/d' \
		"$scratch/fio.json" "$scratch/kickio.json"
	sed -n 's/^3;fio-3.33;/3;PROGRAM;/p' "$scratch/fio.out" >"$scratch/fio.terse"
	sed -i 's/^3;kickio-[0-9.]*;/3;PROGRAM;/' "$scratch/kickio.terse"
	for what in text json terse; do
		[ -s "$scratch/fio.$what" ] || ok=no
		differ "$1" $what >"$scratch/how" || continue
		[ $what != json ] && python3 "$here/ties.py" "$scratch/fio.$what" "$scratch/kickio.$what" "$scratch/whole.json" 2>>"$scratch/why" && continue
		cat "$scratch/how" >>"$scratch/why"
		ok=no
	done
	verdict "$1" $ok
}

# ---- the parts, at the same time ----

if [ "$part" = all ]; then
	for part in cases-0 cases-1 lines-0 lines-1; do
		PARITY_PART=$part PARITY_TOOLS=$scratch sh "$here/parity.sh" "$kickio" $only >"$scratch/$part" 2>&1 &
	done
	wait
	for part in cases-0 cases-1 lines-0 lines-1; do
		grep -v '^[0-9]* passed, ' "$scratch/$part"
		counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$scratch/$part")
		# shellcheck disable=SC2086 # three words
		set -- ${counts:-0 1 0}
		passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
	done
else
	# shellcheck source=/dev/null
	. "$here/${part%-*}.sh"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
