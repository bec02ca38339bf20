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
	wait_for 60 virsh -q -c "$(uri "$1")" list >/dev/null 2>&1
}

uri() {
	[ "$1" = a ] && echo "qemu+unix:///session?socket=$remote/a/run/libvirt/libvirt-sock" || echo "qemu+tcp://127.0.0.1:$port/session"
}

# A login on this machine by a key of its own, for whoever runs the tests.
ssh_daemon() {
	local at=$remote/ssh
	mkdir -p -m 700 "$at"
	ssh_port=$((port + 1))
	ssh-keygen -q -t ed25519 -N '' -f "$at/host" && ssh-keygen -q -t ed25519 -N '' -f "$at/key" || return
	cp "$at/key.pub" "$at/authorized"
	printf '%s\n' "Port $ssh_port" "ListenAddress 127.0.0.1" "HostKey $at/host" "PidFile $at/pid" "AuthorizedKeysFile $at/authorized" \
		"StrictModes no" "UsePAM no" "PermitRootLogin prohibit-password" "PasswordAuthentication no" >"$at/config"
	printf '#!/bin/sh\nexec ssh -o UserKnownHostsFile=%s -o LogLevel=ERROR "$@"\n' "$at/known" >"$at/ssh"
	chmod +x "$at/ssh"
	[ "$(id -u)" != 0 ] || mkdir -p -m 755 /run/sshd
	/usr/sbin/sshd -f "$at/config" -E "$at/log" && wait_for 60 test -s "$at/pid"
}
# uri_ssh: the first daemon through it.
uri_ssh() {
	echo "qemu+ssh://$(id -un)@127.0.0.1:$ssh_port/session?socket=$remote/a/run/libvirt/libvirt-sock&command=$remote/ssh/ssh&keyfile=$remote/ssh/key&no_verify=1"
}

v() { virsh -q -c "$(uri "$1")" "${@:2}"; }
# A daemon removes its pid file early and may not come to its end.
stop_daemon() {
	local pid
	pid=$(cat "$remote/$1/libvirtd.pid") || return
	kill "$pid"
	wait_for 10 gone "$pid" || kill -9 "$pid"
}
gone() { ! kill -0 "$1" 2>/dev/null; }
domains() { v "$1" list --all --name | grep -c .; }

end() {
	for d in a b; do
		for n in $(v $d list --name 2>/dev/null); do v $d destroy "$n" >/dev/null; done
		stop_daemon $d 2>/dev/null
		kill "$(cat "$remote/$d/run/libvirt/virtlogd.pid" 2>/dev/null)" 2>/dev/null # it would wait two minutes for guests
	done
	kill "$(cat "$remote/ssh/pid" 2>/dev/null)" 2>/dev/null
	rm -rf "$remote" ${folder:+"$folder"}
}
trap end EXIT

finish_suite() {
	echo "remote: $passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
}

# true_of NAME FOLDER EXPRESSION: Python over its trials t, run.json run, and host, the entry of each boot's host.
true_of() {
	local value
	value=$(python3 - "$2" "$3" 2>&1 <<'PY'
import glob, json, sys
t = [json.load(open(f)) for f in sorted(glob.glob(sys.argv[1] + "/trials/*[0-9].json")) if "cut" not in f]
run = json.load(open(sys.argv[1] + "/run.json"))
host = {b["boot"]: run["hosts"][b.get("host", 1) - 1] for b in run["plan"]["boots"]} if "hosts" in run else {}
print(eval(sys.argv[2]))
PY
	)
	[ "$value" = True ] && pass "$1" || fail "$1" "$3 is $value"
}

# is NAME VALUE WANTED
is() { [ "$2" = "$3" ] && pass "$1" || fail "$1" "it is $2, expected $3"; }

for tool in libvirtd virsh python3; do
	PATH=$PATH:/usr/sbin command -v $tool >/dev/null || { skip "remote hosts" "there is no $tool"; finish_suite; }
done
if ! daemon a || ! daemon b; then
	tail -n 3 "$remote"/[ab]/log >"$out"
	fail "two daemons" "one does not start"
	finish_suite
fi
v a pool-define-as kickbench dir --target "$remote/a/pool" >/dev/null
a="--connect $(uri a)" b="--connect $(uri b)"

# ---- what is refused ----

kb run "$mini" -o "$WORK/r-type" $b --set guest.machine=pc-i440fx-99.9
check "a machine type that the host does not have" 4 'pc-i440fx-99.9'
kb run "$mini" -o "$WORK/r-emulator" $b --set guest.emulator=/nonexistent/qemu
check "an emulator that the host does not have" 4 '/nonexistent/qemu'
kb run "$mini" -o "$WORK/r-memory" $b --set disk.backend=memory
check "a place on this host" 2 'backend = memory is a place on this host'
kb run "$mini" -o "$WORK/r-domain" $b --set guest.domain=anything
check "a domain of this host" 2 'a domain of this host can only be a guest of this host'
kb run "$mini" -o "$WORK/r-twice" $b $b
check "a host that is there twice" 2 'is there twice'
kb run "$mini" -o "$WORK/r-few" $a $b
check "more hosts than blocks" 2 '2 hosts for 1 blocks'
kb run "$mini" -o "$WORK/r-none" --connect qemu+tcp://127.0.0.1:1/session
check "nobody there" 4 'libvirt: '

# ---- a run that two hosts share ----

