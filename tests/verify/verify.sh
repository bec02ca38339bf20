#!/bin/sh
# Verification and stalls on real files: every fault that a shim makes below kickio is named with its offset, clean
# runs of all kinds verify clean, and a map outlives the kill of its writer.
#
#	verify.sh [BUILD]
#
# Builds a dynamically linked kickio of its own. Ends with "N passed, N failed, N skipped".
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kickio-verify.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' INT TERM
export LC_ALL=C
passed=0 failed=0 skipped=0
kickio=$scratch/kickio
shim=$scratch/faultio.so
cd "$scratch" || exit 2

case $(uname -s) in
Linux) ;;
*)
	echo "SKIP all: the shim is for Linux"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
	;;
esac
make -s -C "$root/guest" BUILD="$scratch/build" PROGRAM="$kickio" STATIC_linux= >build.log 2>&1 &&
	${CC:-cc} -O1 -shared -fPIC -o "$shim" "$root/tests/shim/faultio.c" -ldl 2>>build.log || {
	cat build.log
	echo "FAIL build"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}

pass() { passed=$((passed + 1)); }
fail() {
	failed=$((failed + 1))
	echo "FAIL $1"
	sed 's/^/     | /' out | head -n 30
}

# run NAME STATUS ARGUMENT…: kickio's exit status must be that; output in the file out.
run() {
	name=$1 want=$2
	shift 2
	timeout 60 "$kickio" --name=v --filename=data --size=1m --eta=never "$@" >out 2>&1
	status=$?
	[ "$status" = "$want" ] && return 0
	fail "$name: exit status $status, expected $want"
	return 1
}

# fault NAME FAULT TEXT ARGUMENT…: that fault while writing must be told in these words, with err=84 and status 1.
fault() {
	name=$1 what=$2 text=$3
	shift 3
	rm -f data map
	export FAULT="$what" FAULT_FILE="$scratch/data" LD_PRELOAD="$shim"
	run "$name" 1 "$@"
	ok=$?
	unset FAULT FAULT_FILE LD_PRELOAD
	[ $ok = 0 ] || return
	if ! grep -qF -- "$text" out; then
		fail "$name: not told: $text"
	elif ! grep -q 'err=84' out; then
		fail "$name: no err=84"
	else
		pass
	fi
}

# Sequential writes of 4k: the N-th is at (N-1)*4096. The second pass of loops=2 begins with the 257th.
w="--rw=write --bs=4k --verify=crc32c"
fault "a lost first write" drop:7 "verify: lost write (expected generation 1, found zeros) at file data offset 24576, length 4096" $w
fault "a lost overwrite" drop:260 "verify: stale (generation 1, 2 was completed; job 0) at file data offset 12288, length 4096" $w --loops=2
fault "a misdirected write" misdirect:3 "verify: lost write (expected generation 1, found zeros) at file data offset 8192" \
	$w --size=32k
export FAULT_SHIFT=-65536
fault "a misdirected overwrite" misdirect:300 "verify: misdirected write (belongs to offset 176128, generation 2 of job 0) at file data offset 110592, length 4096" \
	$w --loops=2
unset FAULT_SHIFT
grep -q 'stale (generation 1, 2 was completed; job 0) at file data offset 176128' out && pass || fail "where it should have gone"
fault "a torn write" tear:300 "verify: torn (expected generation 2, found generation 1 of job 0) at file data offset 178176, length 2048" $w --loops=2
fault "a torn first write" tear:2 "verify: torn (expected generation 1, found zeros) at file data offset 98304, length 32768" \
	--rw=write --bs=64k --verify=md5
fault "a replayed write" replay:515 "verify: stale (generation 1, 3 was completed; job 0) at file data offset 8192, length 4096" $w --loops=3
fault "a corrupt write" corrupt:5 "verify: corrupt (expected generation 1, the data does not match its checksum; header: generation 1 of job 0) at file data offset 18432, length 512" $w
for sum in crc32 md5 sha256 xxhash; do
	fault "corruption with $sum" corrupt:5 "verify: corrupt" --rw=write --bs=4k --verify=$sum
