#!/bin/sh
# install.sh PROGRAM: put kickio there, on the system that this archive was unpacked on. Built with its compiler and make;
# where there is none, the program that came along for this system. Says which in its last line; on failure the end of
# the compiler's output comes before it.
program=$1
here=$(cd "$(dirname "$0")/.." && pwd)

die() { echo "kb-kickio: $*"; exit 1; }

os=$(uname -s | tr '[:upper:]' '[:lower:]')
machine=$(uname -m)
case $machine in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
release=$(uname -r | sed 's/[^0-9.].*//')

install_built() {
	jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 1)
	if ! (cd "$here/guest" && make -j "$jobs" CFLAGS=-O2 BUILD="$here/build" PROGRAM="$here/built") >"$here/log" 2>&1; then
		tail -n 20 "$here/log"
		die "the compiler of this system does not build it"
	fi
	cp "$here/built" "$program.new" || die "$program cannot be written"
	how="built with $(cc --version 2>/dev/null | head -n 1)"
}

install_brought() {
	for target in "$machine-$os.$release" "$machine-$os"; do
		[ -f "$here/bin/$target" ] || continue
		cp "$here/bin/$target" "$program.new" || die "$program cannot be written"
		how="brought along for $target"
		return
	done
	die "this system has no compiler with make, and no program came along for $machine-$os.$release"
}

if command -v make >/dev/null 2>&1 && command -v cc >/dev/null 2>&1; then install_built; else install_brought; fi
chmod 755 "$program.new" && mv "$program.new" "$program" || die "$program cannot be written"
version=$("$program" --version 2>&1) || die "it does not run here: $version"
rm -rf "$here/build" "$here/built"
sync # its plug may be pulled at any time
echo "kb-kickio: $version, $how"
