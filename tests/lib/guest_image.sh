# For bash, sourced by tests that start a guest of their own: our image's kernel and modules with busybox as init,
# and whatever programs a test adds. From the project's folder:
#
#	guest_begin KICKIO WORK       makes the image beside KICKIO; WORK is the test's folder
#	guest_program PATH            adds a program as /bin/NAME, with its libraries
#	guest_boot SECONDS ARGUMENT…  boots it with the arguments, QEMU's for the disks; in it the shell commands of the
#	                              standard input run, and WORK/out holds then what they have written
#
# The commands run when as many virtio disks are there as guest_disks says.
guest_disks=1

guest_begin() {
	local module
	guest_image=$(dirname "$1")/images/linux
	guest_kernel=$guest_image/kernel
	guest_work=$2 guest_folders='' guest_files=''
	images/linux/build.sh "$guest_image" "$1" >/dev/null
	${CC:-cc} -O1 -o "$guest_work/mkinitramfs" images/linux/mkinitramfs.c
	guest_file "$(command -v busybox)" /bin/busybox 755
	for module in $(cat "$guest_kernel/order"); do guest_file "$guest_kernel/modules/$module" "/modules/$module" 644; done
	guest_file "$guest_kernel/order" /modules/order 644
	guest_file "$1" /bin/kickio 755
}

guest_file() { # SOURCE PATH MODE
	local folder
	folder=$(dirname "$2")
	while [ "$folder" != / ]; do
		guest_folders="$folder $guest_folders"
		folder=$(dirname "$folder")
	done
	guest_files="$guest_files
file $2 $3 $1"
}

guest_program() {
	local library
	guest_file "$1" "/bin/$(basename "$1")" 755
	for library in $(ldd "$1" | grep -o '/[^ ]*'); do guest_file "$(realpath "$library")" "$library" 755; done
}

guest_init() {
	cat <<END
#!/bin/busybox sh
exec >/dev/ttyS1 2>&1
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t tmpfs tmp /tmp
/bin/busybox mount -t devtmpfs dev /dev
while read -r module; do /bin/busybox insmod /modules/\$module; done </modules/order
until [ "\$(/bin/busybox ls /dev | /bin/busybox grep -c '^vd[a-z]*\$')" = $guest_disks ]; do /bin/busybox usleep 50000; done
exec >/dev/ttyS1 2>&1
END
	cat
	echo "/bin/busybox poweroff -f"
}

guest_boot() {
	local seconds=$1
	shift
	guest_init >"$guest_work/init"
	guest_file "$guest_work/init" /init 755
	{
		printf '%s\n' $guest_folders /proc /sys /dev /tmp | sort -u | sed 's/.*/dir & 755/'
		echo "node /dev/console 600 c 5 1"
		echo "node /dev/ttyS1 600 c 4 65"
		echo "$guest_files"
	} | sed '/^$/d' >"$guest_work/list"
	"$guest_work/mkinitramfs" <"$guest_work/list" >"$guest_work/initramfs"
	timeout "$seconds" qemu-system-x86_64 -accel tcg -m 512 -nodefaults -display none -no-reboot \
		-kernel "$guest_image/vmlinuz" -initrd "$guest_work/initramfs" \
		-append "console=ttyS0 quiet panic=-1 tsc=reliable rdinit=/init" \
		-serial "file:$guest_work/console" -serial "file:$guest_work/raw" "$@" || true
	tr -d '\r' <"$guest_work/raw" >"$guest_work/out"
}
