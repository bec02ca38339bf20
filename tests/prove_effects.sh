#!/usr/bin/env bash
# prove_effects.sh BUILD [BLOCKS]: devices that take 3, 5 and 10 % longer than another, in guests of their own and as disks of
# one guest. Does the interval hold the true effect, and how often do 8 blocks find it? About 20 minutes without KVM.
set -u
cd "$(dirname "$0")/.." || exit 1
kickbench=$1/kickbench resample=$1/plain/resample blocks=${2:-30}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 total=0 level=0.99167 # 1 - 0.05/6: all six intervals hold the truth nineteen times in twenty

# proof PERCENT PAIRING SCENARIO LATENCY
proof() {
	local run=$work/$1-$2 status=0 begun=$SECONDS
	total=$((total + 1))
	echo "$1 % more device latency, pairing $2 ($3, $blocks blocks)"
	"$kickbench" run "$3" -o "$run" --set scenario.blocks="$blocks" --set scenario.pairing="$2" \
		--set variant.slow.latency_ns="$4" >"$work/out" 2>"$work/err" || status=$?
	if [ $status -gt 1 ]; then
		tail -n 5 "$work/err"
		failed=$((failed + 1))
		return
	fi
	"$resample" "$run" $level || failed=$((failed + 1))
	echo "  the run took $((SECONDS - begun)) s"
}

for pairing in boots disks; do
	proof 3 $pairing injected-small 5150000
	proof 5 $pairing injected-small 5250000
	proof 10 $pairing injected 1100000
done
echo "injected effects: $((total - failed)) of $total proved, took $SECONDS s"
[ $failed = 0 ]
