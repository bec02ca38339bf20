#!/usr/bin/env bash
# check-long.sh BUILD: what takes too long for every commit: other guests, emulators, kernels, hosts.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/lib/count.sh

script "other emulators and kernels" tests/integration/run.sh "$build/kickbench" emulators
script "guests without libvirt" tests/integration/run.sh "$build/kickbench" exec_long
script "several guests, fio as the tool" tests/integration/run.sh "$build/kickbench" guests
script "a user's own domain" tests/integration/run.sh "$build/kickbench" owndomain
script "two hosts" tests/integration/run.sh "$build/kickbench" remote
script "a distribution's image, by its console" tests/integration/run.sh "$build/kickbench" debian
finish
