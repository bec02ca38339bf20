#!/usr/bin/env bash
# A user's own domain as the guest: a file with its definition, and a domain of a connection. It boots our kernel and
# initramfs, whose agent starts by itself, and has disks that must not change.
set -u
. "$(dirname "$0")/lib.sh"
image=$(dirname "$KICKBENCH")/images/linux
cd "$WORK" || exit 1

# domain FILE [DEVICES]: write the definition of the domain "mine".
domain() {
	cat >"$1" <<-END
	<domain type='qemu'>
	  <name>mine</name>
	  <uuid>6dba4b2f-4cb4-4e5c-9d7a-3d1f6f0a0009</uuid>
	  <memory unit='MiB'>192</memory>
	  <vcpu>2</vcpu>
	  <os>
	    <type arch='x86_64' machine='q35'>hvm</type>
	    <kernel>$image/vmlinuz</kernel>
	    <initrd>$image/initramfs.cpio.gz</initrd>
	    <cmdline>console=ttyS0 quiet loglevel=4 panic=-1 tsc=reliable no_timer_check cryptomgr.notests</cmdline>
	  </os>
	  <features><acpi/><apic/></features>
	  <cpu mode='host-passthrough'/>
	  <on_reboot>restart</on_reboot>
	  <devices>
	    <disk type='file' device='disk'>
	      <driver name='qemu' type='qcow2' cache='none' io='native'/>
	      <source file='$WORK/images/root.qcow2'/>
	      <target dev='vda' bus='virtio'/>
	    </disk>
	    <disk type='file' device='disk'>
	      <driver name='qemu' type='raw'/>
	      <source file='$WORK/images/data.raw'/>
	      <target dev='sda' bus='sata'/>
	    </disk>
	    <disk type='file' device='cdrom'>
	      <target dev='sdb' bus='sata'/>
	      <readonly/>
	    </disk>
	    <interface type='user'><model type='virtio'/></interface>
	    <graphics type='vnc' port='5999' autoport='no'/>
	    <video><model type='vga'/></video>
	    <memballoon model='virtio'/>
	    ${2-}
	  </devices>
	</domain>
	END
}

