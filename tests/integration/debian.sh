#!/usr/bin/env bash
# A distribution's disk image by its serial console: kickio is built in it once, measured on throw-away overlays; and what
# can go wrong. Takes about ten minutes without KVM, most of it for the compiler in the guest.
set -u
. "$(dirname "$0")/lib.sh"

images=$(dirname "$KICKBENCH")/images/debian
scenario=$here/../../scenarios/debian.ini
prepared=$XDG_CACHE_HOME/kickbench/prepared
overlays=$XDG_STATE_HOME/kickbench/overlays

kb_long() { status=0; timeout -k 5 1500 "$KICKBENCH" "$@" >"$out" 2>&1 </dev/null || status=$?; }
digest() { sha256sum "$images/$1.qcow2"; stat -c '%Y %s %u' "$images/$1.qcow2"; }
nothing_left() { [ -z "$(ls -A "$overlays" 2>/dev/null)" ] && [ -z "$(find "$prepared" -name '*-prepare.qcow2' 2>/dev/null)" ]; }

# debian FORM ARGUMENT…: the scenario on that image alone, one block, short jobs.
debian() {
	form=$1
	shift
	kb_long run "$scenario" --set "guest.debian.image=$images/$form.qcow2" --set "guest.debian.password_file=$images/password" \
		--set scenario.guests="${guests:-debian}" --set guest.accel=tcg --set scenario.blocks=1 --set workload.runtime=300ms "$@"
}

FORMS="debian no-compiler full-disk no-virtio" "$here/../../images/debian/build.sh" "$images" >"$out" 2>&1 ||
	{ fail "the images are made" "build.sh"; echo "debian: $passed passed, $failed failed, $skipped skipped"; exit 1; }
before=$(digest debian)

debian debian -o "$WORK/d-first"
check "kickio is built in the guest on first use" 0 'preparing .*debian.qcow2 with kickio' 'prepared in' '4 of 4 counted' \
	'ioeventfd = off' 'ioeventfd = on'
grep -q 'kb-kickio: kickio-.*, built with' "$WORK"/d-first/console/prepare-debian.log && pass "with the guest's compiler" ||
	fail "with the guest's compiler" "$(grep -a kb-kickio "$WORK"/d-first/console/prepare-debian.log)"
[ "$(digest debian)" = "$before" ] && pass "the image is as it was" || fail "the image is as it was" "$before, now $(digest debian)"
nothing_left && pass "no overlay is left" || fail "no overlay is left" "$(ls "$overlays" "$prepared")"

begun=$SECONDS
guests='debian, linux' debian debian -o "$WORK/d-second"
check "a second run uses what was prepared, next to our own guest" 0 '8 of 8 counted' 'debian: randread' 'linux: randread'
says preparing.*kickio && fail "nothing is prepared again" "but it was" || pass "nothing is prepared again ($((SECONDS - begun)) s)"
kb compare "$WORK/d-second" --group-by guest
check "both guests against each other" 0 debian linux
[ "$(digest debian)" = "$before" ] && pass "the image is still as it was" || fail "the image is still as it was" "$(digest debian)"

echo wrong >"$WORK/wrong"
debian debian -o "$WORK/d-wrong" --set "guest.debian.password_file=$WORK/wrong"
check "wrong password" 3 "the console's login was refused: wrong user or password; the last lines" 'Login incorrect'
nothing_left && pass "no overlay is left of it" || fail "no overlay is left of it" "$(ls "$overlays")"

debian debian -o "$WORK/d-none" --set "guest.debian.password_file=$WORK/nowhere"
check "no such password file" 2 "password_file = $WORK/nowhere: No such file"

sed -e 's/^prompt = .*/prompt = never> $/' -e '/^\[login shell\]/a timeout = 30s' "$here/../../images/linux/guest.ini" >"$WORK/never.ini"
debian debian -o "$WORK/d-never" --set "guest.debian.profile=$WORK/never.ini"
check "a prompt that never comes" 3 'login shell\]: nothing has matched "$PROMPT" within 30 s; the last lines' 'root@debian'
nothing_left && pass "no half-made overlay is left" || fail "no half-made overlay is left" "$(ls "$prepared")"

