#!/usr/bin/env bash
# kickbench regress: each detector is shown its fault, and names it; what is clean passes; nothing is left and nothing is lost.
set -u
. "$(dirname "$0")/lib.sh"
matrix=$here/regress.ini
root=$(cd "$here/../.." && pwd)
one="--only ring=split,queues=1"
state=$XDG_STATE_HOME/kickbench

# cell FOLDER EXPRESSION: Python over its cells, c: all of them in order, checks(x): the names of those that are not well.
cell() {
	python3 - "$1" "$2" <<'END'
import glob, json, sys
c = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/cells/*.json"))]
run = json.load(open(sys.argv[1] + "/run.json"))
bad = lambda x: [k for k in x["checks"] if k["status"] not in ("pass", "skipped")]
print(eval(sys.argv[2]))
END
}
seen() { cell "$@"; }
cells() { ls "$1"/cells/[0-9]*[0-9].json 2>/dev/null | wc -l; }
nothing_left() {
	local left
	left=$(find "$state/regress" -type f 2>/dev/null)
	[ -z "$left" ] && [ "$(guests)" = 0 ] && pass "$1" || fail "$1" "${left:-a guest}"
}

# ---- nothing is booted ----

kb regress "$matrix" --list
check "the list" 0 '4 pairs of the values of 2 options' 'ring=split,queues=1'
kb regress "$matrix" --list --only ring=packed
check "the list of some" 0 'ring=packed,queues=2'
says 'ring=split' && fail "the list of some" "has others, too" || pass "and of no others"
kb regress "$matrix" --only ring=triangular
check "an unknown value" 2 'triangular'
kb regress "$matrix" --set matrix.quick.frobs=1,2 --list
check "an unknown option" 2 'frobs'
kb regress "$matrix" --matrix nightly
check "an unknown matrix" 2 'nightly'
kb regress "$matrix" --matrix nightly --bisect
check "an unknown matrix says nothing to git bisect" 125 'nightly'

# ---- a clean device ----

kb regress "$matrix" -o "$WORK/g-clean"
check "a clean matrix" 0 '4 passed\|4 pass' 'matrix quick: 4 cells with all 4 pairs that the values of 2 options can make'
true_of "each cell was verified, had its log read, and was looked at by the host" "$WORK/g-clean" "len(c) == 4 and all(x['status'] == 'pass' and {'flush log', 'image at the last flush', 'second opinion, the whole disk'} <= {k['name'] for k in x['checks'] if k['status'] == 'pass'} and x['effective']['mismatch'] == [] for x in c)"
true_of "the guest asked for the disk's edges" "$WORK/g-clean" "all(len([k for k in x['checks'] if k['name'].startswith('disk: ') and k['status'] == 'pass']) >= 8 for x in c)"
true_of "the options were in force" "$WORK/g-clean" "all(x['effective']['verified']['packed'] == {'packed': 'on', 'split': 'off'}[x['options']['ring']] for x in c)"
clean_consoles "$WORK/g-clean"
[ -s "$WORK/g-clean/report.html" ] && [ -s "$WORK/g-clean/report.xml" ] && [ -s "$WORK/g-clean/report.txt" ] &&
	pass "reports are kept" || fail "reports are kept" "$(ls "$WORK/g-clean")"
nothing_left "no disk and no guest is left"

# ---- faults, each named for what it is ----

kb regress "$matrix" $one --set disk.cache=unsafe -o "$WORK/g-unsafe"
check "a device that keeps flushes to itself" 1 'flush log: fail: fsync 1 of .* returned without a flush'
kb regress "$matrix" $one --set disk.backend=null -o "$WORK/g-null"
check "a disk that keeps nothing" 1 'corrupt' 'lost write'
true_of "the cell that lost its writes is reproduced by a line" "$WORK/g-null" "c[0]['status'] == 'corrupt' and c[0]['reproduce'] == 'kickbench regress --only ' + c[0]['name'] + ' --set disk.backend=null $matrix'"

faults=0
fault() { # NAME STATUS KIND:N PATTERN PARAMETER…
	local name=$1 status_wanted=$2 fault=$3 text=$4 socket=$WORK/nbd.sock
	shift 4
	rm -f "$socket" "$WORK/nbd.pid"
	nbdkit -f --exit-with-parent -U "$socket" -P "$WORK/nbd.pid" "$WORK/faultdisk.so" size=16M fault="$fault" "$@" >"$WORK/nbd.log" 2>&1 &
	local server=$!
	wait_for 60 test -s "$WORK/nbd.pid" || { fail "$name" "nbdkit: $(cat "$WORK/nbd.log")"; return; }
	kb regress "$matrix" $one --set disk.backend=nbd --set disk.path="$socket" -o "$WORK/g-fault-$((faults += 1))"
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
	check "$name" "$status_wanted" "$text"
}
if ! command -v nbdkit >/dev/null || ! ${CC:-cc} -O1 -shared -fPIC -o "$WORK/faultdisk.so" "$root/tests/verify/faultdisk.c" 2>"$out"; then
	skip "faults of single writes" "nbdkit or its plugin.h is missing"
else
	fault "a write that takes long is no fault" 0 delay:40 '1 passed'
	fault "a volatile cache that is flushed" 0 flush:1000000 '1 passed'
	fault "a write that is dropped" 1 drop:40 'lost write'
	fault "a write that goes elsewhere" 1 misdirect:40 'misdirected write\|lost write' shift=65536
	fault "a write that is torn" 1 tear:40 'torn'
	fault "a write that old data answer" 1 replay:40 'lost write\|stale'
	fault "a bit that is turned" 1 corrupt:40 'corrupt'
	fault "flushes that a volatile cache swallows" 1 flush:1 'second opinion, the whole disk: corrupt: .* lost at 0,'
	fault "a write that is not answered" 1 delay:40 'device holds it' delay=600
fi

# A server that accepts and says nothing would let a start wait for ever.
python3 - "$WORK/silent.sock" <<'END' &
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
s.listen(8)
time.sleep(60)
END
server=$!
wait_for 60 test -S "$WORK/silent.sock"
kb regress "$matrix" $one --set disk.backend=nbd --set disk.path="$WORK/silent.sock" -o "$WORK/g-silent"
check "a server that says nothing" 4 'the server has said nothing for 5 s' 'kickbench regress --resume'
kill "$server" 2>/dev/null

# ---- what cannot be tried ----

kb regress "$matrix" $one --set matrix.quick.qemu.no-such-thing=1 --only ring=split,queues=1 -o "$WORK/g-unknown"
check "a property that this QEMU does not have" 3 'skipped' 'no-such-thing'

# ---- git bisect ----

# Of what is complete nothing is run again.
kb regress --resume "$WORK/g-clean" --bisect
check "--bisect: good" 0 '4 passed'
kb regress --resume "$WORK/g-null" --bisect
check "--bisect: bad" 1 'lost write'
kb regress "$matrix" $one --bisect --set matrix.quick.qemu.no-such-thing=1 -o "$WORK/g-neither"
check "--bisect: nothing was tried" 125 'skipped'
kb regress "$matrix" $one --bisect --set guest.kernel_args=rdinit=/nonexistent -o "$WORK/g-mute"
check "--bisect: a kernel that does not boot is bad" 1 'the trial guest does not run' 'Kernel panic'
kb regress "$matrix" $one --bisect --set guest.kernel=/nonexistent/vmlinuz -o "$WORK/g-host"
check "--bisect: the host cannot" 125 '/nonexistent/vmlinuz'
kb run "$mini" --bisect -o "$WORK/g-run"
check "run --bisect: one block decides nothing" 125 'undecided\|incomplete'

# ---- an emulator that dies, of one cell of two ----

cat >"$WORK/dying-qemu" <<END
#!/bin/sh
# Dies in the middle of the I/O of a guest with a packed ring.
case "\$*" in
*guest=kickbench-*'"packed":true'* | *guest=kickbench-*packed=on*)
	(
		while written=\$(sed -n 's/^wchar: //p' /proc/\$\$/io 2>/dev/null) && [ "\${written:-0}" -lt 4000000 ]; do sleep 0.2; done
		echo "dying-qemu: Assertion failed" >&3
		kill -9 \$\$
	) 3>&2 >/dev/null 2>&1 </dev/null &
	;;
esac
exec $(command -v qemu-system-x86_64) "\$@"
END
chmod 755 "$WORK/dying-qemu"
kb regress "$matrix" --only queues=1 --set guest.emulator="$WORK/dying-qemu" -o "$WORK/g-dies"
check "an emulator that dies" 1 'fail' 'the guest \(is off\|crashed\)' 'its emulator says: dying-qemu: Assertion failed'
true_of "its evidence is kept, and the other cell was tried" "$WORK/g-dies" "{x['options']['ring']: x['status'] for x in c} == {'packed': 'fail', 'split': 'pass'} and all(k['evidence'] for x in c for k in bad(x))"

# ---- interrupted ----

start regress "$matrix" --only queues=1 -o "$WORK/g-cut"
one_cell() { [ "$(cells "$WORK/g-cut")" -ge 1 ]; }
wait_for 300 one_cell
kill -TERM "$run"
finish
check "interrupted after a cell" 3 'interrupted by signal' 'kickbench regress --resume'
nothing_left "an interrupted one leaves nothing"
kept=$(cat "$WORK/g-cut/cells/000002.json")
kb regress --resume "$WORK/g-cut"
check "it goes on" 0 '2 passed'
[ "$kept" = "$(cat "$WORK/g-cut/cells/000002.json")" ] && pass "and keeps what it had" || fail "and keeps what it had" "another first cell"

# ---- the host's disk is full ----

if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	mkdir -p "$WORK/small"
	cat >"$WORK/small.sh" <<END
mount -t tmpfs -o size=100M none "$WORK/small" || exit 99
(until [ -e "$WORK/g-full/cells/000002.json" ]; do sleep 0.2; done; sleep 1; head -c 90M /dev/zero >"$WORK/small/full") 2>/dev/null &
"$KICKBENCH" regress "$matrix" --only queues=1 --set disk.path="$WORK/small" -o "$WORK/g-full"
END
	status=0
	timeout -k 5 600 unshare --mount bash "$WORK/small.sh" >"$out" 2>&1 </dev/null || status=$?
	[ $status = 3 ] || [ $status = 4 ] && says 'MiB free\|disk is full' && says 'kickbench regress --resume' && [ "$(cells "$WORK/g-full")" -ge 1 ] &&
		pass "the host's disk is full in mid-matrix" || fail "the host's disk is full in mid-matrix" "status $status"
else
	skip "the host's disk is full in mid-matrix" "needs root for a small file system"
fi

echo "regress: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