done
fault "two faults in one run" drop:9,corrupt:20 "at file data offset 32768" $w
grep -q 'verify: corrupt .* offset 79872' out && pass || fail "the second of two faults"
fault "a fault in a mixed job" drop:5 "verify: " --rw=randrw --bs=4k --verify=crc32c
fault "found by the backlog" drop:3 "verify: lost write (expected generation 1, found zeros) at file data offset 8192" $w --verify_backlog=8
fault "all are looked at" drop:3,drop:5,drop:200 "offset 815104" $w
grep -q 'issued rwts: total=256,256' out && pass || fail "all are read although one is bad"
fault "verify_fatal ends at the first" drop:3,drop:5 "offset 8192" $w --verify_fatal=1
grep -q 'issued rwts: total=3,256' out && pass || fail "verify_fatal: not three reads"
fault "with a thread" drop:7 "verify: lost write" $w --thread=1
fault "more faults than lines" drop:1,drop:3,drop:5,drop:7,drop:9,drop:11,drop:13 "kickio: verify: 2 more blocks found bad" $w

# The same written and verified by two runs, with a map and without.
two_runs() {
	name=$1 what=$2 text=$3 expected=$4
	shift 4
	rm -f data map
	export FAULT="$what" FAULT_FILE="$scratch/data" LD_PRELOAD="$shim"
	run "$name (writing)" 0 --rw=write --bs=4k --verify=crc32c --do_verify=0 --loops=2 --verify_map=map
	unset FAULT FAULT_FILE LD_PRELOAD
	run "$name" "$expected" "$@" || return
	grep -qF -- "$text" out && pass || fail "$name: not told: $text"
}
m="--bs=4k --verify=crc32c"
two_runs "read with a map" drop:260 "stale (generation 1, 2 was completed" 1 --rw=read $m --verify_map=map
two_runs "random read with a map" drop:260 "stale (generation 1, 2 was completed" 1 --rw=randread $m --verify_map=map
two_runs "verify_only with a map" drop:260 "stale (generation 1, 2 was completed" 1 --rw=write $m --verify_map=map --verify_only
grep -q 'issued rwts: total=256,0' out && pass || fail "verify_only must read all and write nothing"
two_runs "verify_only without a map says so" drop:260 "without verify_map= only headers and checksums are checked" 0 --rw=write $m --verify_only
two_runs "verify_only without a map sees damage" corrupt:300 "verify: corrupt" 1 --rw=write $m --verify_only
two_runs "torn without a map" tear:300 "verify: torn (found generation 1 of job 0)" 1 --rw=read $m
two_runs "another block size" drop:260 "stale (generation 1, 2 was completed; job 0) at file data offset 12288, length 4096" 1 \
	--rw=read --bs=64k --verify=crc32c --verify_map=map
two_runs "smaller blocks" tear:260 "at file data offset 14336, length 512" 1 --rw=read --bs=512 --verify=crc32c --verify_map=map
two_runs "clean with a map" none:0 "err= 0" 0 --rw=randread $m --verify_map=map
two_runs "a writer goes on with the map" none:0 "err= 0" 0 --rw=randwrite $m --verify_map=map
run "and both are known" 0 --rw=write $m --verify_map=map --verify_only && pass

# Killed in the middle of a write, of which half is on the disk: no fault, and nothing that was completed is missing.
rm -f data map
FAULT=die:300 FAULT_FILE=$scratch/data LD_PRELOAD=$shim timeout 60 "$kickio" --name=v --filename=data --size=1m --eta=never \
	--rw=write --bs=4k --verify=crc32c --verify_map=map --loops=2 >out 2>&1
run "after a kill" 0 --rw=write $m --verify_map=map --verify_only && pass
dd if=/dev/zero of=data bs=4096 seek=3 count=1 conv=notrunc 2>/dev/null
run "after a kill, with a block lost" 1 --rw=write $m --verify_map=map --verify_only &&
	{ grep -q 'lost write (expected generation 2, found zeros) at file data offset 12288' out && pass || fail "lost after a kill"; }

