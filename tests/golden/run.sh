#!/bin/sh
# Golden cases of kickio and of kickbench's reports: run.sh KICKIO [CASE…]
#
# A case is a folder kickio-NAME or format-NAME with `cmd` (a shell script; $KICKIO is the program, $KICKBENCH the one
# beside it, the working folder is an empty one, $CASE the case's folder) and what it must print: `stdout`, `stderr`, and
# `status` (0 when the file is missing; an output file that is missing means empty). format-NAME/run is a run folder
# that several cases share. With a file `needs`, which names a program, the
# case is skipped where that is not installed. $MASK is a sed script that makes N of every number, DATE of a date.
kickio=$1
[ -n "$kickio" ] && [ -x "$kickio" ] || { echo "usage: run.sh KICKIO [CASE...]" >&2; exit 2; }
case $kickio in /*) ;; *) kickio=$PWD/$kickio ;; esac
shift
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/kickio-golden.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' INT TERM

passed=0 failed=0 skipped=0

same() { # NAME of the output; the case's folder in $1
	expected=$1/$2
	[ -f "$expected" ] || expected=/dev/null
	diff -u "$expected" "$scratch/$2" >"$scratch/diff" && return 0
	echo "  $2 differs (- expected, + printed):"
	sed 's/^/    /' "$scratch/diff"
	return 1
}

[ $# -gt 0 ] || set -- "$here"/kickio-* "$here"/format-*
for dir; do
	[ -d "$dir" ] || dir=$here/$dir
	name=$(basename "$dir")
	[ ! -d "$dir/run" ] || continue
	if [ ! -f "$dir/cmd" ]; then
		echo "SKIP $name: no cmd"
		skipped=$((skipped + 1))
		continue
	fi
	if [ -f "$dir/needs" ] && ! command -v "$(cat "$dir/needs")" >/dev/null; then
		echo "SKIP $name: $(cat "$dir/needs") is not installed"
		skipped=$((skipped + 1))
		continue
	fi
	mkdir "$scratch/work"
	(cd "$scratch/work" && KICKIO=$kickio KICKBENCH=$(dirname "$kickio")/kickbench CASE=$dir MASK=$here/mask.sed LC_ALL=C sh "$dir/cmd") \
		>"$scratch/stdout" 2>"$scratch/stderr" </dev/null
	echo $? >"$scratch/status"
	[ -f "$dir/status" ] && want=$(cat "$dir/status") || want=0
	ok=yes
	same "$dir" stdout >"$scratch/why" || ok=no
	same "$dir" stderr >>"$scratch/why" || ok=no
	if [ "$(cat "$scratch/status")" != "$want" ]; then
		echo "  status $(cat "$scratch/status"), expected $want" >>"$scratch/why"
		ok=no
	fi
	if [ $ok = yes ]; then
		echo "ok   $name"
		passed=$((passed + 1))
	else
		echo "FAIL $name"
		cat "$scratch/why"
		failed=$((failed + 1))
	fi
	rm -rf "$scratch/work"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
