#!/bin/sh
# A guest whose first process ends at once: its kernel panics.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cc -static -O1 -o "$1/init" "$here/init.c"
exec "$here/../../../../images/linux/build.sh" "$1" "$1/init"
