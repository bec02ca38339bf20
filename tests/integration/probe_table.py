"""What the probe measures, as tables. Every variant is booted BOOTS times, in turn, and the middle boot is shown: figures
of a look, not of an experiment (that is kickbench's)."""
import statistics
import sys

from probe import DISK, IOTHREAD, MMIO_DISK, NULL, kvm_opens, median
from probe_guest import Guest

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
DEPTHS = (1, 8, 64)
BOOTS = 3


def variants(accel, image):
    slow = NULL + ",latency-ns=500000"
    on = DISK + ",ioeventfd=on"
    all_of_them = {
        "ioeventfd=off": dict(device=DISK + ",ioeventfd=off", block=NULL),
        "ioeventfd=on": dict(device=on, block=NULL),
        "on, iothread, no polling": dict(device=on + ",iothread=t", block=NULL, extra=IOTHREAD),
        "on, iothread, polling": dict(device=on + ",iothread=t", block=NULL, extra=["-object", "iothread,id=t"]),
        "off, event_idx=off": dict(device=DISK + ",ioeventfd=off,event_idx=off", block=NULL),
        "on, event_idx=off": dict(device=on + ",event_idx=off", block=NULL),
        "on, packed": dict(device=on + ",packed=on", block=NULL),
        "off, notify by port": dict(device=DISK + ",ioeventfd=off,modern-pio-notify=on", block=NULL),
        "off, legacy": dict(device=DISK + ",ioeventfd=off,disable-modern=on,queue-size=512", block=NULL),
        "on, legacy": dict(device=on + ",disable-modern=on,queue-size=512", block=NULL),
        "microvm": dict(machine="microvm", device=MMIO_DISK, block=NULL,
                        extra=["-global", "virtio-mmio.force-legacy=false"]),
        "off, file": dict(device=DISK + ",ioeventfd=off", block="driver=file,node-name=d,filename=" + image),
        "on, file": dict(device=on, block="driver=file,node-name=d,filename=" + image),
        "on, iothread, 500 us": dict(device=on + ",iothread=t", block=slow, extra=IOTHREAD),
        "on, iothread, 1000 us": dict(device=on + ",iothread=t", block=slow.replace("500000", "1000000"), extra=IOTHREAD),
    }
    if accel == "kvm":
        return {k: v for k, v in all_of_them.items() if k in ("ioeventfd=off", "ioeventfd=on", "on, iothread, no polling")}
    return all_of_them


def measure(elf, accel, how, count):
    g = Guest(elf, accel=accel, **how)
    r = {}
    n = "count=%d" % count
    try:
        g.hello(30)
        r["hello s"] = g.hello_s
        health = g.job(["mode=health", n], timeout=60)
        r["loop"] = median(health["loop"]) / health["loop_turns"]
        r["port"] = median(health["port_write"])
        r["stamp"] = health["stamp_ns"]
        r["kick 0"] = median(g.job(["mode=kick", "requests=0", n], timeout=60)["kick"])
        for b in BATCHES:
            j = g.job(["mode=kick", "requests=%d" % b, n], timeout=60)
            r["kick %d" % b] = median(j["kick"])
            r["done %d" % b] = median(j["done_poll"])
            r["each %d" % b] = median(j["done_poll"]) / b
        for b in (1, 16):
            r["irq %d" % b] = median(g.job(["mode=done-irq", "requests=%d" % b, n], timeout=60)["done_irq"])
        for d in DEPTHS:
            j = g.job(["mode=events", "depth=%d" % d, n if d < 8 else "count=%d" % (4 * count)], timeout=60)
            r["kicks %d" % d], r["irqs %d" % d] = j["kicks_per_request"], j["interrupts_per_request"]
            r["req %d" % d] = j["request_ns"]
        for b in (1, 16):
            j = g.job(["mode=cpu", "requests=%d" % b, n], timeout=60)
            r["cpu %d" % b], r["cpum %d" % b] = j["cpu_left"], j["cpu_left_median"]
        r["end s"] = g.bye(30)
    finally:
        g.kill()
    return r


def table(title, heads, keys, rows, scale, form):
    print("\n%s" % title)
    width = max(len(name) for name in rows)
    print("  %-*s" % (width, "") + "".join("%9s" % h for h in heads))
    for name, r in rows.items():
        print("  %-*s" % (width, name) + "".join("%9s" % (form % (r[k] / scale)) for k in keys))


def main(elf, image, accels="tcg,kvm", count="500"):
    for accel in accels.split(","):
        if accel == "kvm" and not kvm_opens():
            print("\nkvm: /dev/kvm does not open")
            continue
        every = {name: [] for name in variants(accel, image)}
        for _ in range(BOOTS):
            for name, how in variants(accel, image).items():
                every[name].append(measure(elf, accel, how, int(count) if accel == "tcg" else 60))
        rows = {name: {k: statistics.median(r[k] for r in boots) for k in boots[0]} for name, boots in every.items()}
        print("\n==== %s, medians of %s kicks, the middle one of %d boots" % (accel, count if accel == "tcg" else 60, BOOTS))
        table("kick: the vCPU is away, us, with so many requests", ["empty"] + list(BATCHES),
              ["kick 0"] + ["kick %d" % b for b in BATCHES], rows, 1000, "%.2f")
        table("done (poll), us, by requests per kick; then done (interrupt) with 1 and 16", list(BATCHES) + ["irq 1", "irq 16"],
              ["done %d" % b for b in BATCHES] + ["irq 1", "irq 16"], rows, 1000, "%.1f")
        table("per request, us, by requests per kick", BATCHES, ["each %d" % b for b in BATCHES], rows, 1000, "%.2f")
        table("kicks and interrupts per request at depth 1, 8, 64",
              ["kicks 1", "8", "64", "irqs 1", "8", "64"],
              ["%s %d" % (k, d) for k in ("kicks", "irqs") for d in DEPTHS], rows, 1, "%.3f")
        table("us per request at depth 1, 8, 64",
              ["us 1", "8", "64"], ["req %d" % d for d in DEPTHS], rows, 1000, "%.1f")
        table("CPU left with 1 and 16 requests out: share of the time, then median of kicks", ["1", "16", "med 1", "med 16"],
              ["cpu 1", "cpu 16", "cpum 1", "cpum 16"], rows, 1, "%.3f")
        table("health: ns of a loop's turn, a port write, a time stamp; s from start to hello and to the end",
              ["turn", "port", "stamp", "hello", "end"], ["loop", "port", "stamp", "hello s", "end s"], rows, 1, "%.2f")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
