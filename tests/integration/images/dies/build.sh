#!/bin/sh
# Our guest, but it dies in the middle of a job: kickio with another main().
set -eu
here=$(cd "$(dirname "$0")" && pwd)
objects=$(dirname "$2")/obj/kickio-linux
mkdir -p "$1"
# The kernel that was unpacked for our own guest will do.
[ -d "$1/kernel" ] || [ ! -d "$1/../linux/kernel" ] || cp -R "$1/../linux/kernel" "$1/kernel"
cc -static -O1 -pthread -Wl,--wrap=main -o "$1/init" "$here/main.c" $(find "$objects" -name '*.o') \
	$(sed -n 's/^FOUND_LIBRARIES *=//p' "$objects"/*.mk) -lm
exec "$here/../../../../images/linux/build.sh" "$1" "$1/init"
