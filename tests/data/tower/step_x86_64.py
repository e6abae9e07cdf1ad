#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a perf.data of an x86-64 program whose true call stacks are known, on any machine.

Steps the program through the gdb stub of qemu-x86_64, one instruction at a time, and keeps a shadow
stack of what the calls really pushed. Every so many steps a sample is written as the kernel would:
user registers and a copy of the stack; before it, as a TEXT_POKE record, the pages of code in no file
that its stack goes through, where they are new. The truth goes to a text file, one line a sample: run-time
addresses, innermost first.

usage: step_x86_64.py PROGRAM RECORDED_PATH OUT.data TRUTH.txt [SAMPLES [MEAN_INTERVAL]] -- ARGS...
"""
import random
import socket
import struct
import subprocess
import sys
import time

STACK = 1024
INTERVAL_NS = 1000000  # what each sample claims to stand for
# Order of the stub's registers, and the kernel's order of those it samples.
STUB = "ax bx cx dx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15 ip".split()
KERNEL = "ax bx cx dx si di bp sp ip flags cs ss r8 r9 r10 r11 r12 r13 r14 r15".split()


class Stub:
    def __init__(self, port):
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b""
        self.ask("?")
        self.ask("Hg0")

    def read(self):
        while True:
            start = self.left.find(b"$")
            end = self.left.find(b"#", start)
            if start >= 0 and end >= 0 and len(self.left) >= end + 3:
                packet, self.left = self.left[start + 1:end], self.left[end + 3:]
                return packet.decode()
            more = self.socket.recv(65536)
            if not more:
                return "W00"
            self.left += more

    def ask(self, text):
        self.socket.sendall(b"+$%s#%02x" % (text.encode(), sum(text.encode()) & 255))
        return self.read()

    def registers(self):
        values = struct.unpack("<17Q", bytes.fromhex(self.ask("g")[:17 * 16]))
        regs = dict(zip(STUB, values))
        regs.update(flags=0x202, cs=0x33, ss=0x2b)
        return regs

    def memory(self, at, size):
        """In pieces that fit into a packet."""
        data = b""
        while len(data) < size:
            answer = self.ask("m%x,%x" % (at + len(data), min(1024, size - len(data))))
            if not answer or answer.startswith("E"):
                break
            data += bytes.fromhex(answer)
        return data


class Recording:
    def __init__(self, pid):
        self.data, self.now, self.pid, self.pages = b"", 1000000000, pid, {}

    def add(self, kind, misc, body):
        self.data += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def who(self):
        return struct.pack("<IIQ", self.pid, self.pid, self.now)

    def comm(self, name):
        self.add(3, 1 << 13, struct.pack("<II16s", self.pid, self.pid, name.encode()) + self.who())

    def mapping(self, start, size, offset, path):
        text = path.encode() + b"\0" * (8 - len(path) % 8)
        self.add(10, 2, struct.pack("<IIQQQIIQQII", self.pid, self.pid, start, size, offset, 8, 1, 0, 0, 5, 2) +
                 text + self.who())

    def code(self, addr, code):
        """Pages of code in no file: mapped when they are met first, told again when they have changed."""
        if addr not in self.pages:
            self.mapping(addr, len(code), 0, "//anon")
        if self.pages.get(addr) != code:
            body = struct.pack("<QHH", addr, 0, len(code)) + code
            self.add(20, 2, body + bytes(-len(body) % 8) + self.who())
        self.pages[addr] = code

    def sample(self, regs, stack):
        self.now += INTERVAL_NS
        self.add(9, 2, struct.pack("<QIIQQQQ", regs["ip"], self.pid, self.pid, self.now, INTERVAL_NS, 0, 2) +
                 struct.pack("<20Q", *(regs[name] for name in KERNEL)) +
                 struct.pack("<Q", STACK) + stack.ljust(STACK, b"\0") + struct.pack("<Q", len(stack)))

    def write(self, path):
        # IP TID TIME CALLCHAIN PERIOD REGS_USER STACK_USER; the flags are those of steps like the kernel's
        kind = 1 | 2 | 4 | 0x20 | 0x100 | 0x1000 | 0x2000
        bits = 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 17 | 1 << 18 | 1 << 22 | 1 << 23 | 1 << 24
        attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, kind, 0, bits).ljust(80, b"\0")
        attr = (attr + struct.pack("<QI", 0xff0fff, STACK)).ljust(128, b"\0") + bytes(16)
        header = struct.pack("<8s8Q", b"PERFILE2", 104, 144, 104, 144, 248, len(self.data), 0, 0) + bytes(32)
        with open(path, "wb") as out:
            out.write(header + attr + self.data)


def code_segments(program):
    elf = open(program, "rb").read()
    offset, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    for i in range(count):
        kind, flags, at, vaddr, _, file_size, _, _ = struct.unpack_from("<IIQQQQQQ", elf, offset + i * size)
        if kind == 1 and flags & 1:
            start = vaddr & ~0xfff
            yield start, (vaddr + file_size + 0xfff & ~0xfff) - start, at & ~0xfff


def main():
    split = sys.argv.index("--")
    program, recorded, out, truth_path, *numbers = sys.argv[1:split]
    samples, interval = (list(map(int, numbers)) + [40, 1500][len(numbers):])[:2]
    port = 20000 + random.randrange(20000)
    child = subprocess.Popen(["qemu-x86_64", "-g", str(port), program] + sys.argv[split + 1:])
    stub, recording, random_steps = Stub(port), Recording(4711), random.Random(1)
    recording.comm(recorded.rsplit("/", 1)[-1])
    segments = list(code_segments(program))
    for start, size, offset in segments:
        recording.mapping(start, size, offset, recorded)

    shadow, before, taken, wait = [], stub.registers(), 0, 10
    with open(truth_path, "w") as truth:
        while taken < samples:
            if not stub.ask("s").startswith("T"):
                break
            regs = stub.registers()
            while shadow and shadow[-1][0] < regs["sp"]:
                shadow.pop()
            if regs["sp"] == before["sp"] - 8:
                pushed, = struct.unpack("<Q", stub.memory(regs["sp"], 8))
                if 0 < pushed - before["ip"] <= 15 and regs["ip"] != pushed:
                    shadow.append((regs["sp"], pushed))
            wait -= 1
            if wait <= 0:
                wait = 1 + random_steps.randrange(2 * interval)
                pcs = [regs["ip"]] + [ra for _, ra in reversed(shadow)]
                for page in sorted({pc & ~0xfff for pc in pcs}):
                    if not any(start <= page < start + size for start, size, _ in segments):
                        recording.code(page, stub.memory(page, 4096))
                recording.sample(regs, stub.memory(regs["sp"], STACK))
                truth.write(" ".join("%x" % pc for pc in pcs) + "\n")
                taken += 1
            before = regs
    child.kill()
    child.wait()
    recording.write(out)


main()