kb run "$mini" -o "$WORK/r-both" $a $b --set scenario.blocks=4
check "two hosts share a run" 0 '16 of 16 counted' 'hosts  .* at' '2 of 4 blocks: 1, 3' '2 of 4 blocks: 2, 4'
true_of "a block never crosses hosts" "$WORK/r-both" "len(t) == 16 and all(b['host'] == (b['block'] - 1) % 2 + 1 for b in run['plan']['boots']) and all(x['identity']['host'] == host[x['boot']]['name'] for x in t)"
true_of "block statistics come through libvirt" "$WORK/r-both" "all(x['host']['block']['rd_reqs'] + x['host']['block']['wr_reqs'] > 0 for x in t)"
true_of "nothing of this host's /proc is taken for the other's" "$WORK/r-both" "all(h['here'] or x['host']['cpu'] is None or list(x['host']['cpu']) == ['vcpu_us'] for x in t for h in [host[x['boot']]])"
true_of "all settings are in force" "$WORK/r-both" "all(x['effective']['mismatch'] == [] and x['effective']['verified'] for x in t)"
is "no guest is left on the first" "$(domains a)" 0
is "no guest is left on the second" "$(domains b)" 0
is "the transient pool is gone" "$(v b pool-list --all --name | grep -c kickbench)" 0

# What a run leaves is used by the next one: a volume that was sent is a new file or written anew.
folder=/var/tmp/kickbench-$(python3 -c 'import sys, zlib; print("%08x" % zlib.crc32(sys.argv[1].encode()))' "$(uri b)")
before=$(stat -c '%i %Y' "$folder"/kickbench-kernel-* "$folder"/kickbench-initrd-* 2>/dev/null)
disk=$(ls "$folder"/kickbench-test-0-*.raw)
blocks() { stat -c '%i' "$disk"; filefrag -v "$disk" 2>/dev/null | awk '/^ *[0-9]+:/ { print $4, $5, $6 }'; }
at=$(blocks)
kb run "$mini" -o "$WORK/r-again" $b
check "the same host again" 0 '4 of 4 counted'
is "kernel and initramfs were not sent again" "$(stat -c '%i %Y' "$folder"/kickbench-kernel-* "$folder"/kickbench-initrd-*)" "$before"
is "the test disk was restored in place" "$(blocks)" "$at"
kb run "$mini" -o "$WORK/r-clean" $b --set workload.rw=randread
check "a run that only reads" 0 '4 of 4 counted'
is "then the disk is as it is here" "$(sha256sum <"$disk")" "$(sha256sum <"$XDG_STATE_HOME/kickbench/originals/test-0-16777216.raw")"
is "its mark says so" "$(sed 's/.* //' "$disk.good")" "$(sha256sum <"$disk" | cut -d' ' -f1)"

# ---- over ssh ----

if [ -x /usr/sbin/sshd ] && ssh_daemon; then
	kb run "$mini" -o "$WORK/r-ssh" --connect "$(uri_ssh)"
	check "a host at the other end of ssh" 0 '4 of 4 counted'
	true_of "all settings are in force there, too" "$WORK/r-ssh" "len(t) == 4 and all(x['effective']['mismatch'] == [] and x['effective']['verified'] for x in t)"
	is "no guest is left over ssh" "$(domains a)" 0
	kb run "$mini" -o "$WORK/r-key" --connect "$(uri_ssh | sed 's,/ssh/key,/ssh/host,')"
	check "a key that is not known there" 4 'Permission denied'
else
	skip "a host at the other end of ssh" "there is no sshd, or it does not start"
fi

# ---- a connection that is lost ----

start run "$mini" -o "$WORK/r-lost" $a $b --set scenario.blocks=2 --set workload.runtime=4s
if wait_for 300 eval '[ "$(trials "$WORK/r-lost")" -ge 5 ]'; then
	sleep 1
	kill -9 "$(cat "$remote/b/libvirtd.pid")"
	finish
	check_lost() { [ "$status" = 3 ] && says 'connection to libvirt is lost' && says 'resume'; }
	check_lost && pass "a daemon that dies in the middle of a trial ends the run" || fail "a daemon that dies" "status $status"
else
	kill "$run"
	finish
	fail "a run to be cut" "it does not get there"
fi
stored=$(trials "$WORK/r-lost")
daemon b
is "its guest lives on" "$(domains b)" 1
kb run --resume "$WORK/r-lost" $b $a
check_order() { [ "$status" = 2 ] && says 'in the order of then'; }
check_order && pass "a resume needs the hosts in their order" || fail "a resume needs the hosts in their order" "status $status"
kb run --resume "$WORK/r-lost" $a
[ "$status" = 2 ] && says 'blocks on 2 hosts' && pass "a resume needs all hosts" || fail "a resume needs all hosts" "status $status"
kb run --resume "$WORK/r-lost" $a $b
check "it goes on" 0 '8 of 8 counted'
[ "$stored" -ge 5 ] && pass "and had $stored trials" || fail "and had $stored trials" "too few"
is "the guest that was left is gone" "$(domains b)" 0

# ---- nothing is left ----

for d in a b; do
	kb clean --connect "$(uri $d)"
	check "clean ($d)" 0 'removed .*kickbench-kernel-.* on the other host'
	is "no guest ($d)" "$(domains $d)" 0
done
is "no volume in the pool that was defined" "$(ls "$remote/a/pool" | wc -l)" 0
is "which stays" "$(v a pool-list --all --name | grep -c kickbench)" 1
[ ! -e "$folder" ] && pass "no folder where it was ours" || fail "no folder where it was ours" "$(ls -la "$folder")"
finish_suite
