#!/usr/bin/env bash
# exec.sh with all of its cases.
KICKBENCH_LONG=1 exec bash "$(dirname "$0")/exec.sh"
