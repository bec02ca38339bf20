#!/usr/bin/env bash
# The whole quick matrix on our Linux guest, clean and in time; another emulator's matrix held against it.
set -u
. "$(dirname "$0")/lib.sh"
tools=$(cd "$here/../lib" && pwd)
other=$(dirname "$KICKBENCH")/other
KICKBENCH_PATIENCE=1500

seen() {
	python3 - "$1" "$2" <<'END'
import glob, json, sys
c = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/cells/*.json"))]
run = json.load(open(sys.argv[1] + "/run.json"))
print(eval(sys.argv[2]))
END
}

# Nothing stalls here but a machine that is short of CPUs.
patient='--set guest.stall_timeout=120s --set guest.boot_timeout=120s'
began=$SECONDS
kb regress --quick $patient -o "$WORK/l-quick"
check "the quick matrix" 0
true_of "its cells cover all possible pairs, at most 30 of them, and none failed" "$WORK/l-quick" "len(c) == len(run['cells']) <= 30 and run['uncovered'] == [] and all(x['status'] in ('pass', 'skipped') for x in c)"
true_of "most were tried" "$WORK/l-quick" "sum(x['status'] == 'pass' for x in c) * 10 >= 9 * len(c)"
clean_consoles "$WORK/l-quick"
echo "      | it took $((SECONDS - began)) s"

# An emulator that hangs before it has a monitor, of one cell of two.
cat >"$WORK/hung-qemu" <<END
#!/bin/sh
case "\$*" in
*guest=kickbench-*'"packed":true'* | *guest=kickbench-*packed=on*) exec sleep 1000 ;;
esac
exec $(command -v qemu-system-x86_64) "\$@"
END
chmod 755 "$WORK/hung-qemu"
kb regress "$here/regress.ini" --only queues=1 --set guest.emulator="$WORK/hung-qemu" -o "$WORK/l-hung"
check "an emulator that hangs is ended" 1 'the emulator has not come up within 120 s and was ended' '1 passed, 1 failed'

if "$tools/other_qemu.sh" "$other/qemu" >"$out" 2>&1; then
	kb regress --quick $patient --set guest.emulator="$other/qemu/qemu-system-x86_64" -o "$WORK/l-other"
	[ $status = 0 ] || [ $status = 1 ] && pass "the quick matrix with another QEMU" || fail "the quick matrix with another QEMU" "status $status"
	kb compare "$WORK/l-quick" "$WORK/l-other"
	check "two matrices compared" 0
	[ $status = 0 ] && sed 's/^/      | /' "$out"
else
	skip "another QEMU" "$(tail -n 1 "$out")"
fi

echo "regress_long: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
