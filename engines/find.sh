#!/bin/sh
# find.sh FOLDER SYSTEM LINK: which engines beside sync, psync and null can be built with this compiler and
# its libraries? Writes FOLDER/engines.mk, which sets FOUND_SOURCES, FOUND_DEFINES and FOUND_LIBRARIES, and
# prints its name. Linking tells: a header without its static library is of no use.
set -eu
folder=$1 system=$2 link=$3
mkdir -p "$folder"
try=$folder/try.$$
trap 'rm -f "$try" "$try.c" "$try.d" "$try.mk"' EXIT
sources='' defines='' libraries=''

found() { # NAME LIBRARY
	sources="$sources engines/$1.c"
	defines="$defines -DHAVE_ENGINE_$(echo "$1" | tr '[:lower:]' '[:upper:]')"
	libraries="$libraries $2"
}

# links NAME LIBRARY <PROGRAM. The command is words: a compiler with its options.
links() {
	cat >"$try.c"
	# shellcheck disable=SC2086
	if $link -o "$try" "$try.c" $2 >/dev/null 2>&1; then found "$1" "$2"; fi
}

posixaio() {
	links posixaio "$1" <<'END'
#include <aio.h>
int main(void) { struct aiocb a = {0}; const struct aiocb *l = &a; return aio_read(&a) + aio_suspend(&l, 1, 0); }
END
}

if [ "$system" = linux ]; then
	found pvsync2 ''
	links libaio -laio <<'END'
#include <libaio.h>
int main(void) { io_context_t c = 0; return io_setup(1, &c) + io_getevents(c, 0, 0, 0, 0); }
END
	# Some years old: the flags and calls of 2.2, which are tried on the kernel when a job starts.
	links io_uring -luring <<'END'
#include <liburing.h>
int main(void)
{
	struct io_uring r;
	return io_uring_queue_init(1, &r, IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
		IORING_SETUP_SINGLE_ISSUER) + io_uring_submit(&r);
}
END
fi
case $system in
openbsd) ;;
netbsd) posixaio -lrt ;;
*) posixaio '' ;;
esac

printf 'FOUND_SOURCES =%s\nFOUND_DEFINES =%s\nFOUND_LIBRARIES =%s\n' "$sources" "$defines" "$libraries" >"$try.mk"
cmp -s "$try.mk" "$folder/engines.mk" || cp "$try.mk" "$folder/engines.mk"
echo "$folder/engines.mk"