# untouched NAME: images and definition are as they were, nothing of a boot is left.
digests() { sha256sum images/* mine.xml; stat -c '%n %Y %s %U %a' images/* mine.xml; }
untouched() {
	if [ "$(digests)" != "$before" ]; then
		fail "$1: images and definition untouched" "$(digests)"
	elif [ -n "$(find "$WORK" -path '*/overlays/*' -type f)" ]; then
		fail "$1: no overlay is left" "$(find "$WORK" -path '*/overlays/*' -type f)"
	else
		pass "$1: images and definition untouched, nothing left"
	fi
}

# of FILE EXPRESSION: the string value of an XPath expression.
of() { xmllint --xpath "string($2)" "$1"; }

is() { [ "$2" = "$3" ] && pass "$1" || fail "$1" "it is '$2', expected '$3'"; }

finish_suite() {
	echo "owndomain: $passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
}

if ! command -v qemu-img >/dev/null || ! command -v xmllint >/dev/null; then
	skip "a user's own domain" "needs qemu-img and xmllint"
	finish_suite
fi
mkdir images
qemu-img create -q -f qcow2 images/root.qcow2 64M
head -c 16M /dev/urandom >images/data.raw
domain mine.xml
sed "s,^\[guest linux\],[guest mine]\ndomain_xml = $WORK/mine.xml," "$mini" >own.ini
sed "s,^\[guest linux\],[guest mine]\ndomain = mine," "$mini" >named.ini
if [ ! -r "$image/vmlinuz" ]; then # the suite runs alone: let a run make it
	kb run "$mini" -o "$WORK/first"
	check "our own guest's kernel" 0 '4 of 4 counted'
fi
chmod 444 images/* mine.xml
before=$(digests)

# ---- a file with a definition ----

kb run own.ini -o "$WORK/file"
check "domain_xml" 0 '4 of 4 counted' "mine (domain_xml $WORK/mine.xml), 2 vCPUs, 192 MiB" 'device time per request'
untouched "domain_xml"
is "the definition is kept with the run" "$(of file/domains/mine.original.xml /domain/name)" mine
is "each trial knows its vCPUs" "$(grep -lE '"vcpus": *"2"' file/trials/*.json | wc -l)" 4
copy=file/domains/kickfd.xml
is "the copy has another name" "$(of $copy /domain/name)" kickbench-kickfd
is "no network, no graphics, no UUID" "$(of $copy 'count(//interface|//graphics|//uuid)')" 0
is "its disks are overlays" "$(of $copy "count(//disk[contains(source/@file,'/overlays/')][driver/@type='qcow2'])")" 2
is "the test disk takes a free name" "$(of $copy "//disk[alias/@name='ua-disk0']/target/@dev")" vdb
noise=$(grep -lE 'BUG:|WARNING:|panic' file/console/*.log)
[ -z "$noise" ] && pass "consoles are clean" || fail "consoles are clean" "$noise"

# What the scenario sets, the network kept, a device of the host dropped, two disks in one boot.
domain other.xml "<hostdev mode='subsystem' type='usb'><source><vendor id='0x1234'/><product id='0xbeef'/></source></hostdev>"
kb run own.ini -o "$WORK/device" --set guest.mine.domain_xml="$WORK/other.xml"
check "a host device is refused" 2 'other.xml: it has devices of the host, which a copy cannot share: hostdev (usb)' 'host_devices = drop'
kb run own.ini -o "$WORK/set" --set guest.mine.domain_xml="$WORK/other.xml" --set guest.mine.host_devices=drop \
	--set guest.mine.network=keep --set guest.mine.vcpus=1 --set guest.mine.memory=256M --set guest.mine.machine=pc \
	--set scenario.pairing=disks --set disk.iothread=on --set variant.none.ioeventfd=on --set variant.kickfd.queues=2
check "vcpus, memory, machine, network, two disks" 0 '4 of 4 counted'
untouched "what the scenario sets"
is "all that is verified" "$(grep -lE '"vcpus": *"1"' set/trials/*.json | xargs grep -lE '"memory": *"256M"' |
	xargs grep -lE '"machine": *"pc-i440fx' | wc -l)" 4
is "nothing mismatches" "$(grep -lE '"mismatch": *\[\]' set/trials/*.json | wc -l)" 4
is "the network is kept" "$(of set/domains/kickfd.xml 'count(//interface)')" 1

# An ordinary user, to whom the images belong not even in part.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	home=$WORK/nobody
	mkdir -p "$home" && chown 65534:65534 "$home"
	status=0
	(cd "$home" && setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$home" XDG_STATE_HOME= XDG_CACHE_HOME= \
		timeout 600 "$KICKBENCH" run "$WORK/own.ini" -o "$home/run" >"$out" 2>&1 </dev/null) || status=$?
	check "an ordinary user" 0 '4 of 4 counted' 'domain_xml'
	untouched "an ordinary user"
else
	skip "an ordinary user" "needs root to become one; these tests run as one already"
fi

# ---- refused before anything starts ----

refuse() { # NAME STATUS PATTERN SED: mine.xml changed by SED
	sed "$4" mine.xml >bad.xml
	kb run own.ini -o "$WORK/bad" --set guest.mine.domain_xml="$WORK/bad.xml"
	check "$1" "$2" "bad.xml" "$3"
}
refuse "no XML" 2 'this is no XML' '3d;$d'
refuse "no domain" 2 'this is no domain: its root element is <network>' 's,domain,network,'
refuse "another type of domain" 2 'it is of type xen' "1s/qemu/xen/"
refuse "another architecture" 2 'it is for aarch64' 's/x86_64/aarch64/'
refuse "an image that is missing" 4 'images/none.qcow2 (vda): No such file' 's/root.qcow2/none.qcow2/'
refuse "a disk over the network" 2 'its disk vda is of type network' "s,<disk type='file' device='disk'>,<disk type='network' device='disk'>,"
refuse "a machine that the emulator does not know" 4 'pc-q35-99.9' 's/q35/pc-q35-99.9/'
kb run own.ini -o "$WORK/bad" --set guest.mine.domain_xml=/nonexistent/d.xml
check "a file that is missing" 2 'domain_xml /nonexistent/d.xml: cannot read it: No such file'
kb run own.ini -o "$WORK/bad" --set guest.mine.domain=mine
check "a name and a file" 2 'the guest is booted from domain already'
kb run "$mini" -o "$WORK/bad" --set guest.linux.network=keep
check "network = keep without a domain" 2 'network is for a guest with domain or domain_xml'
kb run named.ini -o "$WORK/bad"
check "a domain that is not there" 4 'domain mine: this connection has no domain of that name' 'qemu:///system'
kb plan own.ini --xml kickfd
check "plan --xml" 2 'a run keeps them'
kb plan own.ini
check "plan" 0 'block 1'

# ---- faults ----

qemu-system-x86_64 -S -display none -nodefaults -machine accel=tcg -drive file=images/root.qcow2,if=virtio,format=qcow2 >/dev/null 2>&1 &
holder=$!
if [ "$(id -u)" = 0 ]; then
	held() { ! qemu-img info images/root.qcow2 >/dev/null 2>&1; }
	wait_for 60 held
	kb run own.ini -o "$WORK/used"
	check "an image that is in use" 4 'mine.xml: one of its images is in use: shut mine down first' 'lock'
else
	skip "an image that is in use" "its mode keeps this user from opening it"
fi
kill $holder && wait $holder 2>/dev/null
untouched "an image that is in use"

if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	mkdir -p "$XDG_STATE_HOME/kickbench/overlays"
	status=0
	unshare --mount --propagation private sh -c 'mount -t tmpfs -o size=64k none "$XDG_STATE_HOME/kickbench/overlays" &&
		exec timeout 400 "$KICKBENCH" run own.ini -o full' >"$out" 2>&1 </dev/null || status=$?
	check "no space for the overlay" 4 "overlays has 0 MiB free, and a guest's throw-away overlay may need 256 MiB"
	untouched "no space for the overlay"
else
	skip "no space for the overlay" "needs root for a small file system"
fi

start run own.ini -o "$WORK/killed" --set workload.runtime=5s
wait_for 300 emulator_runs
sleep 2
kill -9 $run
finish 2>/dev/null
[ -n "$(find "$XDG_STATE_HOME" -path '*/overlays/*' -type f)" ] && pass "what a kill leaves is there to be found" ||
	fail "what a kill leaves is there to be found" "no overlay"
chmod 644 mine.xml && cp -p mine.xml kept.xml && sed -i 's/192/208/' mine.xml
kb run --resume "$WORK/killed"
check "a definition that has changed since" 2 "mine.xml is no longer defined as it was when the run began (.*domains/mine.original.xml)"
cp -p kept.xml mine.xml && chmod 444 mine.xml
kb run --resume "$WORK/killed"
check "a run that was killed goes on" 0 '4 of 4 counted'
untouched "a run that was killed"

# ---- a domain of the connection ----

root=$XDG_STATE_HOME/kickbench/lv
[ -d "$root" ] || root=$(ls -d /tmp/kickbench-"$(id -u)"-* 2>/dev/null | head -n 1)
embed="qemu:///embed?root=$root"
if virsh -q -c "$embed" define mine.xml >"$out" 2>&1; then
	defined=$(sha256sum "$root"/etc/qemu/mine.xml)
	kb run named.ini -o "$WORK/named"
	check "domain" 0 '4 of 4 counted' 'mine (domain mine), 2 vCPUs, 192 MiB'
	is "its definition is as it was" "$(sha256sum "$root"/etc/qemu/mine.xml)" "$defined"
	is "there is no other" "$(ls "$root"/etc/qemu | grep -c xml)" 1
	untouched "domain"
	kb run own.ini -o "$WORK/twice"
	check "a file whose name a domain of the connection has" 0 '4 of 4 counted'
	virsh -q -c "$embed" undefine mine >/dev/null 2>&1
else
	fail "domain" "it cannot be defined"
fi

# A daemon, where the original runs at first. Its own CPU: what TCG cannot have, no original that runs under TCG has.
if [ "$(id -u)" = 0 ] && command -v libvirtd >/dev/null && unshare --mount true 2>/dev/null; then
	chmod 644 mine.xml images/*
	sed /host-passthrough/d mine.xml >system.xml
	cat >steps.sh <<-'END'
	say() { echo "step $*"; }
	virsh -q define system.xml || exit 1
	virsh -q start mine --paused || exit 1 # let go, it would find no port for its agent and be off in a few seconds
	timeout 400 "$KICKBENCH" run named.ini --connect qemu:///system -o daemon-running 2>&1
	say "running $?"
	virsh -q destroy mine
	virsh -q dumpxml mine >before.xml
	before=$(sha256sum images/*)
	timeout 400 "$KICKBENCH" run named.ini --connect qemu:///system -o daemon 2>&1
	say "stopped $?"
	[ "$(sha256sum images/*)" = "$before" ] && virsh -q dumpxml mine | cmp - before.xml && say untouched
	say "list$(virsh -q list --all | tr -s ' ')"
	END
	"$here/daemon.sh" bash steps.sh >"$out" 2>&1 </dev/null
	status=$?
	check "a domain of a daemon" 0 'step running 4' 'it is running, and no copy can read images that it writes to: shut mine down first' \
		'step stopped 0' '4 of 4 counted' 'step untouched' 'step list - mine shut off'
	left=$(find "$WORK" -path '*/overlays/*' -type f)
	[ -z "$left" ] && pass "a domain of a daemon: nothing left" || fail "a domain of a daemon: nothing left" "$left"
else
	skip "a domain of a daemon" "needs root and libvirtd"
fi
finish_suite
