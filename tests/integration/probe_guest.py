"""The probe in a plain QEMU, and the host's end of its frames: an implementation of its own, so that a mistake in the
one of the programs shows itself."""
import json
import os
import select
import subprocess
import time
import zlib

MARKER = b"@kb1 "


class Refused(Exception):
    """The probe sent an error frame."""


class Guest:
    def __init__(self, elf, machine="pc", device="", block="", accel="tcg", extra=(), log=None, memory="64M"):
        self.log = log
        self.sent = self.received = 0
        self.buffer = b""
        self.frames, self.noise = [], b""
        self.started = time.monotonic()
        command = ["qemu-system-x86_64", "-M", machine, "-accel", accel, "-m", memory, "-nodefaults", "-display", "none",
                   "-no-reboot", "-kernel", elf]
        if machine.startswith("microvm"):
            command += ["-serial", "stdio"]  # it has one port: frames and console share it
        else:
            command += ["-serial", "file:" + log if log else "null", "-chardev", "stdio,id=link,signal=off",
                        "-serial", "chardev:link"]
        for node in block.split(";") if block else []:
            command += ["-blockdev", node]
        for d in device.split(";") if device else []:
            command += ["-device", d]
        self.process = subprocess.Popen(command + list(extra), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(self, kind, body, number=None):
        payload = json.dumps(body).encode()
        if number is None:
            self.sent += 1
            number = self.sent
        head = b"%d %s %d " % (number, kind.encode(), len(payload))
        crc = zlib.crc32(payload, zlib.crc32(head))
        self.raw(MARKER + head + b"%08x " % crc + payload + b"\n")

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _take(self, line):
        at = line.find(MARKER)
        if at < 0:
            self.noise += line + b"\n"
            return
        number, kind, length, crc, payload = line[at + len(MARKER):].split(b" ", 4)
        head = b"%s %s %s " % (number, kind, length)
        assert len(payload) == int(length) and int(crc, 16) == zlib.crc32(payload, zlib.crc32(head)), line[:80]
        self.frames.append((int(number), kind.decode(), json.loads(payload), time.monotonic()))

    def receive(self, timeout=20.0):
        """The next frame: (number, type, body, when)."""
        end = time.monotonic() + timeout
        while not self.frames:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError("the probe said nothing for %g s; console: %r" % (timeout, self.console()))
            if not select.select([self.process.stdout], [], [], left)[0]:
                continue
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise EOFError("the emulator ended; console: %r" % self.console())
            self.buffer += data
            *lines, self.buffer = self.buffer.split(b"\n")
            for line in lines:
                self._take(line)
        return self.frames.pop(0)

    def hello(self, timeout=20.0):
        number, kind, body, when = self.receive(timeout)
        assert kind == "hello", (kind, body)
        self.hello_s = when - self.started
        return body

    def job(self, argv, disk="virtio0", timeout=30.0):
        """Run one; its result's "probe", with what else was seen under "seen"."""
        self.send("job", {"id": "1", "disk": disk, "argv": ["--" + a for a in argv]})
        seen = []
        while True:
            _, kind, body, when = self.receive(timeout)
            seen.append((kind, body, when))
            if kind == "error":
                raise Refused(body["message"])
            if kind == "result":
                assert body["id"] == "1" and body["status"] == 0
                body["probe"]["seen"] = seen
                return body["probe"]

    def console(self):
        if self.log and os.path.exists(self.log):
            with open(self.log, "rb") as f:
                return f.read().decode(errors="replace")
        return self.noise.decode(errors="replace")

    def bye(self, timeout=10.0):
        """Until the emulator has ended; the seconds since its start."""
        self.send("bye", {})
        self.process.stdin.close()
        status = self.process.wait(timeout)
        assert status == 0, "the emulator ended with status %d" % status
        self.process.stdout.close()
        return time.monotonic() - self.started

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if not pipe.closed:
                pipe.close()
