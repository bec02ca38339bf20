# What the integration tests share. Sourced; $KICKBENCH and $WORK are set by run.sh.
passed=0 failed=0 skipped=0

here=$(cd "$(dirname "$0")" && pwd)
mini=$here/mini.ini
out=$WORK/out

pass() { passed=$((passed + 1)); echo "pass  $1 (${SECONDS}s)"; }
skip() { skipped=$((skipped + 1)); echo "skip  $1: $2"; }
fail() {
	failed=$((failed + 1))
	echo "FAIL  $1: $2"
	sed 's/^/      | /' "$out" | tail -n 25
}

# kb ARGUMENTS: run kickbench; its status in $status, what it printed in $out.
kb() { status=0; timeout -k 5 ${KICKBENCH_PATIENCE:-600} "$KICKBENCH" "$@" >"$out" 2>&1 </dev/null || status=$?; }

# The emulators of these tests: their names begin so and their root is ours.
guests() { pgrep -f "guest=kickbench-.*$WORK" 2>/dev/null | grep -v "^$$\$" | wc -l; }

# A report's lines are broken where their words, of which some are paths, come to its width: a pattern may stand in two.
says() { grep -q -- "$1" "$out" || sed 's/^ *|* *//' "$out" | tr -s '\n ' '  ' | grep -q -- "$1"; }

# check NAME WANTED-STATUS PATTERN…: judge the last kb.
check() {
	name=$1 wanted=$2
	shift 2
	[ "$status" = "$wanted" ] || { fail "$name" "status $status, expected $wanted"; return 1; }
	for pattern; do
		says "$pattern" || { fail "$name" "does not say: $pattern"; return 1; }
	done
	[ "$(guests)" = 0 ] || { fail "$name" "a guest is still running"; return 1; }
	pass "$name"
}

# true_of NAME FOLDER EXPRESSION: the suite's own seen() says "True" of it.
true_of() {
	local value
	value=$(seen "$2" "$3" 2>&1)
	[ "$value" = True ] && pass "$1" || fail "$1" "$3 is $value"
}

# clean_consoles FOLDER: no guest of that run complained.
clean_consoles() {
	local noise
	noise=$(grep -lE 'BUG:|WARNING:|panic' "$1"/console/*.log)
	[ -z "$noise" ] && pass "consoles are clean" || fail "consoles are clean" "$noise"
}

# wait_for SECONDS COMMAND…: until it succeeds.
wait_for() {
	end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.1
	done
}

# A run in the background: its process in $run, its output in $out.
# (set -m: a shell without job control starts its background processes with SIGINT ignored; whoever started us in the background
# may have been one.)
start() { set -m; env --default-signal=INT "$KICKBENCH" "$@" >"$out" 2>&1 </dev/null & run=$!; set +m; }
finish() { status=0; wait "$run" || status=$?; }
emulator() { pgrep -f "guest=kickbench-$run-" | head -n 1; }
emulator_runs() { [ -n "$(emulator)" ]; }
# In the middle of a job: it has read or written more than a kernel and its initramfs are long.
emulator_works() {
	emulator_runs && [ "$(awk '/^[rw]char/ { sum += $2 } END { print sum + 0 }' "/proc/$(emulator)/io" 2>/dev/null)" -gt 40000000 ]
}
trials() { ls "$1"/trials/[0-9]*[0-9].json 2>/dev/null | grep -vc cut; }
