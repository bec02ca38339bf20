#!/usr/bin/env bash
# What has to work with real guests, in the smallest form that shows it.
set -u
. "$(dirname "$0")/lib.sh"

json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); print($2)" "$1"; }

kb run "$mini" -o "$WORK/w-mini"
check "two variants, two workloads" 0 '4 of 4 counted' 'ioeventfd = off' 'ioeventfd = on'
seen=$(json "$WORK/w-mini/trials/000001.json" "d['status'], d['fio']['jobs'][0]['error'], d['host']['cpu']['vcpu_us']>0, d['host']['block']['rd_reqs']+d['host']['block']['wr_reqs']>0, d['guest_counters']['interrupts']>0, d['effective']['mismatch']")
[ "$seen" = "ok 0 True True True []" ] && pass "trial record" || fail "trial record" "$seen"
noise=$(grep -lE 'BUG:|WARNING:|panic' "$WORK"/w-mini/console/*.log)
[ -z "$noise" ] && pass "guest consoles are clean" || fail "guest consoles are clean" "$noise"

left=$(find "$XDG_STATE_HOME/kickbench/trial" -type f)
[ -z "$left" ] && pass "nothing is left of the trial guest's disk" || fail "nothing is left of the trial guest's disk" "$left"

# Two equal boots are called different as often as alpha says: not here.
kb selftest "$mini" --blocks 2 --set scenario.alpha=0.000001 -o "$WORK/w-self"
check "selftest" 0 'none against itself: scenario mini, 2 blocks, 2 cells' '^  verdicts     0 of 2 cells' '^In words: '
seen=$(json "$WORK/w-self/run.json" "[v['settings']['ioeventfd'] for v in d['variants']], d['set'][1:]")
[ "$seen" = "['off', 'off'] ['scenario.against=itself', 'scenario.fail_on=worse, better, stalled, corrupt', 'scenario.blocks=2']" ] &&
	pass "selftest leaves other variants out" || fail "selftest leaves other variants out" "$seen"

kb plan "$mini" --xml kickfd
check "plan --xml" 0 "ioeventfd=\"on\""
kb plan "$mini" --set scenario.blocks=8
check "plan" 0 'block 1' 'effect on iops'

kb run "$mini" -o "$WORK/w-disks" --set scenario.pairing=disks --set scenario.blocks=2
check "both variants as disks of one guest" 0 '8 of 8 counted' 'pairing disks'

kb run "$mini" -o "$WORK/w-null" --set disk.backend=null --set disk.iothread=on --set disk.poll_max_ns=0 \
	--set variant.none.ioeventfd=on --set variant.none.latency_ns=1000000 --set variant.kickfd.latency_ns=3000000
check "null-co with a latency in an iothread" 0 '4 of 4 counted' 'poll_max_ns = 0' 'latency_ns = 3000000'
slow=$(json "$WORK/w-null/trials/000001.json" "[min(5, int(j[k]['clat_ns']['min']//1e6)) for j in d['fio']['jobs'] for k in ('read','write') if j[k]['total_ios']][0]")
variant=$(json "$WORK/w-null/trials/000001.json" "d['variant']")
case $variant:$slow in none:1 | kickfd:3) pass "the latency arrives in the guest" ;;
*) fail "the latency arrives in the guest" "$variant: $slow ms" ;; esac

kb run "$mini" -o "$WORK/w-all" --set disk.backend=memory --set variant.kickfd.iothread=on --set variant.kickfd.event_idx=off \
	--set variant.kickfd.packed=on --set variant.kickfd.queues=2 --set guest.vcpus=2 --set variant.kickfd.queue_size=64 \
	--set variant.kickfd.emulatorpin=0 --set variant.kickfd.vcpupin=0-1 --set variant.kickfd.iothreadpin=1 \
	--set variant.none.model=virtio-transitional
check "many settings at once, on tmpfs" 0 '4 of 4 counted' 'event_idx = off' 'packed = on' 'queues = 2' 'queue_size = 64'
[ -z "$(find "/dev/shm/kickbench-$(id -u)" -type f 2>/dev/null)" ] && pass "no disk left in memory" || fail "no disk left in memory" "$(ls "/dev/shm/kickbench-$(id -u)")"

# The other transports, as the guest's driver negotiated them.
kb run "$mini" -o "$WORK/w-mmio" --set guest.linux.machine=microvm --set variant.kickfd.ioeventfd=off --set variant.kickfd.packed=on
check "disks on virtio-mmio, a kernel that has no old timer" 0 '4 of 4 counted' 'machine = microvm' 'packed = on' 'VIRTIO_F_RING_PACKED'
seen=$(json "$WORK/w-mmio/trials/000001.json" "d['effective']['mismatch'], 'VIRTIO_F_VERSION_1' in d['effective']['features']")
[ "$seen" = "[] True" ] && pass "virtio-mmio is modern" || fail "virtio-mmio is modern" "$seen"
kb run "$mini" -o "$WORK/w-legacy" --set guest.linux.qemu.disable-modern=on --set disk.size=512 --set workload.bs=512
check "a legacy device of one sector" 0 '4 of 4 counted' 'qemu.disable-modern'
seen=$(json "$WORK/w-legacy/trials/000001.json" "d['effective']['mismatch'], 'VIRTIO_F_VERSION_1' in d['effective']['features']")
[ "$seen" = "[] False" ] && pass "the legacy device is none of version 1" || fail "the legacy device is none of version 1" "$seen"

# A disk that a server offers.
socket=$WORK/w.sock
server=(--set disk.backend=nbd --set "disk.path=$socket" --set variant.kickfd.iothread=on --set variant.kickfd.cache=writethrough)
kb run "$mini" -o "$WORK/w-nbd-none" "${server[@]}"
check "a server that is not there" 4 "no NBD server listens on $socket"
if command -v nbdkit >/dev/null; then
	nbdkit -f -U "$socket" memory 16M >/dev/null 2>&1 &
	nbd=$!
	for _ in $(seq 50); do [ -S "$socket" ] && break || sleep 0.1; done
	kb run "$mini" -o "$WORK/w-nbd-size" "${server[@]}" --set disk.size=8M
	check "a server's disk of another size" 2 'offers a disk of 16M, and disk.size is 8M'
	kb run "$mini" -o "$WORK/w-nbd" "${server[@]}"
	check "a server's disk" 0 '4 of 4 counted' 'backend = nbd; cache = none' 'backend = nbd; cache = writethrough'
	kill "$nbd"
	wait "$nbd" 2>/dev/null
else
	skip "a server's disk" "there is no nbdkit"
fi

# An ordinary user without libvirt's daemon, with folders of its own.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	home=$WORK/nobody
	mkdir -p "$home" && chown 65534:65534 "$home"
	status=0
	(cd "$home" && setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$home" XDG_STATE_HOME= XDG_CACHE_HOME= \
		timeout 600 "$KICKBENCH" run "$mini" -o "$home/run" >"$out" 2>&1 </dev/null) || status=$?
	check "an ordinary user" 0 '4 of 4 counted'
	[ -z "$(pgrep -r D,R,S -u 65534 virtlogd)" ] && pass "no virtlogd left" || fail "no virtlogd left" "$(pgrep -a virtlogd)"
else
	skip "an ordinary user" "needs root to become one; these tests run as one already"
fi

# The same through a daemon that this test starts, in folders of its own.
if [ "$(id -u)" = 0 ] && command -v libvirtd >/dev/null && command -v unshare >/dev/null && [ ! -S /run/libvirt/libvirt-sock ]; then
	"$here/daemon.sh" "$KICKBENCH" run "$mini" -o "$WORK/w-daemon" --connect qemu:///system >"$out" 2>&1 </dev/null
	status=$?
	check "qemu:///system" 0 '4 of 4 counted'
else
	skip "qemu:///system" "needs root, libvirtd, and no daemon that runs already"
fi

kb doctor
check "doctor" 0 'this host can run kickbench'
kb clean
check "clean" 0 'results are left alone'
[ -d "$WORK/w-mini/trials" ] && [ -z "$(find "$XDG_STATE_HOME" -name '*.raw')" ] && pass "clean removes disks, not results" ||
	fail "clean removes disks, not results" "$(find "$XDG_STATE_HOME" -name '*.raw')"

echo "works: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
