#!/usr/bin/env bash
# run.sh KICKBENCH [SUITE…]: the integration tests, with folders of their own. "long" stands for all the long ones.
set -u
here=$(cd "$(dirname "$0")" && pwd)
KICKBENCH=$(realpath "$1")
shift
WORK=$(mktemp -d)
chmod 755 "$WORK"
export KICKBENCH WORK XDG_STATE_HOME=$WORK/state XDG_CACHE_HOME=$WORK/cache
trap 'pkill -9 -f "guest=kickbench-.*$WORK" 2>/dev/null; rm -rf "$WORK"' EXIT
status=0
long='
debian
documents
emulators
events
exec_long
guests
owndomain
regress_long
remote
signals
'
suites=${*:-works faults exec}
[ "$suites" != long ] || suites=$long
for suite in $suites; do
	(cd "$WORK" && bash "$here/$suite.sh") || status=1
done
exit $status
