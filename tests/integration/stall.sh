#!/usr/bin/env bash
# Stalls told apart: a kick that the probe leaves out, an interrupt that it ignores, a device that holds requests, guests that die.
set -u
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"

# seen FOLDER EXPRESSION: Python over the trials t and what explains each, why.
seen() {
	python3 - "$1" "$2" <<'END'
import glob, json, sys
t = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/trials/[0-9]*[0-9].json"))]
why = [x.get("stall") for x in t if x["status"] == "stalled"]
queue = lambda stall, look=1: stall["snapshots"][look]["queues"][0]
print(eval("(" + sys.argv[2] + ")"))
END
}

# ---- the probe loses something itself ----
cat >"$WORK/probe.ini" <<'END'
[scenario]
name = stall
baseline = split
blocks = 1
fresh_boot = per-trial
primary = kicks_per_request

[guest probe]
tool = probe
memory = 64M
accel = tcg
stall_timeout = 5s

[disk]
size = 64M
backend = null

[variant split]
ioeventfd = on

[variant packed]
packed = on

[workload job]
mode = events
count = 500
END
kb run "$WORK/probe.ini" -o "$WORK/s-kick" --set workload.omit-kick=100
check "a kick that was left out" 1 'stalled: .*stands at 99; kick lost: queue 0: the guest has made'
true_of "and its evidence" "$WORK/s-kick" "len(why) == 2 and all(w['cause'] == 'kick lost' and w['resumed'] and
	w['nudges'][0]['completed'] and queue(w)['inuse'] == 0 for w in why)"
true_of "the guest is one ahead" "$WORK/s-kick" "sorted(q['ring'] for q in map(queue, why)) == ['packed', 'split'] and
	all(q['next_available'] if q['ring'] == 'packed' else q['available'] - q['looked_up_to'] == 1 for q in map(queue, why))"
kb run "$WORK/probe.ini" -o "$WORK/s-interrupt" --set workload.ignore-interrupt=100
check "an interrupt that was ignored" 1 'stalled: .*stands at 99; interrupt lost: queue 0: the device is done up to'
true_of "and its evidence" "$WORK/s-interrupt" "len(why) == 2 and all(w['cause'] == 'interrupt lost' and w['resumed'] and
	queue(w)['looked_up_to'] == queue(w)['used'] != queue(w)['seen'] and queue(w, 2)['used'] == queue(w, 2)['seen'] for w in why)"

# ---- Linux ----
sed 's/^\[guest linux\]/&\nstall_timeout = 5s/; s/^blocks = 1/&\nfresh_boot = per-trial/; /^\[workload write\]/,$d; s/runtime = 300ms/runtime = 90s/' "$mini" \
	>"$WORK/linux.ini"

# The device: a server that is stopped when the job has read for a while, and goes on when the guest was given up.
held() { # RING
	local folder=$WORK/s-held-$1 server
	rm -f "$WORK/nbd.sock" "$WORK/nbd.pid" "$WORK/nbd.log"
	nbdkit -U "$WORK/nbd.sock" -P "$WORK/nbd.pid" --filter=log memory 16M logfile="$WORK/nbd.log"
	wait_for 60 test -s "$WORK/nbd.pid"
	server=$(cat "$WORK/nbd.pid")
	chmod 666 "$WORK/nbd.sock"
	start run "$WORK/linux.ini" -o "$folder" --set disk.backend=nbd --set disk.path="$WORK/nbd.sock" --set disk.packed="$2" \
		--set guest.vcpus=2 --set disk.queues=2 --set workload.iodepth=4 --set workload.ioengine=libaio
	busy() { [ "$(grep -c ' Read ' "$WORK/nbd.log")" -gt 1000 ]; }
	wait_for 300 busy && kill -STOP "$server"
	stored() { [ "$(trials "$folder")" -ge 1 ]; }
	wait_for 300 stored
	kill -INT "$run"
	kill -CONT "$server"
	finish
	check "a device that holds requests, $1 ring" 3 'stalled: .*device holds it: queue .: the device has taken .* a further request does not come back'
	true_of "and its evidence" "$folder" "why[0]['cause'] == 'device holds it' and not why[0]['resumed'] and
		why[0]['nudges'][0]['issued'] and not why[0]['nudges'][0]['completed'] and
		any(q['ring'] == '$1' and q['inuse'] > 0 and (not q['next_available'] if q['ring'] == 'packed' else q['available'] == q['looked_up_to'])
			for q in why[0]['snapshots'][1]['queues'])"
	kill "$server"
}
if command -v nbdkit >/dev/null; then
	held split off
	held packed on
else
	skip "a device that holds requests" "there is no nbdkit"
fi

# The guest: its kernel panics and stays there, or somebody keeps its CPU.
for how in panic hang; do
	start run "$WORK/linux.ini" -o "$WORK/s-$how" --set guest.image="$here/images/dies" --set guest.kernel_args=die=$how --set disk.size=24M
	stored() { [ "$(trials "$WORK/s-$how")" -ge 1 ]; }
	wait_for 300 stored
	kill -INT "$run"
	finish
	check "a guest that dies of a $how" 3 'stalled: .*guest dead: the guest runs and does not answer, its vCPUs used'
	true_of "and its evidence" "$WORK/s-$how" "why[0]['cause'] == 'guest dead' and not any(s['talks'] for s in why[0]['snapshots'])
		and ('sysrq triggered crash' in why[0]['why']) == ('$how' == 'panic')"
done

# The emulator itself stands still: nothing that would never be answered is asked.
start run "$WORK/linux.ini" -o "$WORK/s-stopped"
run_works() { says "^results:" && emulator_works; } # and not the trial guest of before
wait_for 300 run_works && kill -STOP "$(emulator)"
stored() { [ "$(trials "$WORK/s-stopped")" -ge 1 ]; }
wait_for 300 stored
kill -INT "$run"
finish
check "an emulator that was stopped" 3 'stalled: .*device holds it: the emulator does not answer its monitor'

echo "stall: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
