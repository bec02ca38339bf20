#!/bin/sh
# Does kickio build everywhere? Cross-builds for the BSDs with zig cc, with every compiler and make that is
# here, and each header alone. One line per check, then the sum. usage: portability.sh [BUILD]
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$(pwd)
build=${1:-$root/build}
mkdir -p "$build/portability"
build=$(cd "$build" && pwd)
logs=$build/portability
zig_version=0.17.1
warnings='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror'
fortify='-O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2'
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); echo "ok       $*"; }
skip() { skipped=$((skipped + 1)); echo "skipped  $*"; }
fail() {
	failed=$((failed + 1))
	echo "FAILED   $1"
	tail -n 20 "$2" | sed 's/^/         | /'
}

have() { command -v "$1" >/dev/null 2>&1; }

# check NAME COMMAND...: passes when the command does.
check() {
	name=$1 log=$logs/$(echo "$1" | tr -c 'A-Za-z0-9\n' _).log
	shift
	if "$@" >"$log" 2>&1; then
		pass "$name"
		return 0
	fi
	fail "$name" "$log"
	return 1
}

# in_guest MAKE TARGET-FOLDER ARGUMENT...
in_guest() {
	maker=$1 folder=$2
	shift 2
	(cd guest && "$maker" BUILD="$build/$folder" WARNINGS="$warnings" "$@")
}

# works FOLDER: that kickio writes, reads and verifies; a buffer overrun would end it.
works() {
	file=$build/$1/data
	"$build/$1/kickio" --name=w --filename="$file" --size=1m --rw=randrw --bs=4k --verify=crc32c --numjobs=2 --thread=1 \
		--output-format=normal,json,terse
	ended=$?
	rm -f "$file"
	return $ended
}

# ---- the makes and compilers of this system --------------------------------------------------------

host_builds() {
	for cc in gcc clang; do
		if have $cc; then
			check "linux, $cc, all warnings are errors" in_guest make "portability/$cc" CC=$cc
			check "linux, $cc, fortified" in_guest make "portability/$cc-fortified" CC=$cc CFLAGS="$fortify" &&
				check "linux, $cc, fortified: it works" works "portability/$cc-fortified"
		else
			skip "linux, $cc: not installed"
		fi
	done
	if have bmake; then
		check "linux, bmake" in_guest bmake portability/bmake CC=cc
	else
		skip "linux, bmake: not installed (package bmake)"
	fi
	if have musl-gcc; then
		check "linux, musl, static" in_guest make portability/musl CC=musl-gcc &&
			check "linux, musl: the program starts" "$build/portability/musl/kickio" --version
	else
		skip "linux, musl: musl-gcc is not installed (package musl-tools)"
	fi
}

# An edited header rebuilds what includes it and nothing else, whatever the make.
rebuilds() {
	tree=$(mktemp -d "$logs/tree.XXXXXX") || return 1
	cp -R guest engines "$tree" && few_objects "$1" "$tree"
	rebuilt=$?
	rm -rf "$tree"
	return $rebuilt
}

few_objects() (
	cd "$2/guest" || exit 1
	set -- "$1" BUILD=../build CC=cc CFLAGS=-O0 'SOURCES=guest/frame.c guest/histogram.c' objects
	"$@" >/dev/null || exit 1
	"$@" -n >../again
	! grep -q -e ' -c ' ../again || { echo "built again for nothing"; exit 1; }
	sleep 1
	touch frame.h
	"$@" -n >../again
	grep -q 'guest/frame\.c' ../again || { echo "frame.o is not built again"; exit 1; }
	! grep -q 'guest/histogram\.c' ../again || { echo "histogram.o is built again"; exit 1; }
	"$@" 'CFLAGS=-O1' -n >../again
	grep -q 'guest/histogram\.c' ../again || { echo "other flags do not build it again"; exit 1; }
)

# ---- the BSDs --------------------------------------------------------------------------------------

install_zig() {
	zig=$build/zig/ziglang/zig
	[ -x "$zig" ] && [ "$("$zig" version 2>/dev/null)" = "$zig_version" ] && return 0
	rm -rf "$build/zig" "$build/zig.new"
	if have pip3; then pip=pip3; else pip='python3 -m pip'; fi
	$pip install -q --disable-pip-version-check --no-compile --target "$build/zig.new" "ziglang==$zig_version" \
		>"$logs/zig.log" 2>&1 && mv "$build/zig.new" "$build/zig" && [ -x "$zig" ]
}

# cross SYSTEM TARGET. OpenBSD 7.8 is the oldest OpenBSD whose libraries it knows.
cross() {
	in_guest make "portability/$2" OS="$1" CC="$zig cc -target $2"
}

is_executable() {
	[ "$(od -An -c -N4 "$1" | tr -d ' ')" = '177ELF' ]
}

bsd_builds() {
	if ! install_zig; then
		skip "BSDs: ziglang $zig_version cannot be installed (see $logs/zig.log)"
		return
	fi
	export ZIG_GLOBAL_CACHE_DIR="$build/zig-cache" ZIG_LOCAL_CACHE_DIR="$build/zig-cache"
	for machine in x86_64 aarch64; do
		for target in freebsd netbsd openbsd.7.8; do
			check "${target%%.*}, $machine, linked" cross "${target%%.*}" "$machine-$target" &&
				check "${target%%.*}, $machine, is an executable" \
					is_executable "$build/portability/$machine-$target/kickio"
		done
	done
}

# zig brings no headers of DragonFly; with a copy of its /usr/include all objects are compiled.
dragonfly_build() {
	if [ -z "${DRAGONFLY_INCLUDE-}" ]; then
		skip "dragonfly: no headers here (DRAGONFLY_INCLUDE=folder, a copy of its /usr/include)"
	elif ! have clang; then
		skip "dragonfly: clang is not installed"
	else
		check "dragonfly, x86_64, compiled" in_guest make portability/dragonfly OS=dragonfly objects \
			CC="clang -target x86_64-unknown-dragonfly -nostdinc -isystem $DRAGONFLY_INCLUDE"
	fi
}

# ---- headers ---------------------------------------------------------------------------------------

# Each compiles by itself, so that nobody needs to know what to include before it.
headers() {
	for compiler in gcc clang; do
		have $compiler || continue
		bad=0
		for header in guest/*.h engines/*.h host/*.h; do
			$compiler -std=gnu11 -D_GNU_SOURCE -I. $warnings -Wno-unused -fsyntax-only -x c - <<END >"$logs/header.log" 2>&1 || {
#include "$header"
#include "$header"
END
				fail "$header alone, $compiler" "$logs/header.log"
				bad=1
			}
		done
		[ $bad = 1 ] || pass "every header alone, $compiler"
	done
}

host_builds
for maker in make bmake; do
	if have $maker; then
		check "an edited header, $maker" rebuilds $maker
	else
		skip "an edited header, $maker: not installed"
	fi
done
headers
bsd_builds
dragonfly_build
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
