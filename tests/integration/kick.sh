#!/usr/bin/env bash
# The probe under kickbench: kick's table, the latency that has to show itself, faults, KVM's counters, what explains a guest.
set -u
. "$(dirname "$0")/lib.sh"

# seen FOLDER EXPRESSION: Python over the trials t; low(TRIALS, KEY): the smallest time, which load on the host does not move.
seen() {
	python3 - "$1" "$2" <<'END'
import glob, json, sys
t = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/trials/[0-9]*[0-9].json"))]
of = lambda variant, requests=None: [x for x in t if x["variant"] == variant and
                                     (requests is None or x["probe"]["requests"] == requests)]
low = lambda trials, key: min(x["probe"][key]["min"] for x in trials)
print(eval(sys.argv[2]))
END
}

kb kick --blocks 2 --set guest.accel=tcg --set workload.kick.count=200 -o "$WORK/k-kick"
check "kick" 0 '^kick, empty queue  .*[a-z]$' '^kick, 16 requests  .*[a-z]$' '^A kick with 16 requests takes the vCPU' \
	'^done (interrupt), 1 request ' '^CPU left to the guest, 64 requests '
[ -s "$WORK/k-kick/kick.txt" ] && [ -s "$WORK/k-kick/report.txt" ] && pass "kick keeps its table and the report" ||
	fail "kick keeps its table and the report" "$(ls "$WORK/k-kick")"
true_of "settings are in force in the probe" "$WORK/k-kick" \
	"len(t) == 20 and all(x['effective']['verified']['ioeventfd'] == x['variant'] and not x['effective']['mismatch'] for x in t)"
true_of "the host's counters cover the probe" "$WORK/k-kick" \
	"all(x['host']['cpu']['vcpu_us'] > 0 and x['host']['block']['rd_reqs'] >= x['probe']['total'] * 0.9 for x in t if x['probe']['requests'])"

# What is injected has to arrive: in done, and not in the kick, which an iothread serves. A host that was busy in all trials of one side
# gives more of them.
later() { echo "abs(low(of('us1000', $2), '$1') - low(of('us500', $2), '$1') - $3) < 25000"; }
arrives="$(later done_poll 1 500000) and $(later done_poll 16 500000) and $(later done_irq 1 500000) and $(later done_irq 16 500000)"
for try in 1 2 3; do
	kb run kick-latency --set scenario.blocks=2 --set guest.accel=tcg -o "$WORK/k-latency$try"
	[ "$(seen "$WORK/k-latency*" "$arrives and $(later kick 1 0)")" != True ] || break
done
check "500 against 1000 us" 0 '8 of 8 counted' 'later done'
true_of "500 us more in done, within 5 %" "$WORK/k-latency*" "$arrives"
true_of "and less than 5 % of it in kick" "$WORK/k-latency*" "$(later kick 1 0)"

kb run kick-latency --set scenario.blocks=1 --set guest.accel=tcg --set workload.kick.requests=900 -o "$WORK/k-queue"
check "more requests than the queue holds" 3 '--requests=900: the queue.s [0-9]* entries hold'

kb run kick --set scenario.blocks=1 --set guest.accel=tcg --set workload.kick.requests=8 --set workload.kick.count=100 -o "$WORK/k-all"
check "every variant of kick.ini" 0 '24 of 24 counted'
true_of "packed, event_idx and ports are what the probe found" "$WORK/k-all" \
	"all(('packed' in x['variant']) == (x['probe']['ring'] == 'packed') and
	 ('no-event-idx' in x['variant']) == ('EVENT_IDX' not in x['probe']['features']) and
	 (('port' in x['variant'] or 'legacy' in x['variant']) == (x['probe']['notify'] == 'pio')) and
	 ('legacy' in x['variant']) == ('VERSION_1' not in x['probe']['features']) for x in t)"

kb run kickfd --set scenario.blocks=2 --set guest.accel=tcg --set disk.backend=null --set disk.size=64M --set workload.size=4m \
	--set workload.numjobs=1 -o "$WORK/k-guest"
check "the same with a guest that has an operating system" 0 '16 of 16 counted'
kb compare "$WORK/k-guest" "$WORK/k-kick" --explain
check "what explains the guest's result" 0 'what remains' '^randread  .* µs \[.*\] .*\[.*\]'
kb compare "$WORK/k-kick" "$WORK/k-guest" --explain
check "the other way round it is refused" 2 'has one request under way'

# A /dev/kvm that opens, even one that emulates each instruction.
if ! (: <>/dev/kvm) 2>/dev/null; then
	skip "the probe under KVM" "/dev/kvm does not open"
else
	kb kick --blocks 2 --set guest.accel=kvm --set workload.count=50 --set workload.kick.requests=1,16 -o "$WORK/k-kvm"
	check "the probe under KVM" 0 '^kick, 16 requests  ' '^KVM exits per I/O, 16 requests ' 'kvm'
	grep -E '^(kick|KVM exits|KVM.s interrupts|instructions)' "$out" | sed 's/^/      | /'
	true_of "KVM's counters are differences" "$WORK/k-kvm" "all(x['accel'] == 'kvm' and x['host']['kvm']['exits'] > 0 for x in t)"
	kb doctor
	case $status in 0) pass "doctor" ;; *) fail "doctor" "status $status" ;; esac
	says 'the probe under TCG: .* a turn of a loop takes' && says 'accelerator ' && pass "doctor tells what the probe found" ||
		fail "doctor tells what the probe found" "it does not"
fi

echo "kick: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
