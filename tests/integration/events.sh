#!/usr/bin/env bash
# Every event in the middle of a job on our Linux guest: what is to be seen of it is, and a device that is sound fails none.
set -u
. "$(dirname "$0")/lib.sh"
KICKBENCH_PATIENCE=1400

seen() {
	python3 - "$1" "$2" <<'END'
import glob, json, sys
cells = {c["options"]["event"]: c for c in (json.load(open(f)) for f in glob.glob(sys.argv[1] + "/cells/*.json"))}
run = json.load(open(sys.argv[1] + "/run.json"))
events = next(o["values"] for o in run["options"] if o["name"] == "event")

def status(event, check):
    return next((k["status"] for k in cells[event]["checks"] if k["name"] == event + ": " + check), None)

def evidence(event, check):
    return next(k["evidence"] for k in cells[event]["checks"] if k["name"] == event + ": " + check)

print(eval(sys.argv[2]))
END
}

kb regress "$here/events.ini" -o "$WORK/e-all"
check "every event" 0
true_of "each was tried and passed" "$WORK/e-all" "sorted(cells) == sorted(events) and all(c['status'] == 'pass' for c in cells.values())"
# What makes an event one: its cell has passed this check, and not for want of it.
while IFS='|' read -r event name; do
	true_of "$event: $name" "$WORK/e-all" "status('$event', '$name') == 'pass'"
done <<'END'
eio-read|EIO is seen at its place and nowhere else
eio-write|EIO is seen at its place and nowhere else
eio-write|the job goes on elsewhere
eio-flush|EIO is seen once, by an fsync
enospc|the emulator stops the guest
werror-stop|the request is made again and the job ends well
throttle|the device is slow for a while
reset|the guest starts again
reset|nothing that was completed before the reset is lost
pause|nothing happens while the guest is paused
save-restore|the guest goes on in another process
resize|I/O beyond the old end
unplug|the job gets errors and ends
unplug|plugged again it is there
rebind|bound again it is there
rebind|the disk works afterwards
END
true_of "much was completed before the reset" "$WORK/e-all" "evidence('reset', 'nothing that was completed before the reset is lost')['blocks'] > 20"
clean_consoles "$WORK/e-all"
[ -z "$(find "$WORK" -name '*.saved')" ] && pass "no saved guest is left" || fail "no saved guest is left" "there is one"


echo "events: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
