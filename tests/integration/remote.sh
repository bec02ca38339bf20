#!/usr/bin/env bash
# Guests of other hosts: two session daemons of an ordinary user, each with folders of its own and, where root may give it,
# a host name of its own. One is reached through its socket, the other over TCP.
set -u
. "$(dirname "$0")/lib.sh"
remote=$(mktemp -d /var/tmp/kb-remote-XXXXXX)
port=$((20000 + $$ % 20000))
chmod 755 "$remote"
user=

if [ "$(id -u)" = 0 ]; then
	user="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi

# daemon NAME: start it, or start it again; its folders are below $remote/NAME.
daemon() {
	local at=$remote/$1 name=
	mkdir -p "$at"/{config,run,cache,data,pool}
	printf 'listen_tls = 0\nlisten_tcp = 1\nauth_tcp = "none"\ntcp_port = "%s"\nunix_sock_rw_perms = "0777"\n' "$port" >"$at/libvirtd.conf"
	[ -z "$user" ] || chown -R 65534:65534 "$at"
	[ -z "$user" ] || name="unshare --uts sh -c 'hostname kb-$1; exec \"\$@\"' sh"
	rm -f "$at/libvirtd.pid"
	(cd "$at" && eval "exec $name $user env HOME='$at' XDG_CONFIG_HOME='$at/config' XDG_RUNTIME_DIR='$at/run' \
		XDG_CACHE_HOME='$at/cache' XDG_DATA_HOME='$at/data' /usr/sbin/libvirtd -f '$at/libvirtd.conf' -p '$at/libvirtd.pid' \
		$([ "$1" = b ] && echo --listen)" >"$at/log" 2>&1 </dev/null) &
	wait_for 20 virsh -q -c "$(uri "$1")" list >/dev/null 2>&1
}

uri() {
	[ "$1" = a ] && echo "qemu+unix:///session?socket=$remote/a/run/libvirt/libvirt-sock" || echo "qemu+tcp://127.0.0.1:$port/session"
}

v() { virsh -q -c "$(uri "$1")" "${@:2}"; }
stop_daemon() { kill "$(cat "$remote/$1/libvirtd.pid")"; wait_for 10 gone "$1"; }
gone() { [ ! -e "$remote/$1/libvirtd.pid" ] || ! kill -0 "$(cat "$remote/$1/libvirtd.pid")" 2>/dev/null; }
domains() { v "$1" list --all --name | grep -c .; }
volumes() { v "$1" vol-list kickbench 2>/dev/null | grep -c 'kickbench-'; }
b_folder() { v b pool-dumpxml kickbench | sed -n 's:.*<path>\(.*\)</path>.*:\1:p'; }

finish_suite() {
	for d in a b; do
		for n in $(v $d list --name 2>/dev/null); do v $d destroy "$n" >/dev/null; done
		stop_daemon $d 2>/dev/null
	done
	rm -rf "$remote"
	echo "remote: $passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
}