debian no-compiler -o "$WORK/d-cc"
check "an image without a compiler gets the program that comes along" 0 '4 of 4 counted'
grep -qa 'kb-kickio: kickio-.*, brought along for x86_64-linux' "$WORK"/d-cc/console/prepare-debian.log && pass "and says so" ||
	fail "and says so" "$(grep -a kb-kickio "$WORK"/d-cc/console/prepare-debian.log)"

debian full-disk -o "$WORK/d-full"
check "an image with a full disk" 3 'the folder for kickio cannot be made; the last lines' 'No space left on device'

debian no-virtio -o "$WORK/d-virtio"
check "an image without virtio driver" 3 'does not find its root disk: has it the virtio_blk driver' 'no root file system'

# An agent that starts by itself: our own kernel and initramfs beside that disk.
own=$(dirname "$KICKBENCH")/images/linux
cat >"$WORK/own.ini" <<END
[scenario]
baseline = none
blocks = 1
[guest x]
image = $images/debian.qcow2
profile = linux
login = none
accel = tcg
kernel = $own/vmlinuz
initrd = $own/initramfs.cpio.gz
kernel_args = console=ttyS0 quiet panic=-1 tsc=reliable
[disk]
size = 16M
[variant none]
ioeventfd = off
[variant kickfd]
ioeventfd = on
[workload read]
rw = randread
direct = 1
time_based = 1
runtime = 300ms
END
kb_long run "$WORK/own.ini" -o "$WORK/d-own"
check "login = none: nothing but the hello" 0 '2 of 2 counted'
[ "$(digest debian)" = "$before" ] && pass "the image is as it was after all" || fail "the image is as it was after all" "$(digest debian)"

# Guests of commands (driver = exec): logged in on the only serial port, or on the first; kickio from the archive's disk, or there.
by_commands() { KB_TEST_ROOT=$WORK/root.qcow2 KB_TEST_PASSWORD=$(cat "$images/password") kb_long run "$@"; }
fresh() { qemu-img create -q -f qcow2 -F qcow2 -b "$images/no-compiler.qcow2" "$WORK/root.qcow2"; }
login=$here/exec_login.ini
sed 's/-chardev socket,id=console.*/-serial stdio/; s/^link = .*/link = stdio/; /^console/d' "$login" >"$WORK/one.ini"
sed 's/-drive if=none,id=archive.*drive=archive //' "$login" >"$WORK/bare.ini"

fresh
by_commands "$WORK/bare.ini" -o "$WORK/d-bare"
check "by commands, a guest without kickio and without the archive" 3 'has no kickio at /var/tmp/kickbench/kickio-agent, where kickio-' \
	'attach $KICKBENCH_ARCHIVE, read-only, as the second disk (/dev/vdb)' "archive is not where it should be; the last lines" 'kb-archive:1'
by_commands "$WORK/one.ini" -o "$WORK/d-one"
check "by commands, one serial port: login, then the agent has it" 0 '2 of 2 counted' 'started by the scenario'
grep -qa 'kb-kickio: .*brought along' "$WORK/d-one/console/000001.log" && ! grep -qa 'kb-folder' "$WORK/d-one/console/000002.log" &&
	pass "kickio comes in once on a disk that is kept" || fail "kickio comes in once on a disk that is kept" "$(grep -a kb- "$WORK"/d-one/console/*.log | cut -c1-120)"
by_commands "$WORK/bare.ini" -o "$WORK/d-two" --set guest.debian.user=root
check "by commands, two serial ports, kickio there already" 0 '2 of 2 counted'
[ -z "$(ls -A "$WORK/state/kickbench/exec" 2>/dev/null)" ] && pass "no record is left of them" || fail "no record is left of them" "$(ls "$WORK/state/kickbench/exec")"

start run "$scenario" --set "guest.debian.image=$images/debian.qcow2" --set "guest.debian.password_file=$images/password" \
	--set guest.accel=tcg --set scenario.guests=debian -o "$WORK/d-int"
wait_for 300 emulator_runs
sleep 2
kill -INT "$run"
finish
check "interrupted while it logs in" 3 'interrupted by signal 2'
nothing_left && pass "nothing is left of it" || fail "nothing is left of it" "$(ls "$overlays")"

noise=$(grep -laE 'BUG:|WARNING:|panic' "$WORK"/d-first/console/*.log "$WORK"/d-second/console/*.log)
[ -z "$noise" ] && pass "guest consoles are clean" || fail "guest consoles are clean" "$noise"

echo "debian: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
