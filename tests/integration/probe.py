"""probe.py ELF…: the probe in plain QEMUs, the first of several with all tests. Prints a line per test and "N passed, N
failed, N skipped"."""
import json
import os
import socket
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe_guest import Guest, Refused  # noqa: E402

NULL = "driver=null-co,node-name=d,size=67108864,read-zeroes=on"
DISK = "virtio-blk-pci,drive=d,serial=kb-disk0"
MMIO_DISK = "virtio-blk-device,drive=d,serial=kb-disk0"
IOTHREAD = ["-object", "iothread,id=t,poll-max-ns=0"]
MODES = (["mode=kick"], ["mode=kick", "requests=0"], ["mode=kick", "requests=16"], ["mode=done-irq"],
         ["mode=done-irq", "requests=4"], ["mode=events", "depth=8"], ["mode=cpu"], ["mode=health"])

# name: how QEMU is started, and what the probe must find
VARIANTS = {
    "modern on pc": (dict(device=DISK, block=NULL), ("modern PCI", "split", "mmio", "msix", "EVENT_IDX VERSION_1")),
    "modern on q35": (dict(machine="q35", device=DISK, block=NULL),
                      ("modern PCI", "split", "mmio", "msix", "EVENT_IDX VERSION_1")),
    "behind a bridge": (dict(machine="q35", device="pcie-root-port,id=r,slot=1;" + DISK + ",bus=r,addr=0", block=NULL),
                        ("modern PCI", "split", "mmio", "msix", "EVENT_IDX VERSION_1")),
    "not transitional": (dict(device=DISK + ",disable-legacy=on", block=NULL),
                         ("modern PCI", "split", "mmio", "msix", "EVENT_IDX VERSION_1")),
    "legacy": (dict(device=DISK + ",disable-modern=on", block=NULL), ("legacy PCI", "split", "pio", "msix", "EVENT_IDX")),
    "legacy, line interrupt": (dict(device=DISK + ",disable-modern=on,vectors=0", block=NULL),
                               ("legacy PCI", "split", "pio", "intx", "EVENT_IDX")),
    "line interrupt on pc": (dict(device=DISK + ",vectors=0", block=NULL),
                             ("modern PCI", "split", "mmio", "intx", "EVENT_IDX VERSION_1")),
    "line interrupt on q35": (dict(machine="q35", device=DISK + ",vectors=0", block=NULL),
                              ("modern PCI", "split", "mmio", "intx", "EVENT_IDX VERSION_1")),
    "notify through a port": (dict(device=DISK + ",modern-pio-notify=on", block=NULL),
                              ("modern PCI", "split", "pio", "msix", "EVENT_IDX VERSION_1")),
    "packed": (dict(device=DISK + ",packed=on", block=NULL),
               ("modern PCI", "packed", "mmio", "msix", "EVENT_IDX VERSION_1 RING_PACKED")),
    "packed, event_idx=off": (dict(device=DISK + ",packed=on,event_idx=off", block=NULL),
                              ("modern PCI", "packed", "mmio", "msix", "VERSION_1 RING_PACKED")),
    "event_idx=off": (dict(device=DISK + ",event_idx=off", block=NULL), ("modern PCI", "split", "mmio", "msix", "VERSION_1")),
    "ioeventfd=off": (dict(device=DISK + ",ioeventfd=off", block=NULL),
                      ("modern PCI", "split", "mmio", "msix", "EVENT_IDX VERSION_1")),
    "iothread": (dict(device=DISK + ",iothread=t", block=NULL, extra=["-object", "iothread,id=t"]),
                 ("modern PCI", "split", "mmio", "msix", "EVENT_IDX VERSION_1")),
    "microvm": (dict(machine="microvm", device=MMIO_DISK, block=NULL), ("MMIO", "split", "mmio", "intx", "EVENT_IDX")),
    "microvm, modern": (dict(machine="microvm", device=MMIO_DISK, block=NULL,
                             extra=["-global", "virtio-mmio.force-legacy=false"]),
                        ("MMIO", "split", "mmio", "intx", "EVENT_IDX VERSION_1")),
    "microvm without ACPI": (dict(machine="microvm,acpi=off", device=MMIO_DISK, block=NULL),
                             ("MMIO", "split", "mmio", "intx", "EVENT_IDX")),
    "microvm, one IOAPIC": (dict(machine="microvm,ioapic2=off", device=MMIO_DISK, block=NULL),
                            ("MMIO", "split", "mmio", "intx", "EVENT_IDX")),
    "a queue of two": (dict(device=DISK + ",queue-size=4", block=NULL),
                       ("modern PCI", "split", "mmio", "msix", "EVENT_IDX VERSION_1")),
}


