# Sourced by check.sh and check-long.sh with BUILD as $1: runs tests, counts them, prints the line that CI looks for.
build=$1
log=$(mktemp)
failures=$(mktemp)
trap 'rm -f "$log" "$failures"' EXIT
passed=0 failed=0 skipped=0 begun=$SECONDS within=

section() { echo; echo "== $1 (at $((SECONDS - begun)) s)"; }

# failure SECTION <OUTPUT: what failed there and the lines that say why are kept, to be said again at the end.
failure() {
	awk -v section="$1" '
		/^FAIL/ { print section ": " $0; more = 25; next }
		/^[ \t]/ && more > 0 { print substr($0, 1, 200); more--; next }
		{ more = 0 }' >>"$failures"
}

# A cmocka program counts its tests itself. told NAME LOG STATUS
told() {
	local name=$1 log=$2 status=$3 why p s f
	p=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test(s).*/\1/p' "$log" | tail -n 1)
	s=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test(s).*/\1/p' "$log" | tail -n 1)
	f=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s).*/\1/p' "$log" | tail -n 1)
	passed=$((passed + ${p:-0})) skipped=$((skipped + ${s:-0}))
	if [ "$status" != 0 ] || [ -z "$p" ]; then
		failed=$((failed + (${f:-0} > 0 ? f : 1)))
		why=$(echo "FAIL  $name (status $status)"; grep -vE '^\[ (RUN|      OK) ' "$log" | tail -n 25 | sed 's/^/      | /')
		echo "$why"
		failure "unit tests" <<<"$why"
	else
		echo "pass  $name: $p tests${s:+, $s skipped}"
	fi
}

# units FLAVOUR: its programs, one more than there are CPUs at a time: many of them wait most of their time.
units() {
	local logs test name
	logs=$(mktemp -d)
	# shellcheck disable=SC2016
	printf '%s\n' "$build/$1"/test_* | within=$within logs=$logs xargs -P $(($(nproc) + 1)) -I{} bash -c \
		'timeout 300 $within "$0" >"$logs/${0##*/}" 2>&1 </dev/null; echo $? >"$logs/${0##*/}.status"' {}
	for test in "$build/$1"/test_*; do
		name=${test##*/}
		told "$1/$name" "$logs/$name" "$(cat "$logs/$name.status" 2>/dev/null || echo none)"
	done
	rm -rf "$logs"
}

# A script that ends with "N passed, N failed, N skipped".
script() {
	local name=$1 status=0 line
	shift
	section "$name"
	timeout 2400 "$@" >"$log" 2>&1 </dev/null || status=$?
	grep -v 'passed, .* failed' "$log"
	failure "$name" <"$log"
	line=$(grep -oE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$log")
	if [ -z "$line" ]; then
		echo "FAIL  $name: ended with status $status without counting its tests" | tee -a "$failures"
		failed=$((failed + 1))
		return
	fi
	while read -r p _ f _ s _; do
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	done <<<"${line//,/}"
	if [ $status != 0 ] && ! grep -qE '[1-9][0-9]* failed' <<<"$line"; then
		echo "FAIL  $name: status $status although no test failed" | tee -a "$failures"
		failed=$((failed + 1))
	fi
}

finish() {
	if [ -s "$failures" ]; then
		echo
		echo "== what failed"
		cat "$failures"
	fi
	echo
	echo "took $((SECONDS - begun)) s"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
}
