#!/usr/bin/env bash
# prove.sh BUILD [RUNS]: what takes too long for every day. False alarms of A against A over RUNS seeds,
# the injected effects, one block of the mailing list's matrix at full size, and the regression matrix, which has to be clean.
set -u
cd "$(dirname "$0")/.." || exit 1
kickbench=$1/kickbench runs=${2:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

alarms=0
for seed in $(seq "$runs"); do
	status=0
	"$kickbench" run null -o "$work/null-$seed" --set scenario.seed="$seed" >"$work/out" 2>"$work/err" || status=$?
	echo "null.ini, seed $seed: status $status; $(sed -n 1p "$work/out")"
	case $status in
	0) ;;
	1) alarms=$((alarms + 1)) ;;
	*) failed=$((failed + 1)); tail -n 5 "$work/err" ;;
	esac
done
echo "null.ini: $alarms of $runs runs with a false verdict (at most 3 of 20 are allowed)"
[ $((alarms * 20)) -le $((3 * runs)) ] || failed=$((failed + 1))

status=0
"$kickbench" run injected -o "$work/injected" >"$work/out" 2>"$work/err" || status=$?
sed -n 1,4p "$work/out"
echo "injected.ini: status $status (1: the loss was found)"
[ $status = 1 ] && grep -q 'worse' "$work/out" || failed=$((failed + 1))

status=0
"$kickbench" run kickfd -o "$work/kickfd" --set scenario.blocks=1 >"$work/out" 2>"$work/err" || status=$?
grep -E 'blocks, .* boots' "$work/err"
cat "$work/out"
echo "kickfd.ini, one block at full size: status $status, took $SECONDS s with all the above"
[ $status = 0 ] || failed=$((failed + 1))

# A clean device: other cells each time, and not one of them may fail.
for seed in 1 2 3; do
	status=0
	"$kickbench" regress --quick --seed "$seed" -o "$work/quick-$seed" >"$work/out" 2>"$work/err" || status=$?
	echo "regress --quick, seed $seed: status $status; $(tail -n 1 "$work/out")"
	[ $status = 0 ] || { failed=$((failed + 1)); cat "$work/out"; tail -n 5 "$work/err"; }
done

tests/prove_effects.sh "$1" || failed=$((failed + 1))

[ $failed = 0 ] && echo "all proved" || echo "$failed not proved"
[ $failed = 0 ]