def median(distribution):
    """By the bins alone."""
    wanted, seen = distribution["N"] / 2, 0
    for value, count in sorted((int(v), c) for v, c in distribution["bins"].items()):
        seen += count
        if seen >= wanted:
            return value


ONLY = os.environ.get("ONLY")  # a part of a test's name


class Tests:
    def __init__(self, elf, folder):
        self.elf, self.folder = elf, folder
        self.passed = self.failed = self.skipped = 0

    def guest(self, **how):
        return Guest(self.elf, log=os.path.join(self.folder, "console"), **how)

    def run(self, name, test):
        if ONLY and ONLY not in name:
            return
        start = time.monotonic()
        try:
            test()
            self.passed += 1
            print("pass  %s (%.1f s)" % (name, time.monotonic() - start), flush=True)
        except Exception:
            self.failed += 1
            print("FAIL  %s\n      | %s" % (name, traceback.format_exc().strip().replace("\n", "\n      | ")), flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print("skip  %s: %s" % (name, why))


def check_distribution(d, n):
    assert d["N"] == n == sum(d["bins"].values()), (d["N"], n)
    values = sorted(int(v) for v in d["bins"])
    assert d["min"] <= d["mean"] <= d["max"], d
    # A bin stands for values up to 1/128 beside it.
    assert abs(values[0] - d["min"]) <= d["min"] / 64 + 1 and abs(values[-1] - d["max"]) <= d["max"] / 64 + 1, d
    mean = sum(int(v) * c for v, c in d["bins"].items()) / n
    assert abs(mean - d["mean"]) <= d["mean"] / 64 + 1, (mean, d["mean"])


def variant(t, how, found, limit=3.0):
    g = t.guest(**how)
    try:
        hello = g.hello()
        assert hello["protocol"] == 1 and hello["os"] == "probe", hello
        assert [d["serial"] for d in hello["disks"]] == ["kb-disk0"] and hello["disks"][0]["bytes"] == 67108864, hello
        assert 0 < hello["uptime_ns"] < g.hello_s * 1e9, hello
        for mode in MODES:
            if "requests" in mode[-1] and "queue-size" in how.get("device", ""):
                continue
            argv = mode + ["count=200"] if mode[-1] != "depth=8" or "queue-size" not in how["device"] else \
                ["mode=events", "depth=2", "count=200"]
            r = g.job(argv)
            kinds = [kind for kind, _, _ in r["seen"] if kind != "status"]
            assert kinds == ["begin", "end", "result"], kinds
            for key in ("kick", "done_poll", "per_request", "done_irq", "loop", "port_write"):
                if key in r:
                    check_distribution(r[key], 200)
            if r["mode"] == "events":
                assert 0 < r["kicks_per_request"] <= 1 and 0 < r["interrupts_per_request"] <= 1.5, r
                assert r["completed"] == 200
            if r["mode"] != "health":
                have = (r["transport"], r["ring"], r["notify"], r["irq"], " ".join(r["features"]))
                assert have == found, have
        g.bye()
        if not how.get("machine", "pc").startswith("microvm"):
            assert g.console() == "", g.console()
    finally:
        g.kill()


def refused(g, argv, words, disk="virtio0"):
    try:
        g.job(argv, disk=disk)
    except Refused as e:
        assert words in str(e), "%r does not say %r" % (str(e), words)
        return
    raise AssertionError("%s was not refused" % argv)


def options(t):
    g = t.guest(device=DISK, block=NULL)
    try:
        g.hello()
        refused(g, ["rw=read"], "--rw=read: the probe has no such option")
        refused(g, ["mode=batch"], "--mode=batch: there is kick, done-irq, events, cpu, health")
        refused(g, ["bs=1000"], "a multiple of 512")
        refused(g, ["bs=128k"], "from 512 to 65536")
        refused(g, ["count=0"], "from 1 to")
        refused(g, ["count=1e3"], "not a whole number")
        refused(g, ["requests="], "not a whole number")
        refused(g, ["mode=cpu", "requests=0"], "only mode=kick")
        refused(g, ["requests=129"], "the queue's 256 entries hold 128 requests")
        refused(g, ["mode=events", "depth=129"], "hold 128 requests")
        refused(g, ["filename=/dev/vda"], "the job's disk is virtio0")
        refused(g, ["mode=kick"], "there is no disk virtio1", disk="virtio1")
        for bs in ("512", "4k", "64k"):
            for op in ("read", "write", "flush"):
                g.job(["name=x", "filename=virtio0", "op=" + op, "bs=" + bs, "requests=128", "count=20"])
        g.bye()
    finally:
        g.kill()


def no_disk(t):
    g = t.guest()
    try:
        assert g.hello()["disks"] == []
        refused(g, ["mode=kick"], "there is no virtio block device")
        assert g.job(["mode=health", "count=50"])["loop"]["N"] == 50
        g.bye()
        assert "there is no virtio block device" in g.console(), g.console()
    finally:
        g.kill()


def two_disks(t):
    second = "driver=null-co,node-name=e,size=1048576"
    g = t.guest(device=DISK + ";virtio-blk-pci,drive=e,serial=kb-disk1,packed=on", block=NULL + ";" + second)
    try:
        assert [(d["path"], d["serial"], d["bytes"]) for d in g.hello()["disks"]] == [
            ("virtio0", "kb-disk0", 67108864), ("virtio1", "kb-disk1", 1048576)]
        for disk, ring in (("virtio0", "split"), ("virtio1", "packed"), ("virtio0", "split")):
            assert g.job(["mode=done-irq", "count=100"], disk=disk)["ring"] == ring
        g.bye()
    finally:
        g.kill()


def protocol(t):
    """Damage, gaps and repetitions in both directions; the hello comes again until the host has answered."""
    g = t.guest(device=DISK, block=NULL)
    try:
        first = g.hello()
        number, kind, again, _ = g.receive(3)
        assert (number, kind, again) == (1, "hello", first)
        g.raw(b"noise\n@kb1 1 job 20 00000000 {}\n")
        number, kind, body, _ = g.receive(3)
        assert (kind, body) == ("again", {"seq": 1}), (kind, body)
        g.send("job", {"id": "late", "argv": []}, number=3)
        number, kind, body, _ = g.receive(3)
        assert (kind, body) == ("again", {"seq": 1}), (kind, body)
        r = g.job(["count=10"])
        result = number + [k for k, _, _ in r["seen"]].index("result") + 1
        g.send("again", {"seq": result}, number=0)
        got, kind, body, _ = g.receive(3)
        assert (got, kind, body["id"]) == (result, "result", "1"), (got, kind)
        g.send("job", {"argv": ["--mode=\"", "--" + "x" * 5000]})
        _, kind, body, _ = g.receive(3)
        assert kind == "error" and "no such option" not in body["message"][:2], body
        g.job(["count=10"])
        g.bye()
    finally:
        g.kill()


def faults(t):
    failing = "driver=blkdebug,node-name=d,image.driver=null-co,image.size=67108864,image.read-zeroes=on," \
        "inject-error.0.event=none,inject-error.0.iotype=read,inject-error.0.errno=5"
    g = t.guest(device=DISK, block=failing)
    try:
        g.hello()
        refused(g, ["mode=kick"], "the disk failed a read at sector ")
        g.job(["op=write", "count=10"])
        g.bye()
    finally:
        g.kill()
    g = t.guest(device=DISK, block=NULL + ",read-only=on")
    try:
        g.hello()
        refused(g, ["op=write"], "the disk is read only")
        g.job(["count=10"])
        g.bye()
    finally:
        g.kill()
    small = "driver=null-co,node-name=d,size=512"
    g = t.guest(device=DISK, block=small, memory="16M")
    try:
        g.hello()
        refused(g, ["bs=4k"], "the disk has only 512 bytes")
        g.job(["bs=512", "count=10"])
        g.bye()
    finally:
        g.kill()


def memory(t):
    g = t.guest(device=DISK + ",queue-size=1024", block=NULL, memory="16M")
    try:
        g.hello()
        refused(g, ["bs=64k"], "the guest has ")
        g.job(["bs=512", "requests=512", "count=10"])
        g.bye()
    finally:
        g.kill()


def silent(t):
    """A device that never answers: told after five seconds, and the next job runs."""
    path = os.path.join(t.folder, "qmp")
    g = t.guest(device=DISK + ",id=disk0,iothread=t", block=NULL,
                extra=IOTHREAD + ["-qmp", "unix:%s,server=on,wait=off" % path])
    try:
        g.hello()
        g.job(["count=10"])
        with socket.socket(socket.AF_UNIX) as qmp:
            qmp.connect(path)
            words = qmp.makefile("rw")
            for command in ({"execute": "qmp_capabilities"},
                            {"execute": "block_set_io_throttle", "arguments": {
                                "id": "/machine/peripheral/disk0/virtio-backend", "bps": 1, "bps_rd": 0, "bps_wr": 0,
                                "iops": 0, "iops_rd": 0, "iops_wr": 0}}):
                words.readline()
                words.write(json.dumps(command) + "\n")
                words.flush()
            assert "return" in words.readline()
        start = time.monotonic()
        refused(g, ["mode=kick", "requests=3"], "has not answered for 5000 ms: ")
        assert 4.5 < time.monotonic() - start < 30
        refused(g, ["mode=done-irq", "requests=3"], "has not answered for 5000 ms: ")
        g.job(["mode=health", "count=10"])
    finally:
        g.kill()


def nudge(g, number):
    """Answered when it is under way, and when it is back."""
    g.send("action", {"id": number, "action": "nudge", "disk": "virtio0"})
    seen = []
    while len(seen) < 2:
        _, kind, body, _ = g.receive(10)
        if kind == "action":
            seen.append(body)
    assert [(b["id"], b["error"], b.get("done")) for b in seen] == [(number, None, None), (number, None, True)], seen


def stands(g, fault, at, depth=1):
    """A job with a fault stands still there, for as long as one looks, and says so every second."""
    g.send("job", {"id": "1", "disk": "virtio0", "argv": ["--mode=events", "--count=300", "--depth=%d" % depth, "--" + fault]})
    _, kind, _, _ = g.receive()
    assert kind == "begin", kind
    for _ in range(3):
        _, kind, body, _ = g.receive(3)
        assert (kind, body["read_ios"]) == ("status", at), (kind, body)


def ends(g):
    """The probe of its result."""
    while True:
        _, kind, body, _ = g.receive(10)
        assert kind in ("status", "end", "result"), (kind, body)
        if kind == "result":
            return body["probe"]


LOSES = {
    "split": DISK, "split, event_idx=off": DISK + ",event_idx=off", "packed": DISK + ",packed=on",
    "packed, event_idx=off": DISK + ",packed=on,event_idx=off", "legacy, line interrupt": DISK + ",disable-modern=on,vectors=0",
}


def loses(t, device):
    """A kick that is left out, an interrupt that is ignored: nothing goes on before the nudge, all of it after."""
    g = t.guest(device=device, block=NULL)
    try:
        g.hello()
        stands(g, "omit-kick=100", 99)
        nudge(g, 7)
        r = ends(g)
        assert (r["completed"], r["kicks"], r["omit_kick"]) == (300, 300, 100), r
        stands(g, "ignore-interrupt=100", 99)
        g.send("action", {"id": 8, "action": "ping"})
        assert g.receive(3)[1:3] == ("action", {"id": 8, "action": "ping", "error": None})
        nudge(g, 9)
        r = ends(g)
        assert (r["completed"], r["ignore_interrupt"]) == (300, 100) and r["interrupts"] >= 300, r
        g.bye()
    finally:
        g.kill()


def loses_not(t):
    g = t.guest(device=DISK, block=NULL)
    try:
        g.hello()
        refused(g, ["mode=kick", "omit-kick=3"], "--omit-kick: only mode=events waits for interrupts")
        refused(g, ["ignore-interrupt=3"], "--ignore-interrupt: only mode=events waits for interrupts")
        refused(g, ["mode=events", "omit-kick=0"], "from 1 to")
        refused(g, ["mode=events", "count=10", "omit-kick=11"], "--omit-kick=11: there were only 10 kicks")
        refused(g, ["mode=events", "count=10", "ignore-interrupt=999"], "--ignore-interrupt=999: there were only ")
        for action, problem in (("nudge", "only a job that waits for interrupts"), ("unbind", "does not know the action unbind")):
            g.send("action", {"id": 5, "action": action, "disk": "virtio0"})
            _, kind, body, _ = g.receive(3)
            assert kind == "action" and body["id"] == 5 and problem in body["error"], body
        stands(g, "omit-kick=5", 4)
        g.bye()  # in the middle of it
    finally:
        g.kill()


def quick(t):
    took = []
    while not took or (min(took) >= 1 and len(took) < 5):
        g = t.guest(device=DISK + ",ioeventfd=off", block=NULL)
        try:
            g.hello()
            g.job(["requests=16", "count=500"])
            took.append(g.bye())
        finally:
            g.kill()
    assert min(took) < 1, "boot, 8000 requests and power-off took %.2f s at the least" % min(took)


def latency(t):
    """null-co's latency shows in done and not in kick; long jobs give signs of life; the guest's clock is the host's."""
    for again in (True, True, False):
        try:
            return latency_once(t)
        except AssertionError as why:  # a host that is busy with something else
            if not again:
                raise
            print("      once more: %s" % why)


def latency_once(t):
    seen = {}
    for us in (500, 1000):
        g = t.guest(device=DISK + ",iothread=t", block=NULL + ",latency-ns=%d" % (us * 1000), extra=IOTHREAD)
        try:
            g.hello()
            seen[us] = g.job(["mode=kick", "count=2500" if us == 1000 else "count=1000"])
            g.bye()
        finally:
            g.kill()
    # The smallest: a host that is busy with something else only adds (a median of this was seen 28 us off), and it is exact,
    # while a bin is 16 us wide here.
    more = seen[1000]["done_poll"]["min"] - seen[500]["done_poll"]["min"]
    assert abs(more - 500000) <= 25000, "500 us of latency are %d ns of done" % more
    print("      500 us of latency are %.1f us of done at the least, %.1f us by the medians" % (
        more / 1e3, (median(seen[1000]["done_poll"]) - median(seen[500]["done_poll"])) / 1e3))
    assert median(seen[1000]["kick"]) < 250000, median(seen[1000]["kick"])
    frames = seen[1000]["seen"]
    words = [when for _, _, when in frames]
    assert max(b - a for a, b in zip(words, words[1:])) < 1.6, words
    status = [body for kind, body, _ in frames if kind == "status"]
    assert len(status) >= 2 and status[-1]["read_ios"] > status[0]["read_ios"] > 0, status
    (begin, host_begin), (end, host_end) = [(body["clock_ns"] / 1e9, when) for kind, body, when in frames
                                           if kind in ("begin", "end")]
    assert abs((end - begin) - (host_end - host_begin)) < 0.02, (end - begin, host_end - host_begin)


def kvm(t):
    for switch in ("off", "on"):
        g = t.guest(accel="kvm", device=DISK + ",ioeventfd=" + switch, block=NULL)
        try:
            g.hello(30)
            for mode in MODES:
                g.job(mode + ["count=20"], timeout=60)
            g.bye(30)
        finally:
            g.kill()


def kvm_opens():
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR))
        return True
    except OSError:
        return False


def all_tests(elf, folder, first):
    t = Tests(elf, folder)
    for name, (how, found) in VARIANTS.items():
        t.run(name, lambda: variant(t, how, found))
    for name, device in list(LOSES.items())[:None if first else 1]:
        t.run("loses, " + name, lambda: loses(t, device))
    tests = [quick] if not first else [quick, options, no_disk, two_disks, protocol, faults, memory, silent, latency, loses_not]
    for test in tests:
        t.run(test.__name__, lambda: test(t))
    if not first:
        pass
    elif kvm_opens():
        t.run("kvm", lambda: kvm(t))
    else:
        t.skip("kvm", "/dev/kvm does not open")
    return t


def main(argv):
    total = [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for i, elf in enumerate(argv):
            print("   %s" % os.path.basename(elf))
            t = all_tests(elf, folder, i == 0)
            total = [total[0] + t.passed, total[1] + t.failed, total[2] + t.skipped]
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