# Clean runs must be clean.
clean() {
	rm -f data v.* map
	if "$kickio" --name=v --size=1m --parse-only "$@" 2>&1 | grep 'not supported yet'; then
		echo "SKIP clean: $*"
		skipped=$((skipped + 1))
		return
	fi
	if run "clean: $*" 0 "$@"; then
		if grep -qE 'verify: |err=[ ]*[1-9]' out; then fail "clean: $*"; else pass; fi
	fi
}
for engine in psync sync pvsync2 libaio io_uring posixaio; do
	if ! "$kickio" --enghelp 2>/dev/null | grep -qw "$engine"; then
		echo "SKIP engine $engine: not in this build"
		skipped=$((skipped + 1))
		continue
	fi
	if [ $engine = io_uring ] && "$kickio" --name=probe --filename=probe --size=4k --rw=write --ioengine=io_uring \
		--eta=never 2>&1 | grep io_uring_setup; then
		echo "SKIP engine io_uring: the kernel refuses it"
		skipped=$((skipped + 1))
		continue
	fi
	for rw in write randwrite rw randrw; do
		clean --ioengine=$engine --iodepth=32 --rw=$rw --bs=4k --verify=crc32c
		clean --ioengine=$engine --iodepth=32 --rw=$rw --bs=4k --verify=crc32c --norandommap --verify_backlog=20
	done
done
clean --rw=randwrite --bs=512 --verify=xxhash
clean --rw=randwrite --bs=4k,8k --verify=crc32c
clean --rw=randrw --bs=4k,12k --verify=sha256
clean --rw=write --bs=128k --verify=md5 --size=3m
clean --rw=randwrite --bsrange=4k-64k --verify=crc32c
clean --rw=randwrite --bssplit=4k/50:6k/30:64k/20 --verify=crc32c
clean --rw=write --bs=4k --verify=crc32c --verify_pattern=0xdeadbeef
clean --rw=write --bs=4k --verify=crc32c --direct=1
clean --rw=randwrite --bs=4k --verify=crc32c --offset=512 --size=512k
clean --rw=randwrite --bs=4k --verify=crc32c --numjobs=4
clean --rw=randwrite --bs=4k --verify=crc32c --numjobs=4 --thread=1 --verify_map=map
clean --rw=randwrite --bs=4k --verify=crc32c --numjobs=4 --loops=3 --norandommap
clean --rw=randwrite --bs=4k --verify=crc32c --time_based --runtime=1
clean --rw=write --bs=4k --verify=crc32c --size=1234567
clean --rw=randwrite --bs=4k --verify=crc32c --zero_buffers

# Refused, with a reason.
refused() {
	text=$1
	shift
	run "refused: $*" 1 "$@" || return
	grep -qF -- "$text" out && pass || fail "refused: $*: not told: $text"
}
refused "must be multiples of 512" --rw=write --bs=1000 --verify=crc32c
refused "missing-map" --rw=read --bs=4k --verify=crc32c --verify_map=missing-map
refused "need verify=" --rw=read --bs=4k --verify_only

# Stalls.
stall() {
	name=$1 what=$2 text=$3
	shift 3
	rm -f data
	begun=$(date +%s)
	export FAULT="$what" FAULT_FILE="$scratch/data" LD_PRELOAD="$shim"
	run "$name" 1 --stall_timeout=1 "$@"
	ok=$?
	unset FAULT FAULT_FILE LD_PRELOAD
	[ $ok = 0 ] || return
	if ! grep -qF -- "$text" out; then
		fail "$name: not told: $text"
	elif [ $(($(date +%s) - begun)) -gt 5 ]; then
		fail "$name: took longer than 5 s"
	else
		pass
	fi
}
stall "a write that hangs" hang:10 "kickio: stall: job v, file data: write at offset 36864 in flight for 1." --rw=write --bs=4k
grep -q 'issued rwts: total=0,9,' out && pass || fail "what was done before the stall is reported"
stall "a read that hangs" hangread:4 "read at offset 12288 in flight for 1." --rw=read --bs=4k
stall "a thread that hangs" hang:10 "write at offset 36864 in flight for 1." --rw=write --bs=4k --thread=1
stall "one of two jobs hangs, the other ends" hangread:5 "kickio: stall: job second, file data2: read at offset 16384" --rw=randwrite --bs=4k \
	--time_based --runtime=30 --name=second --filename=data2 --size=1m --rw=read --bs=4k --stall_timeout=1
run "no stall" 0 --stall_timeout=20 --rw=randwrite --bs=4k --fsync=4 && pass
clean --stall_timeout=20 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=16 --verify=crc32c --fsync=16

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
