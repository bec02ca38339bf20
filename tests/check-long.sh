#!/usr/bin/env bash
# check-long.sh BUILD: what takes too long for every commit: ends by signals, scenarios of published measurements, other guests,
# emulators, kernels, hosts, the regression matrix.
# CHECK_LONG_SECONDS=N: what would take longer than that is not begun, and counted as skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib/count.sh
limit=${CHECK_LONG_SECONDS:-}

# suite SECONDS WHAT NAME: SECONDS is what it takes on two slow cores.
suite() {
	if [ -n "$limit" ] && [ $((SECONDS - begun + $1)) -gt "$limit" ]; then
		section "$2"
		echo "skip  all: it takes up to $1 s, and only $((limit - SECONDS + begun)) s are left"
		skipped=$((skipped + 1))
		return
	fi
	script "$2" tests/integration/run.sh "$build/kickbench" "$3"
}

suite 150 "signals" signals
suite 150 "published measurements" documents
suite 400 "other emulators and kernels" emulators
suite 600 "a distribution's image, by its console" debian
suite 300 "several guests, fio as the tool" guests
suite 300 "a user's own domain" owndomain
suite 150 "guests without libvirt" exec_long
suite 1080 "the quick regression matrix" regress_long
suite 400 "events in the middle of a job" events
suite 500 "two hosts" remote
finish
