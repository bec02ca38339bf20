#!/usr/bin/env bash
# Several guests in one scenario, settings that a driver does not negotiate, and fio as a guest's tool.
set -u
. "$(dirname "$0")/lib.sh"
scenarios=$(cd "$here/../../scenarios" && pwd)
short="--set workload.runtime=300ms --set disk.size=16M"
tcg="--set guest.accel=tcg"

# seen FOLDER EXPRESSION: Python over the trials, t: all of them, by: those of each guest and variant.
seen() {
	python3 - "$1" "$2" <<'END_OF_PYTHON'
import glob, json, sys
t = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/trials/*.json"))]
run = json.load(open(sys.argv[1] + "/run.json"))
by = {(g["name"], v["name"]): [x for x in t if (x["guest"], x["variant"]) == (g["name"], v["name"])]
      for g in run["guests"] for v in run["variants"]}
verified = lambda x, key: x["effective"]["verified"].get(key)
print(eval(sys.argv[2]))
END_OF_PYTHON
}

# ---- two guests ----

run=$WORK/guests two="$short $tcg --set scenario.blocks=2 --set scenario.seed=5"
kb plan "$scenarios/guests.ini" $two
check "plan of two guests" 0 '8 boots' 'small' 'large'
kb plan "$scenarios/guests.ini" --set scenario.guests=small,none
check "a guest that is not there" 2 'guests = small,none: there is no section \[guest none\]'
kb run "$scenarios/guests.ini" -o "$run" $two
check "two guests" 0 '16 of 16 counted' 'small: randread' 'large: randwrite' 'boot 8/8  block 2  \(small\|large\): '
says 'WARNING *trials ran' && fail "they are no mixture" "the report warns" || pass "they are no mixture"
true_of "each block holds each variant in each guest" "$run" "all(sorted(x['block'] for x in b) == [1, 1, 2, 2] for b in by.values()) and len(by) == 4"
true_of "each guest is its own" "$run" "all((verified(x, 'vcpus'), verified(x, 'memory')) == {'small': ('1', '256M'), 'large': ('2', '512M')}[x['guest']] for x in t)"
true_of "and knows what ran the jobs" "$run" "all(x['tool'].startswith('kickio ') and 'covered' not in x for x in t)"
clean_consoles "$run"
kb report "$run" --format html -o "$WORK/guests.html"
grep -q 'large: randread' "$WORK/guests.html" && grep -q 'small: vcpus = 1' "$WORK/guests.html" && pass "the page has both" ||
	fail "the page has both" "$(ls -l "$WORK/guests.html")"
kb compare "$run" --group-by guest
check "the guests against each other" 0 'large against small (IOPS)' 'randread, without' 'randwrite, event_idx' '2 of 2 blocks'

# A block that was cut in its third boot is run again whole, the first one is kept.
cut=$WORK/guests-cut
cp -R "$run" "$cut"
third=$(python3 -c "import json,sys; print(json.load(open(sys.argv[1]))['plan']['boots'][6]['trials'][0]['trial'])" "$cut/run.json")
for trial in $(seq "$third" 16); do rm "$cut/trials/$(printf %06d "$trial").json"; done
before=$(cat "$cut"/trials/00000[1-8].json | sha256sum)
kb run --resume "$cut"
check "resume with two guests" 0 '16 of 16 counted'
[ "$before" = "$(cat "$cut"/trials/00000[1-8].json | sha256sum)" ] && [ "$(ls "$cut"/trials | grep -c cut)" = $((third - 9)) ] &&
	pass "only the cut block ran again" || fail "only the cut block ran again" "$(ls "$cut/trials")"

# Another host's trials: a resume refuses, and a report of a folder that has them all the same gives no verdict.
python3 - "$cut" <<'END_OF_PYTHON'
import json, sys
run = sys.argv[1] + "/run.json"
d = json.load(open(run)); d["environment"]["host"] = "elsewhere"; json.dump(d, open(run, "w"))
trial = sys.argv[1] + "/trials/000016.json"
d = json.load(open(trial)); d["identity"]["accel"] = d["accel"] = "kvm"; json.dump(d, open(trial, "w"))
END_OF_PYTHON
kb run --resume "$cut"
check "a resume on another host" 4 'the run began on another host (host was elsewhere, is '
kb report "$cut"
check "trials of two accelerators" 0 'not effective' 'accelerator: tcg in trial [0-9]*, kvm in trial 16: such trials are'

# ---- what a driver does not negotiate ----

# What a real guest here leaves out: a legacy device knows no packed ring, whatever QEMU was told.
kb run "$mini" -o "$WORK/legacy" --set variant.kickfd.packed=on --set variant.kickfd.qemu.disable-modern=on --set 'variant.kickfd.qemu.disable-legacy="off"'
check "a legacy device" 0 'not effective' 'packed: wanted on, is off: the '
true_of "nothing else is doubted" "$WORK/legacy" "all([(m['key'], m['have'].split()[-1]) for m in x['effective']['mismatch']] == {'none': [], 'kickfd': [('packed', 'VIRTIO_F_RING_PACKED')]}[x['variant']] for x in t)"

# ---- fio ----

if ! command -v fio >/dev/null; then
	skip "fio as the tool" "fio is not installed (package fio)"
	echo "guests: $passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
fi
version=$(fio --version | sed 's/^fio-//')
sed 's/^guests = .*/guests = small, fio/; s/^;\(\[guest fio\]\)/\1/; s/^;tool/tool/; s/^;memory/memory/; s,^;image = .*,image = '"$here/images/fio"',' \
	"$scenarios/guests.ini" >"$WORK/fio.ini"
kb run "$WORK/fio.ini" -o "$WORK/fio" $tcg --set disk.size=16M --set workload.runtime=1 --set scenario.blocks=1
check "kickio in one guest, fio in the other" 0 '8 of 8 counted' "fio $version (4 trials)" 'jobs run by its fio'
true_of "the same cells by fio" "$WORK/fio" "all(x['tool'] == 'fio $version' and x['fio']['jobs'][0]['error'] == 0 and 0 < x['covered'] < 1 for g, v in by if g == 'fio' for x in by[g, v])"
true_of "latencies with bins" "$WORK/fio" "all(len(d['clat_ns']['bins']) > 3 for x in t for j in x['fio']['jobs'] for d in (j.get('read'), j.get('write')) if d and d['total_ios'])"
true_of "fio's options are the cell's" "$WORK/fio" "all(x['fio']['jobs'][0]['job options']['rw'] == x['cell_name'].split()[1] for x in t)"
clean_consoles "$WORK/fio"
kb compare "$WORK/fio" --group-by guest
check "fio beside kickio" 0 'fio against small (IOPS)'
kb run "$WORK/fio.ini" -o "$WORK/fio-long" $tcg --set scenario.guests=fio --set disk.size=16M --set workload.runtime=40 --set scenario.blocks=1 \
	--set workload.randwrite.runtime=1
true_of "counters where fio's start is small" "$WORK/fio-long" "all((x['covered'] >= 0.9) == (x['cell_name'] == 'randread') for x in t)"
kb report "$WORK/fio-long" --format json -o "$WORK/fio-long.json"
told=$(python3 - "$WORK/fio-long.json" <<'END_OF_PYTHON'
import json, sys
told = {f["cell"]: f["metrics"]["host_cpu_per_io"]["baseline"] is not None for f in json.load(open(sys.argv[1]))["findings"]}
print(told == {"randread": True, "randwrite": False} or told)
END_OF_PYTHON
)
[ "$told" = True ] && pass "and they are told" || fail "and they are told" "$told"
kb run "$WORK/fio.ini" -o "$WORK/fio-files" $tcg --set scenario.guests=fio --set disk.size=32M --set disk.filesystem=ext4 --set scenario.blocks=1 \
	--set workload.directory=/mnt/kb --set workload.size=4m --set workload.runtime=1
check "fio on files" 0 '4 of 4 counted'
kb run "$WORK/fio.ini" -o "$WORK/fio-none" $tcg --set scenario.guests=fio --set guest.fio.image=images/linux --set disk.size=16M --set scenario.blocks=1
check "a guest without fio" 3 'there is no fio in this guest (looked in .*/usr/bin'

echo "guests: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
