#!/usr/bin/env bash
# probe.sh [--table]: the probe, built by gcc and by clang, in plain QEMUs; --table: what it measures here, without checks.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# One guest at a time on this host: kickbench's own lock (host/lock.c), waited for.
for lock in /run/lock/kickbench.lock /tmp/kickbench.lock; do
	[ -e $lock ] || (umask 0; : >$lock) 2>/dev/null || continue
	exec 9<$lock
	flock -w 900 9 || { echo "0 passed, 1 failed, 0 skipped"; echo "another kickbench keeps this host" >&2; exit 1; }
	break
done
built=
for cc in gcc clang; do
	if ! command -v $cc >/dev/null; then
		echo "skip  built by $cc: there is none"
		skipped=$((skipped + 1))
	elif ! CC=$cc "$root/images/probe/build.sh" "$work/$cc" >"$work/log" 2>&1 || grep -q 'warning:' "$work/log"; then
		echo "FAIL  built by $cc:"
		sed 's/^/      | /' "$work/log"
		failed=$((failed + 1))
	else
		echo "pass  built by $cc without a warning"
		passed=$((passed + 1))
		mv "$work/$cc/probe.elf" "$work/probe-$cc.elf"
		built="$built $work/probe-$cc.elf"
	fi
done
if [ "${1-}" = --table ]; then
	truncate -s 64M "$work/disk"
	python3 "$here/probe_table.py" $(echo $built | cut -d' ' -f1) "$work/disk" "${@:2}"
	exit
fi
python3 "$here/probe.py" $built >"$work/out" 2>"$work/errors"
grep -v 'passed, .* failed' "$work/out"
grep -E 'Error|error' "$work/errors"
read -r p _ f _ s _ <<<"$(grep -E 'passed, .* failed' "$work/out" | tr -d ,)"
echo "$((passed + ${p:-0})) passed, $((failed + ${f:-1})) failed, $((skipped + ${s:-0})) skipped"
[ $((failed + ${f:-1})) = 0 ]
