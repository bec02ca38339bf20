#!/usr/bin/env bash
# The scenarios of published measurements: one block each, small, with the points that differ from one another.
set -u
. "$(dirname "$0")/lib.sh"
scenarios=$(cd "$here/../../scenarios" && pwd)
short="--set scenario.blocks=1 --set scenario.seed=1 --set guest.accel=tcg --set workload.runtime=300ms"

# document NAME TRIALS EXPRESSION -- OPTIONS: as it is shipped it can be planned; small it runs, and the Python
# expression over its trials is true.
document() {
	local document=$1 trials=$2 expression=$3
	shift 4
	kb plan "$scenarios/$document.ini"
	if [ $status != 0 ] && says 'is not supported yet\|engine .* is not'; then
		skip "$document" "$(head -n 1 "$out")"
		return
	fi
	check "$document as it is shipped" 0 "trials in" || return
	kb run "$scenarios/$document.ini" -o "$WORK/d-$document" $short "$@"
	check "$document" 0 "$trials of $trials counted" "filesystem = " || return
	seen=$(python3 - "$WORK/d-$document" "$expression" <<'END'
import glob, json, sys
trials = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/trials/*.json"))]
options = [dict(a[2:].split("=", 1) if "=" in a else (a[2:], "") for a in t["argv"]) for t in trials]
boots = len({t["boot"] for t in trials})
job = lambda t: t["fio"]["jobs"][0]
print(eval(sys.argv[2]))
END
	)
	[ "$seen" = True ] && pass "$document: what was run" || fail "$document: what was run" "$seen"
	noise=$(grep -lE 'BUG:|WARNING:|panic|rror' "$WORK/d-$document"/console/*.log)
	[ -z "$noise" ] && pass "$document: consoles are clean" || fail "$document: consoles are clean" "$(cat $noise | head -n 5)"
}

# mke2fs and mkfs.xfs are where an ordinary user's PATH does not look.
has() { PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null; }

if has mke2fs; then
	# Every trial its boot, and a file that is there before it is read: nothing is written while it runs.
	document seaweedfs 6 'boots == 6 and all(job(t)["read"]["io_bytes"] == 8 << 20 and job(t)["write"]["io_bytes"] == 0 for t in trials) and sorted(o["bs"] for o in options) == ["128k"] * 2 + ["4k"] * 2 + ["4m"] * 2' \
		-- --set disk.size=32M --set workload.size=8m --set guest.memory=256M --set workload.runtime=60
	document disk-list 4 'boots == 2 and all((job(t)["read"]["io_bytes"] + job(t)["write"]["io_bytes"]) == (8 << 20) for t in trials) and all(0.6 < job(t)["read"]["total_ios"] / 2048 < 0.8 for t in trials if t["cell_name"].startswith("4k"))' \
		-- --set disk.size=64M --set workload.64kwrite.size=8m --set workload.4k7030test.size=2m --set workload.runtime=60
	document network-storage 4 'boots == 2 and all(job(t)["iodepth_level"][">=64"] > 50 for t in trials)' \
		-- --set disk.size=64M --set workload.size=1m
else
	skip "seaweedfs, disk-list and network-storage" "no mke2fs"
fi
if has mkfs.xfs; then
	# The raw device below the file system, its files past the cache and through it.
	document small-server 12 'boots == 2 and all(t["status"] == "ok" for t in trials) and all((t["guest_counters"]["disk"]["reads"] > 0) or t["cell_name"].startswith("buf") for t in trials)' \
		-- --set disk.size=300M --set guest.memory=256M --set guest.vcpus=1 --set workload.numjobs=2 \
		--set workload.dir.filesize=1m --set workload.buf.filesize=1m
else
	skip "small-server" "no mkfs.xfs"
fi

# Files do not outlive a boot: the second block's layout begins again, on a disk that was put back in place.
if has mke2fs; then
	kb run "$mini" -o "$WORK/d-names" --set disk.filesystem=ext4
	check "a disk with a file system is not written over" 2 'would write over the ext4'
	kb run "$mini" -o "$WORK/d-names" --set workload.directory=/mnt/kb --set workload.size=1m
	check "files without a file system" 2 'with filesystem = ext4 or xfs'
fi

echo "documents: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
