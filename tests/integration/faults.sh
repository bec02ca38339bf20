#!/usr/bin/env bash
# Every fault: one clear message, the documented status, no guest left, finished trials kept.
set -u
. "$(dirname "$0")/lib.sh"

refuse() { # NAME STATUS PATTERN… -- ARGUMENTS…
	local patterns=() name=$1 wanted=$2
	shift 2
	while [ "$1" != -- ]; do patterns+=("$1"); shift; done
	shift
	kb "$@"
	check "$name" "$wanted" "${patterns[@]}"
}

edit() { sed "$1" "$mini" >"$WORK/edited.ini"; } # SED: $WORK/edited.ini is mini.ini changed

# ---- refused before anything starts ----
edit 's/^\[disk\]/[disc]/'
refuse "unknown section" 2 'edited.ini:11: unknown section \[disc\]' -- run "$WORK/edited.ini"
edit 's/^ioeventfd = on/ioeventfdd = on/'
refuse "unknown key" 2 'edited.ini:18: unknown key ioeventfdd' -- run "$WORK/edited.ini"
refuse "bad value" 2 '--set variant.kickfd.ioeventfd=maybe: .*expected on or off' -- \
	run "$mini" --set variant.kickfd.ioeventfd=maybe
edit '/^baseline/d'
refuse "no baseline" 2 'edited.ini:2: no baseline' -- run "$WORK/edited.ini"
edit 's/^\[variant kickfd\]/[variant none]/'
refuse "duplicate variant" 2 'edited.ini:17: section \[variant none\] stands here twice' -- run "$WORK/edited.ini"
refuse "workload larger than the disk" 2 'mini.ini:20: .*is not on the test disk of 16777216 bytes' -- \
	run "$mini" --set workload.size=17m
refuse "ioeventfd=off with an iothread" 2 'mini.ini:14: .*iothread' -- run "$mini" --set variant.none.iothread=on
refuse "io=native with cache=writeback" 2 'io = native needs cache = none' -- \
	run "$mini" --set disk.io=native --set disk.cache=writeback
refuse "latency without an iothread" 2 'latency_ns needs iothread = on' -- \
	run "$mini" --set disk.backend=null --set disk.latency_ns=500000
refuse "kickio's refusal" 2 'mini.ini:20: .*runtime=1min' -- run "$mini" --set workload.runtime=1min
refuse "unknown command" 2 'unknown command frob' -- frob
refuse "results cannot be written" 4 'cannot make the folder' -- run "$mini" -o "$mini/results"
refuse "no such kernel" 4 'kernel /nonexistent/vmlinuz' -- run "$mini" --set guest.kernel=/nonexistent/vmlinuz
refuse "no such disk folder" 4 'cannot make the folder' -- run "$mini" --set disk.path="$mini/disks"

# ---- a host that cannot ----
mkdir -p "$WORK/bin"
for program in timeout sh env cc ls cat sha256sum cut sed awk dirname basename mkdir mktemp rm cmp od dd tr head sort grep gzip flock id uname date; do
	path=$(command -v $program) && ln -sf "$path" "$WORK/bin/$program"
done
name="no QEMU"
status=0
PATH=$WORK/bin XDG_STATE_HOME=$WORK/noqemu timeout 60 "$KICKBENCH" run "$mini" -o "$WORK/r-noqemu" >"$out" 2>&1 || status=$?
check "$name" 4 'finds no QEMU'
refuse "libvirt refuses the domain" 4 'libvirt refuses' -- run "$mini" -o "$WORK/r-refused" --set variant.kickfd.vcpupin=4000
if [ -e /dev/kvm ] && [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
	kb run "$mini" -o "$WORK/r-kvm" --set guest.accel=kvm
	if [ $status = 0 ]; then
		skip "a KVM that does not run the guest" "it does run it on this host"
	else
		check "a KVM that does not run the guest" 4 'accel = kvm, but KVM does not run the guest'
	fi
else
	skip "a KVM that does not run the guest" "no /dev/kvm that can be opened"
fi

# ---- guests that fail ----
refuse "guest panics" 4 'kernel panicked' 'Kernel panic' -- \
	run "$mini" -o "$WORK/r-panic" --set guest.image="$here/images/panics" --set guest.boot_timeout=30s
refuse "guest never says hello" 4 'has not said hello within 8 s' -- \
	run "$mini" -o "$WORK/r-silent" --set guest.image="$here/images/silent" --set guest.boot_timeout=8s
kb run "$mini" -o "$WORK/r-noisy" --set guest.image="$here/images/noisy"
check "damaged and truncated frames" 0 '4 of 4 counted'
kb run "$mini" -o "$WORK/r-eio" --set disk.inject_error=read-error@2048 --set workload.read.time_based=0 --set workload.read.runtime=30
check "disk returns EIO" 3 'Input/output error' 'offset'
kb run --resume "$WORK/r-eio"
check "a resume of a run whose trials failed is not complete" 3 'trials failed'
kb report "$WORK/r-eio"
check "report names the failed trials" 0 'incomplete' 'Input/output error'

start run "$mini" -o "$WORK/r-killed" --set workload.runtime=8s
wait_for 300 emulator_works && kill -9 "$(emulator)"
finish
check "QEMU killed in the middle of a job" 3 'boot 1' 'kept: kickbench report'

start run "$mini" -o "$WORK/r-stopped" --set workload.runtime=8s --set guest.stall_timeout=4s
wait_for 300 emulator_works && kill -STOP "$(emulator)"
finish
check "guest stops answering in the middle of a job" 1 'stalled' 'not said anything for 4 s'

echo "faults: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
