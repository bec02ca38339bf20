# Guests that commands start (driver = exec): plain QEMU over sockets, one serial port, and commands that misbehave.
# The first cases alone, unless KICKBENCH_LONG is set.
set -u
. "$(dirname "$0")/lib.sh"

exec_ini=$here/exec.ini

# Processes of guests of these tests: they have their folder's variable, and our state in their environment.
left() { grep -lsz "^XDG_STATE_HOME=$WORK/state" /proc/[0-9]*/environ 2>/dev/null | while read -r f; do
	grep -qsz '^KICKBENCH_FOLDER=' "$f" && echo "$f"; done | wc -l; }
emulators_of() { grep -lsz "^XDG_STATE_HOME=$WORK/state" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | while read -r p; do
	grep -qs '^qemu-system' "/proc/$p/comm" && echo "$p"; done; }
none_left() { [ "$(left)" = 0 ] && [ -z "$(ls "$WORK/state/kickbench/exec" 2>/dev/null)" ]; }

# clean NAME: what check cannot know.
clean() { none_left && pass "$1: nothing is left" || fail "$1" "$(left) processes and $(ls "$WORK/state/kickbench/exec" | wc -l) records are left"; }

# one_port FILE SED: exec.ini with other ports.
variation() { sed "$2" "$exec_ini" >"$1"; }
headings() { grep -E '^[A-Z][A-Z ,()a-z]*$|^[A-Z]{4,}' "$1" | sed 's/[(,].*//' | sort -u; }

kb run "$exec_ini" -o two
check "two serial ports over sockets, by commands" 0 'ioeventfd=off' 'verified .*ioeventfd = on.*queues = 1' '4 of 4 counted' 'started by the scenario'
clean "two serial ports"
grep -q 'Power down' two/console/000001.log && ! grep -q '@kb1' two/console/000001.log && grep -q '"ioeventfd": "off"\|KICKBENCH_IOEVENTFD": "off"' two/domains/none.json &&
	pass "console and commands are kept" || fail "console and commands are kept" "$(ls -R two)"

variation fails.ini 's/^start = .*/start = sleep 1000 \& echo "no such machine"; exit 3/'
kb run fails.ini -o fails
check "a start command that fails" 4 'start command ended with status 3' 'no such machine'
clean "a start command that fails, with a child left behind"

if [ -n "${KICKBENCH_LONG-}" ]; then
	{
		sed -e '/^\[variant/,$d' -e '/^baseline/d' -e '/^blocks/d' -e '/^seed/d' "$exec_ini"
		printf '[matrix quick]\nnotify = off, on\nevent = none, pause\n'
	} >matrix.ini
	kb regress matrix.ini --only event=none --only notify=on,event=pause -o matrix
	check "a regression matrix" 0 '2 passed, 0 failed, 0 stalled, 0 corrupt, 1 skipped' 'event pause: events are made through libvirt'
	grep -q '"second opinion, the whole disk"' matrix/cells/*.json && grep -q "blklogwrites is put below the disk through libvirt" matrix/cells/*.json &&
		pass "its image is looked at, and why its writes are not logged is said" || fail "its image is looked at" "$(cat matrix/cells/*.json)"
	clean "a regression matrix"

	kb run "$mini" -o libvirt
	check "the same under libvirt" 0 '4 of 4 counted'
	[ -s two/report.txt ] && [ -s libvirt/report.txt ] && diff <(headings two/report.txt) <(headings libvirt/report.txt) >"$out" &&
		pass "both reports have the same parts" || fail "both reports have the same parts" "they differ"

	# One port, as a pty that the emulator names, at a speed; the kernel's messages stand between the frames.
	variation one.ini 's/-chardev socket,id=console.*/-chardev pty,id=link -serial chardev:link 2>\&1 | { read -r line; path=${line#*redirected to }; ln -s "${path%% *}" "$KICKBENCH_FOLDER\/tty"; cat; }/
		s/^start = exec /start = /; s/^link = .*/link = pty $KICKBENCH_FOLDER\/tty/; s/^console = .*/baud = 115200/
		s/^accel = .*/&\nkernel_args = kickbench.port=\/dev\/ttyS0 loglevel=7/'
	kb run one.ini -o one
	check "one serial port: a pty, shared with the console, at 115200 baud" 0 '4 of 4 counted' 'verified .*ioeventfd = on'
	clean "one serial port"
	[ "$(grep -c 'Run /init' one/console/000001.log)" = 1 ] && pass "its console is logged once" ||
		{ cp one/console/000001.log "$out"; fail "its console is logged once" "see the log"; }

	# No serial number: the test disk is found by its size.
	variation stdio.ini 's/serial=$KICKBENCH_SERIAL,//; s/-chardev socket,id=console.*/-serial stdio/; s/^link = .*/link = stdio/; /^console/d
		s/^accel = .*/&\nkernel_args = kickbench.port=\/dev\/ttyS0/; s/ioeventfd=..;queues/ioeventfd=off;queues/'
	kb run stdio.ini -o stdio
	check "stdio, a disk without serial number, and a verify command that tells another value" 0 'MISMATCH *ioeventfd: wanted on, is off'
	clean "stdio"

	variation hangs.ini 's/^start = .*/start = sleep 1000/; s/^accel = .*/&\nboot_timeout = 4s/'
	kb run hangs.ini -o hangs
	check "a start command that hangs" 3 'has not said hello within 4 s' 'kickbench waits for the link'
	clean "a start command that hangs"

	start run "$exec_ini" -o killed --set workload.write.runtime=60s --set workload.read.runtime=100ms
	# Trials tell of their I/Os: then one is running.
	wait_for 300 sh -c "ls '$WORK'/killed/trials/*.json >/dev/null 2>&1" || wait_for 1 says 'IOPS'
	for p in $(emulators_of); do kill -9 "$p"; done
	finish
	check "an emulator that is killed in mid-trial" 3 'the guest crashed' 'run --resume'
	clean "an emulator that is killed"

	start run "$exec_ini" -o orphan
	wait_for 300 sh -c "ls '$WORK'/state/kickbench/exec/*.json >/dev/null 2>&1"
	runs() { [ -n "$(emulators_of)" ]; }
	wait_for 60 runs
	kill -9 "$run"
	finish
	[ "$(left)" != 0 ] && pass "a kickbench that is killed leaves its guest" || fail "a kickbench that is killed leaves its guest" "none runs"
	kb clean
	check "and the next one removes it" 0 'removed the guest kickbench-'
	wait_for 30 none_left
	clean "a kickbench that is killed"
fi

for scenario in vmd bhyve; do
	kb plan $scenario
	check "scenarios/$scenario.ini can be planned" 0 '8 blocks, 16 boots'
done

kb run "$exec_ini" --connect qemu:///system
check "--connect is not for commands" 2 'started by commands on this host'

for p in $(emulators_of); do kill -9 "$p"; done # what a failed test has left
echo "exec: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
