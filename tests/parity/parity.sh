#!/bin/sh
# Run the same lines with fio and with kickio and compare what must be equal: exit statuses, the layout of the
# text report with numbers masked, exact counts of I/Os and bytes, and the keys and types of the JSON report.
# Then let kickio's reports print fio's own numbers and compare them to the letter.
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

shape=
if ${CC:-cc} -o "$scratch/json_shape" "$here/json_shape.c" -ljansson 2>/dev/null; then
	shape=$scratch/json_shape
fi

rerender=
guest=$here/../../guest
if ${CC:-cc} -std=gnu11 -I"$here/../.." -o "$scratch/rerender" "$here/rerender.c" "$guest/error.c" "$guest/format.c" \
	"$guest/histogram.c" "$guest/job.c" "$guest/output_json.c" "$guest/output_percentiles.c" \
	"$guest/output_terse.c" "$guest/output_text.c" "$guest/report.c" "$guest/result.c" "$guest/text.c" -ljansson -lm 2>/dev/null; then
	rerender=$scratch/rerender
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
		sed 's/^/  /' "$scratch/why"
		failed=$((failed + 1))
	fi
}

wanted() {
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
		differ "$1" $what >>"$scratch/why" && ok=no
	done
	verdict "$1" $ok
}

file='head -c 4194304 /dev/zero >x'

for rw in read write randread randwrite; do
	text $rw "$file" "--name=a --filename=x --bs=64k --size=2m --rw=$rw"
done
# the shares of a mix are drawn: only their sum is fixed, so that one direction gets everything here
text rw-reads "$file" "--name=a --filename=x --rw=rw --rwmixread=100"
text randrw-writes "$file" "--name=a --filename=x --rw=randrw --rwmixwrite=100"
text new-file : "--name=a --size=1m --rw=randread --bs=8k"
text new-file-writes : "--name=a --size=1m --rw=write --bs=8k"
text numjobs "$file" "--name=a --filename=x --bs=64k --numjobs=2 --rw=randread --description=two"
text numjobs-grouped "$file" "--name=a --filename=x --bs=64k --numjobs=2 --rw=randread --group_reporting"
text thread "$file" "--name=a --filename=x --bs=64k --numjobs=2 --thread --ioengine=sync"
text two-groups "$file" "--filename=x --bs=64k --name=a --name=b --new_group --rw=randread"
text number_ios "$file" "--name=a --filename=x --bs=4k --number_ios=10"
text io_size-less "$file" "--name=a --filename=x --bs=64k --size=2m --io_size=1m"
text io_size-more "$file" "--name=a --filename=x --bs=64k --size=1m --io_size=3m --rw=randread"
text offset "$file" "--name=a --filename=x --bs=64k --offset=1m"
text offset-size "$file" "--name=a --filename=x --bs=64k --offset=1m --size=2m"
text size-percent "$file" "--name=a --filename=x --bs=64k --size=50%"
text two-files "$file" "--name=a --filename=x:y --bs=64k --size=2m"
text fsync "$file" "--name=a --filename=x --rw=write --size=256k --fsync=4 --end_fsync=1"
text odd-size : "--name=a --rw=randwrite --bs=64k --size=1000k"
text bs-list "$file" "--name=a --filename=x --rw=rw --rwmixread=0 --bs=4k,16k"
text percentiles "$file" "--name=a --filename=x --percentile_list=50:99.5"
text jobfile "$file; printf '[global]\nbs=64k\nfilename=x\n[one]\nrw=randread\n[two]\nrw=read\nsize=1m\n' >j" j
text jobfile-stdin : "- <<-END
	[one]
	size=1m
	bs=128k
	END"
text no-io : "--name=a --filename=x --rw=read"
status missing-readonly : "--name=a --filename=x --size=1m --readonly"
# timeout would pass the signal on twice
limit=
text interrupted "$file" "--name=a --filename=x --time_based --runtime=10 & sleep 1; kill -TERM \$!; wait \$!" ''
limit="timeout 60"

json json "$file" "--name=a --filename=x --bs=64k --rw=randread --output-format=json"
json json-write-fsync "$file" "--bs=64k --name=a --filename=x --rw=write --fsync=4 --output-format=json"
json json-plus "$file" "--name=a --filename=x --bs=64k --rw=randwrite --output-format=json+"
json json-grouped "$file" "--bs=64k --name=a --filename=x --numjobs=2 --group_reporting --description=d --output-format=json"
json json-two "$file" "--name=a --filename=x --name=b --filename=x --thread --time_based=0 --output-format=json"
json json-and-normal "$file" "--name=a --filename=x --output-format=json,normal"
json json-failed : "--name=a --filename=x --size=1m --readonly --output-format=json"

status unknown-option "$file" "--name=a --filename=x --wibble=1"
status unknown-engine "$file" "--name=a --filename=x --ioengine=wibble"
status bad-value "$file" "--name=a --filename=x --bs=wibble"
status bad-boolean "$file" "--name=a --filename=x --direct --size=1m"
status no-jobs : "--size=1m"
status no-jobfile : "missing.fio"
status bad-jobfile "printf '[a]\nwibble=1\n' >j" j
status readonly-write "$file" "--name=a --filename=x --rw=write --readonly"
status too-small : "--name=a --size=1k"
status missing-directory : "--name=a --size=1m --directory=nowhere"
status two-fail : "--readonly --name=a --filename=x --size=1m --name=b --filename=y --size=1m"
status version : --version
status parse-only : "--name=a --size=1m --parse-only"

# The numbers of samples avoid powers of two: half a unit in the last decimal of a mean may go either way.
exact exact-read "$file" "--name=a --filename=x --bs=64k --rw=randread"
exact exact-mix "$file" "--name=a --filename=x --bs=4k,8k --rw=randrw --rwmixread=70 --description=mix"
exact exact-fsync "$file" "--name=a --filename=x --size=1000k --rw=write --fsync=4"
exact exact-depth "$file" "--name=a --filename=x --size=4000k --rw=randwrite --ioengine=posixaio --iodepth=16"
exact exact-groups "$file" "--filename=x --bs=8k --size=4000k --name=a --numjobs=3 --group_reporting --name=b --new_group --rw=randrw"
exact exact-toggles "$file" "--name=a --filename=x --size=3996k --ioengine=libaio --iodepth=8 --slat_percentiles=1 --lat_percentiles=1 --percentile_list=50:99.95 --continue_on_error=all --description=d"
exact exact-no-clat "$file" "--name=a --filename=x --size=1000k --clat_percentiles=0"
exact exact-disabled "$file" "--name=a --filename=x --size=1000k --disable_clat=1"
exact exact-reduced "$file" "--name=a --filename=x --size=1000k --gtod_reduce=1"
exact exact-samples "$file" "--name=a --filename=x --rw=randrw --time_based --runtime=2 --numjobs=2 --group_reporting"
exact exact-slow "$file" "--name=a --filename=x --rw=randread --rate_iops=50 --time_based --runtime=2"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
