#!/usr/bin/env bash
# Another emulator and another guest kernel as variants, with real guests; both are fetched and kept beside the build.
set -u
. "$(dirname "$0")/lib.sh"
tools=$(cd "$here/../lib" && pwd)
scenarios=$(cd "$here/../../scenarios" && pwd)
other=$(dirname "$KICKBENCH")/other
tcg="--set guest.accel=tcg"

# seen FOLDER EXPRESSION: Python over the trials, t: all of them, by: those of each variant.
seen() {
	python3 - "$1" "$2" <<'END'
import glob, json, sys
t = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/trials/*.json"))]
run = json.load(open(sys.argv[1] + "/run.json"))
by = {v["name"]: [x for x in t if x["variant"] == v["name"]] for v in run["variants"]}
verified = lambda x, key: x["effective"]["verified"].get(key)
print(eval(sys.argv[2]))
END
}

finish_suite() {
	echo "emulators: $passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
}

# ---- faults first: they need nothing that is fetched ----

kb run "$mini" -o "$WORK/e-none" --set variant.kickfd.emulator=/nonexistent/qemu
check "an emulator that is missing" 4 '/nonexistent/qemu' 'variant kickfd'
echo '#!/bin/sh' >"$WORK/no-program" && chmod 644 "$WORK/no-program"
kb run "$mini" -o "$WORK/e-mode" --set variant.kickfd.emulator="$WORK/no-program"
check "an emulator that cannot be run" 4 'no-program cannot be run: Permission denied'
printf '#!/bin/sh\necho no emulator at all >&2\nexit 1\n' >"$WORK/no-emulator" && chmod 755 "$WORK/no-emulator"
kb run "$mini" -o "$WORK/e-bad" --set variant.kickfd.emulator="$WORK/no-emulator"
check "a program that is no emulator" 4 "emulator .*no-emulator: libvirt cannot use it"
kb run "$mini" -o "$WORK/e-type" --set variant.kickfd.machine=pc-i440fx-99.9
check "an unknown machine type" 4 'pc-i440fx-99.9'
kb run "$mini" -o "$WORK/e-host" --set variant.kickfd.cpu=host
check "cpu = host under TCG" 2 'variant kickfd' 'cpu = host'
kb run "$mini" -o "$WORK/e-cpu" --set variant.kickfd.cpu=NoSuchCPU
check "an unknown CPU" 4 'NoSuchCPU'
kb run "$mini" -o "$WORK/e-property" --set variant.kickfd.qemu.no-such-thing=1
check "an unknown property" 4 'no-such-thing'
kb run "$mini" -o "$WORK/e-kernel" --set variant.kickfd.kernel=/nonexistent/vmlinuz
check "a kernel that is missing" 4 '/nonexistent/vmlinuz: No such file'
[ -z "$(ls -d "$WORK"/e-* 2>/dev/null)" ] && pass "nothing is left of them" || fail "nothing is left of them" "$(ls -d "$WORK"/e-*)"

# ---- every key at once ----

# The same files by other names than the suite's own choice.
firmware=/usr/share/seabios/bios-256k.bin initrd=$(dirname "$KICKBENCH")/images/linux/initramfs.cpio.gz files=
[ ! -r $firmware ] || files="--set variant.kickfd.firmware=$firmware"
[ ! -r "$initrd" ] || files="$files --set variant.kickfd.initrd=$initrd"
kb run "$mini" -o "$WORK/m-all" $files --set variant.kickfd.cpu=max --set variant.kickfd.vcpus=2 --set variant.kickfd.memory=300M \
	--set variant.kickfd.machine=q35 --set variant.kickfd.qemu.indirect_desc=off --set variant.kickfd.kernel_args=kickbench=1 \
	--set 'variant.kickfd.qemu_args=-global isa-serial.wakeup=off' --set 'variant.kickfd.qemu.disable-legacy="on"'
check "many keys of the machine at once" 0 '4 of 4 counted' 'cpu=max' 'memory=300M' 'qemu.indirect_desc = off'
true_of "they are verified" "$WORK/m-all" "all([verified(x, k) for k in ('cpu', 'vcpus', 'memory', 'qemu.indirect_desc', 'qemu.disable-legacy', 'kernel_args', 'qemu_args')] == ['max', '2', '300M', 'off', 'on', 'kickbench=1', '-global isa-serial.wakeup=off'] and verified(x, 'machine').startswith('pc-q35-') and x['effective']['mismatch'] == [] for x in by['kickfd'])"
[ ! -r $firmware ] || true_of "firmware" "$WORK/m-all" "all(verified(x, 'firmware') == '$firmware' for x in by['kickfd'])"
[ ! -r "$initrd" ] || true_of "initrd" "$WORK/m-all" "all(verified(x, 'initrd') == '$initrd' for x in by['kickfd'])"
true_of "the other variant is as ever" "$WORK/m-all" "all(verified(x, 'cpu') == 'qemu64' and verified(x, 'vcpus') == '1' and verified(x, 'machine').startswith('pc-i440fx-') for x in by['none'])"
true_of "a trial has an identity" "$WORK/m-all" "all(x['identity']['accel'] == 'tcg' and x['identity']['cpu'] == {'none': 'qemu64', 'kickfd': 'max'}[x['variant']] and x['identity']['host'] and x['identity']['host_cpu'] for x in t)"

# ---- two emulators ----

if ! "$tools/other_qemu.sh" "$other/qemu" >"$out" 2>&1; then
	skip "two emulators" "$(tail -n 1 "$out")"
	skip "two kernels" "the same"
	finish_suite
fi
version=$("$other/qemu/qemu-system-x86_64" -version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
system=$(qemu-system-x86_64 -version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
pass "another emulator is fetched: $version beside $system"
emulator="--set variant.other.emulator=$other/qemu/qemu-system-x86_64"
kb run "$scenarios/emulators.ini" -o "$WORK/emulators" $tcg $emulator
check "two emulators" 0 '8 of 8 counted' "qemu_version = QEMU $version" "qemu_version = QEMU $system" \
	"emulator=$other/qemu/qemu-system-x86_64"
says 'WARNING *trials ran' && fail "they are no mixture" "the report warns" || pass "they are no mixture"
true_of "each variant ran its own" "$WORK/emulators" "all(x['qemu_version'].split()[1] == verified(x, 'qemu_version').split()[1] == {'system': '$system', 'other': '$version'}[x['variant']] for x in t) and len(t) == 8"
true_of "with the same machine, all in force" "$WORK/emulators" "all(verified(x, 'machine') == 'pc-i440fx-7.2' and x['effective']['mismatch'] == [] for x in t)"
clean_consoles "$WORK/emulators"
kb report "$WORK/emulators"
check "its report again" 0 "qemu_version = QEMU $version"

# An ordinary user, to whom the emulator's folder is somebody else's.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	home=$WORK/nobody
	mkdir -p "$home" && chown 65534:65534 "$home"
	status=0
	(cd "$home" && setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$home" XDG_STATE_HOME= XDG_CACHE_HOME= \
		timeout 600 "$KICKBENCH" run "$scenarios/emulators.ini" -o "$home/run" $tcg $emulator --set scenario.blocks=1 \
		>"$out" 2>&1 </dev/null) || status=$?
	check "an ordinary user" 0 '4 of 4 counted' "qemu_version = QEMU $version"
else
	skip "an ordinary user" "needs root to become one; these tests run as one already"
fi

# ---- two kernels ----

if ! "$tools/other_kernel.sh" "$other/kernel" >"$out" 2>&1; then
	skip "two kernels" "$(tail -n 1 "$out")"
	finish_suite
fi
kernel=$(readlink "$other/kernel/vmlinuz" | sed 's/.*vmlinuz-//')
pass "another kernel is fetched: $kernel"
kb run "$scenarios/kernels.ini" -o "$WORK/kernels" $tcg --set variant.other.kernel="$other/kernel/vmlinuz"
check "two kernels" 0 '8 of 8 counted' "kernel = $kernel"
says 'WARNING *trials ran' && fail "they are no mixture" "the report warns" || pass "they are no mixture"
true_of "each variant ran its own" "$WORK/kernels" "all(x['guest_kernel'] == verified(x, 'kernel') and (x['guest_kernel'] == '$kernel') == (x['variant'] == 'other') and x['effective']['mismatch'] == [] for x in t) and len(t) == 8"
clean_consoles "$WORK/kernels"
kb run "$scenarios/kernels.ini" -o "$WORK/kernels-folder" $tcg --set scenario.blocks=1 --set variant.other.kernel="$other/kernel"
check "a kernel named by its package's folder" 0 '4 of 4 counted' "kernel = $kernel"
finish_suite
