#!/usr/bin/env bash
# run.sh BUILD [SECONDS]: each fuzzer of BUILD/fuzz on its seeds, then for SECONDS on what it makes of them at random; what it
# finds new is kept in BUILD/fuzz/corpus for the next run. Without SECONDS on a few inputs more than the seeds, the same each
# time, and nothing new is kept. An input that breaks a reader is kept in BUILD/fuzz/crashes.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1 fuzz=$1/fuzz seconds=${2-}
more=2000 # inputs without SECONDS: about a second
corpus=${KICKBENCH_CORPUS:-../shared/corpus}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export LC_ALL=C
passed=0 failed=0 skipped=0

# Each seed once, under a name of its own; the largest are cut off by -max_len.
put() {
	local file
	for file; do
		[ -f "$file" ] && cp "$file" "$seeds/$(md5sum <"$file" | cut -c 1-32)"
	done
}

# What is worth reading to the reader of that name.
collect() {
	put tests/fuzz/seeds/"$1"/*
	case $1 in
	scenario) put scenarios/*.ini tests/integration/*.ini ;;
	fio_text) put tests/golden/*/stdout tests/golden/*/*.txt "$corpus"/text/*.txt "$corpus"/seeds/*.txt "$corpus"/terse/* ;;
	fio_json) put tests/golden/*/*.json "$corpus"/json/*.json "$corpus"/json/*.txt ;;
	fio_terse) put "$corpus"/terse/* ;;
	fio_table) put "$corpus"/seeds/*.txt ;;
	esac
}

# Words that a reader knows, one a line, as libFuzzer's dictionary.
words() {
	case $1 in
	scenario) "$build/kickbench" help scenario | sed -n 's/^  \([a-z_]*\)  *[^ ].*/\1 = /p' ;;
	jobfile) "$build/kickio" --cmdhelp | sed -n 's/^\([a-z_0-9]*\)  *[^ ].*/\1=/p' ;;
	trial | run | fio_json) find "$seeds" -type f -exec cat {} + | grep -aoE '"[a-z_]+":' | sort -u ;;
	esac | sed 's/["\\]/\\&/g; s/.*/"&"/'
}

[ -d "$corpus" ] || echo "no corpus at $corpus: the seeds of the tree alone (KICKBENCH_CORPUS names another)"
mkdir -p "$fuzz/crashes"
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	name=${name#fuzz_} status=0
	seeds=$fuzz/seeds/$name
	rm -rf "$seeds"
	mkdir -p "$seeds"
	collect "$name"
	words "$name" >"$seeds.dict"
	dict=
	[ ! -s "$seeds.dict" ] || dict=-dict=$seeds.dict
	if [ -n "$seconds" ]; then
		mkdir -p "$fuzz/corpus/$name"
		how=(-max_total_time="$seconds" "$fuzz/corpus/$name" "$seeds")
	else # a list, for a folder's order is the file system's; what is compared may be an address, which is another each time
		printf '%s' "$(find "$seeds" -type f | sort | paste -sd ,)" >"$seeds.list"
		how=(-seed=1 -use_cmp=0 -runs=$(($(find "$seeds" -type f | wc -l) + more)))
		[ ! -s "$seeds.list" ] || how+=(-seed_inputs=@"$seeds.list")
	fi
	"$fuzz/fuzz_$name" -max_len=32768 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 $dict \
		-artifact_prefix="$fuzz/crashes/$name-" "${how[@]}" >"$log" 2>&1 </dev/null || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	if [ $status = 0 ] && [ -n "$runs" ]; then
		passed=$((passed + 1))
		echo "pass  $name: $runs inputs, $(find "$seeds" -type f | wc -l) seeds"
	else
		failed=$((failed + 1))
		echo "FAIL  $name: status $status, $(sed -n 's/.*Test unit written to /input: /p' "$log")"
		grep -E 'ERROR|SUMMARY|runtime error|^ +#[0-9] ' "$log" | head -n 30 | sed 's/^/      | /'
	fi
done
echo "fuzzers: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
