# SPDX-License-Identifier: Apache-2.0
"""Controlled executions without the host: requests and records by tests/explore/protocol.py."""
import mmap
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "explore"))

from protocol import FILE_BYTES, RECORD, REQUEST  # noqa: E402

REPLAY, RANDOM, PCT, POS, RACEFUZZER, ROUND_ROBIN = range(6)
FIBER, THREAD = 0, 1


def request(seed=1, strategy=RANDOM, backend=FIBER, points=0, depth=3, length=0):
    return REQUEST.pack(
        seed=seed, strategy=strategy, depth=depth, expected_choices=length, points=points, backend=backend
    )


class Files:
    """The two files, mapped."""

    def __init__(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(dir=memory)
        self.path = pathlib.Path(self.folder.name)
        for name in ("request", "record"):
            with open(self.path / name, "wb") as file:
                file.truncate(FILE_BYTES)
        self.maps = {
            name: mmap.mmap(os.open(self.path / name, os.O_RDWR), FILE_BYTES) for name in ("request", "record")
        }

    def ask(self, data):
        self.maps["request"][: len(data)] = data
        self.maps["record"][: RECORD.size] = bytes(RECORD.size)

    def record(self):
        return {field: RECORD.get(self.maps["record"], field) for field in RECORD.offsets}

    def options(self):
        return f"log_dir={self.path}:mode=controlled:request={self.path}/request:record={self.path}/record"


def run_once(files, command, **what):
    files.ask(request(**what))
    env = dict(os.environ, DURESS_OPTIONS=files.options())
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Server:
    """A fork server of the program."""

    def __init__(self, files, command, rollback=1, **variables):
        self.files = files
        files.ask(b"")  # a record that is in use would make the program take itself for a child of the target
        down, self.to = os.pipe()
        self.back, up = os.pipe()
        for fd in (down, up):
            os.set_inheritable(fd, True)
        options = f"{files.options()}:rollback={rollback}:server={down},{up}"
        env = dict(os.environ, DURESS_OPTIONS=options, **variables)
        self.process = subprocess.Popen(
            command,
            env=env,
            pass_fds=(down, up),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
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
