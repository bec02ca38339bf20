#!/bin/sh
# Do kickio, and kickbench without libvirt, build everywhere? Cross-builds for the BSDs with zig cc, with every compiler and make that is
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
cpus=$(nproc 2>/dev/null || echo 1)
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
	(cd guest && "$maker" -j"$cpus" BUILD="$build/$folder" WARNINGS="$warnings" "$@")
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
	host_elsewhere
}

# ---- kickbench without libvirt -----------------------------------------------------------------------

# host_objects FOLDER COMPILER...: kickbench's own sources. The libraries' headers say nothing of this system.
host_objects() (
	folder=$1
	shift
	rm -rf "$folder" && mkdir -p "$folder/include" || exit 1
	for library in jansson inih sqlite3; do
		at=$(pkg-config --variable=includedir $library) || exit 1
		for header in jansson.h jansson_config.h ini.h sqlite3.h; do
			[ ! -e "$at/$header" ] || cp "$at/$header" "$folder/include"
		done
	done
	echo "$sources" | tr ' ' '\n' | xargs -P "$cpus" -I{} sh -c \
		'source=$1 folder=$2; shift 2; exec "$@" -c -o "$folder/$(basename "$source" .c).o" "$source"' sh {} "$folder" \
		"$@" -std=gnu11 -D_GNU_SOURCE -DKB_NO_LIBVIRT -I. -idirafter "$folder/include" $warnings -pthread
)

# host_links FOLDER KICKIO-FOLDER COMPILER...: with stand-ins for the functions of the three libraries, which are not to be had
# for that system here: everything else has to be in its C library or in our own objects.
host_links() (
	folder=$1 kickio=$2
	shift 2
	nm -u "$folder"/*.o | sed -n 's/^ *U \(json_[a-z_0-9]*\|jansson_[a-z_0-9]*\|ini_[a-z_0-9]*\|hashtable_[a-z_0-9]*\|sqlite3_[a-z_0-9]*\)$/\1/p' | sort -u |
		sed 's/.*/void &(void); void &(void) { }/' >"$folder/libraries.c" || exit 1
	[ -s "$folder/libraries.c" ] || exit 1
	"$@" -c -o "$folder/libraries.o" "$folder/libraries.c" || exit 1
	"$@" -pthread -o "$folder/kickbench" "$folder"/*.o $(find "$kickio" -name '*.o' ! -name main.o) -lm
)

# Which of the objects of other systems belong to this one.
host_sources() {
	make -s LIBVIRT=no portable-sources | tr ' ' '\n'
	echo "host/os_bsd.c host/os_$1.c"
}

host_elsewhere() {
	have pkg-config && pkg-config --exists jansson inih sqlite3 || {
		skip "kickbench on BSDs: jansson, inih or sqlite3 are not installed"
		return
	}
	for target in freebsd openbsd.7.8; do
		system=${target%%.*} folder=$build/portability/kickbench-$target
		sources=$(host_sources "$system")
		check "kickbench, $system, x86_64, compiled" host_objects "$folder" "$zig" cc -target "x86_64-$target" &&
			check "kickbench, $system, x86_64, linked but for three libraries" host_links "$folder" \
				"$build/portability/x86_64-$target" "$zig" cc -target "x86_64-$target"
	done
}

without_libvirt() {
	check "kickbench, linux, without libvirt" make -j"$cpus" LIBVIRT=no BUILD="$build/portability/no-libvirt" \
		"$build/portability/no-libvirt/kickbench" || return
	if nm -D "$build/portability/no-libvirt/kickbench" | grep -q ' vir[A-Z]\| xml[A-Z]'; then
		fail "kickbench without libvirt: it needs it" /dev/null
	fi
	mkdir -p "$build/portability/no-libvirt/bin" "$build/portability/no-libvirt/share/kickbench/images"
	cp "$build/portability/no-libvirt/kickbench" "$build/portability/no-libvirt/bin" # beside the data that it looks for
	"$build/portability/no-libvirt/bin/kickbench" run scenarios/quick.ini >"$logs/no-libvirt.log" 2>&1
	if [ $? = 4 ] && grep -q 'built without libvirt' "$logs/no-libvirt.log"; then
		pass "kickbench without libvirt says so"
	else
		fail "kickbench without libvirt says so" "$logs/no-libvirt.log"
	fi
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
each_header() {
	printf '%s\n' guest/*.h engines/*.h host/*.h | xargs -P "$cpus" -I{} sh -c 'printf "#include \"%s\"\n" {} {} | "$@"' sh \
		"$1" -std=gnu11 -D_GNU_SOURCE -I. $(pkg-config --cflags libxml-2.0 2>/dev/null) $warnings -Wno-unused -fsyntax-only -x c -
}

headers() {
	for compiler in gcc clang; do
		have $compiler || continue
		check "every header alone, $compiler" each_header "$compiler"
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
without_libvirt
bsd_builds
dragonfly_build
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
