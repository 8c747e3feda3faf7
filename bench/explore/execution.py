# SPDX-License-Identifier: Apache-2.0
"""Controlled executions without the host: request and record as src/trail/execution.h lays them out."""
import mmap
import os
import pathlib
import re
import struct
import subprocess
import tempfile

EXCHANGE = (pathlib.Path(__file__).resolve().parents[2] / "src/trail/execution.h").read_text()
MAGIC, VERSION, BYTES = 0x53525544, int(re.search(r"kVersion = (\d+);", EXCHANGE)[1]), 64 << 20
REQUEST = struct.Struct("<IIQIIQQIIII6IIIQ12xI")
if f"sizeof(Request) == {REQUEST.size})" not in EXCHANGE:
    raise SystemExit("execution.py speaks another exchange than src/trail/execution.h")
REPLAY, RANDOM, PCT, POS, RACEFUZZER, ROUND_ROBIN = range(6)
FIBER, THREAD = 0, 1


def request(seed=1, strategy=RANDOM, backend=FIBER, points=0, depth=3, length=0):
    return REQUEST.pack(MAGIC, VERSION, seed, strategy, depth, length, 0, points, backend, 0, 0, *([0] * 10))


class Files:
    """The two files, mapped."""

    def __init__(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(dir=memory)
        self.path = pathlib.Path(self.folder.name)
        for name in ("request", "record"):
            with open(self.path / name, "wb") as file:
                file.truncate(BYTES)
        self.maps = {name: mmap.mmap(os.open(self.path / name, os.O_RDWR), BYTES) for name in ("request", "record")}

    def ask(self, data):
        self.maps["request"][:len(data)] = data
        self.maps["record"][:168] = bytes(168)

    def record(self):
        keys = ("magic", "version", "outcome", "strands", "steps", "choices", "switches")
        return dict(zip(keys, struct.unpack("<IIIIQQQ", self.maps["record"][:40])))

    def options(self):
        return f"log_dir={self.path}:mode=controlled:request={self.path}/request:record={self.path}/record"


def run_once(files, command, **what):
    files.ask(request(**what))
    env = dict(os.environ, DURESS_OPTIONS=files.options())
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Server:
    """A fork server of the program."""

    def __init__(self, files, command):
        self.files = files
        down, self.to = os.pipe()
        self.back, up = os.pipe()
        for fd in (down, up):
            os.set_inheritable(fd, True)
        env = dict(os.environ, DURESS_OPTIONS=f"{files.options()}:server={down},{up}")
        self.process = subprocess.Popen(command, env=env, pass_fds=(down, up), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)

    def run(self, **what):
        self.files.ask(request(**what))
        os.write(self.to, b"r")
        answer = b""
        while len(answer) < 16:
            part = os.read(self.back, 16 - len(answer))
            if not part:
                raise SystemExit("the fork server ended")
            answer += part
        return struct.unpack("<iiii", answer)[3]

    def close(self):
        os.close(self.to)
        self.process.wait()
        os.close(self.back)
