#!/usr/bin/env bash
# check.sh BUILD: every test but the long ones, with a line each, and "N passed, N failed, N skipped" at the end.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib/count.sh

section "unit tests"
units plain
section "unit tests with AddressSanitizer and UndefinedBehaviorSanitizer"
units asan
section "unit tests with ThreadSanitizer"
# Its runtime does not know every layout that a randomising kernel comes up with.
! setarch -R true 2>/dev/null || within='setarch -R'
units tsan
within=
script "simulated experiments" "$build/plain/simulate"
script "fuzzers, a moment each" tests/fuzz/run.sh "$build"
script "golden cases" tests/golden/run.sh "$build/kickio"
script "HTML report" tests/html/check.sh "$build"
script "parity with fio" tests/parity/parity.sh "$build/kickio"
script "verification" tests/verify/verify.sh
script "verification in a guest" tests/verify/guest.sh "$build/kickio"
script "portability" tests/portability/portability.sh
script "real guests" tests/integration/run.sh "$build/kickbench" works
script "faults" tests/integration/run.sh "$build/kickbench" faults
script "a guest without libvirt" tests/integration/run.sh "$build/kickbench" exec
script "the probe" tests/integration/probe.sh
script "notifications" tests/integration/run.sh "$build/kickbench" kick
script "stalls" tests/integration/run.sh "$build/kickbench" stall
script "the regression matrix" tests/integration/run.sh "$build/kickbench" regress
finish
