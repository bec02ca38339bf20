#!/usr/bin/env bash
# kickbench itself is ended, by signals that it hears and by those that it does not: what was finished is kept, and a resume goes on.
set -u
. "$(dirname "$0")/lib.sh"

kb run "$mini" -o "$WORK/r-first"
check "a run that nobody ends" 0 '4 of 4 counted' # and the trial guest is known

for signal in INT TERM; do
	for delay in 0.3 2 5; do
		rm -rf "$WORK/r-signal"
		start run "$mini" -o "$WORK/r-signal" --set workload.runtime=2s --set scenario.blocks=2
		wait_for 30 grep -q '^SigCgt:.*[2367abef]$' "/proc/$run/status" # it is no longer the loader that gets it
		sleep $delay
		kill -$signal "$run" 2>/dev/null
		finish
		check "SIG$signal after $delay s" 3 'interrupted by signal' || break 2
	done
done
# An emulator that runs and says nothing: no signal lets libvirt go on.
cat >"$WORK/hangs" <<'END'
#!/bin/sh
case "$*" in *guest=kickbench-*) while :; do sleep 0.2; done ;; esac
exec qemu-system-x86_64 "$@"
END
chmod 755 "$WORK/hangs"
start run "$mini" -o "$WORK/r-hangs" --set guest.emulator="$WORK/hangs"
wait_for 300 emulator_runs
sleep 1
kill -INT "$run"
since=$SECONDS
finish
check "SIGINT while an emulator hangs before its guest" 3 'interrupted by signal 2 while the emulator was coming up'
[ $((SECONDS - since)) -lt 30 ] && pass "which is not waited for" || fail "which is not waited for" "it took $((SECONDS - since)) s"

kb report "$WORK/r-signal"
check "report of an interrupted run" 0 'incomplete'
kb run --resume "$WORK/r-signal"
check "resume after a signal" 0 '8 of 8 counted'

start run "$mini" -o "$WORK/r-sigkill" --set workload.runtime=1s --set scenario.blocks=2
first_block() { [ "$(trials "$WORK/r-sigkill")" -ge 5 ]; }
wait_for 300 first_block
kb run "$mini"
[ $status = 4 ] && says 'another kickbench uses this host' && pass "a second kickbench while one runs" ||
	fail "a second kickbench while one runs" "status $status"
kill -9 "$run"
finish
[ "$(guests)" -ge 1 ] && pass "SIGKILL leaves a guest" || fail "SIGKILL leaves a guest" "none is there: the next test proves nothing"
kb run --resume "$WORK/r-sigkill"
check "resume after SIGKILL" 0 'removed the guest kickbench-' '8 of 8 counted' '1 of a block that was cut\|cut'
kb run "$mini" -o "$WORK/r-after"
check "a new run after all that" 0 '4 of 4 counted'

echo "signals: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
