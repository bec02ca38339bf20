/* The probe: a guest without an operating system that measures what one notification of a virtqueue costs. */
#include "images/probe/agent.h"
#include "images/probe/clock.h"
#include "images/probe/console.h"
#include "images/probe/machine.h"
#include "images/probe/start_x86.h"

void probe_main(uint32_t magic, const struct multiboot *info);

void probe_main(uint32_t magic, const struct multiboot *info)
{
	static struct virtio devices[VIRTIO_DEVICES];
	static struct link link;
	struct error e = {0};
	unsigned n, port;

	serial_open(0);
	port = serial_open(1) ? 1 : 0;
	machine_init();
	if (start_take(magic, info) < 0) {
		console("the boot loader is no Multiboot one, or does not tell the size of the memory\n");
		machine_off();
	}
	if (clock_calibrate(&e) < 0) {
		console("%s\n", e.text);
		machine_off();
	}
	n = virtio_find(devices, &e);
	if (e.status)
		console("%s\n", e.text);
	if (n == 0)
		console("there is no virtio block device\n");
	link_open(&link, port);
	agent_serve(&link, devices, n);
	machine_off();
}
