#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged traces: whatever is in the file, `duress trace` ends by itself, without a crash, with what could be read or
one line that says where it is wrong."""
import os
import pathlib
import random
import re
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HEADER_BYTES = 16
TEXT_CHUNK = 3
CHUNK_MAGIC = 0x31435444
MUTANTS = 150
SEED = 1
HANG = 60  # seconds


class Damaged:
    def __init__(self, options, scratch):
        self.tool = Tool(options.build, options.duress)
        self.scratch = pathlib.Path(scratch)
        binary = self.tool.compile(HERE.parent / "faults/racing.cc", level="-O1")
        code, _, err = self.tool.run([binary], scratch, env={"DURESS_OPTIONS": f"log_dir={scratch}:chain=Record"})
        expect(code in (0, 3), f"exit code {code}: {err.decode()}")
        self.events = next(self.scratch.glob("*.trace")).read_bytes()
        self.log = next(self.scratch.glob("*.jsonl")).read_bytes()
        _, names, _ = self.tool.run([self.tool.duress, "list", "analyses"], scratch)
        self.analyses = re.findall(r"^(\w\S*)", names.decode(), re.MULTILINE)

    def trace(self, log):
        """The events with that text in front, as the host writes it after a run, but unpacked."""
        head = struct.pack("<IBBHIII", CHUNK_MAGIC, TEXT_CHUNK, 0, 0, 0, len(log), len(log))
        return self.events[:HEADER_BYTES] + head + log + self.events[HEADER_BYTES:]

    def analyze(self, trace, chain, codes):
        path = self.scratch / "damaged.trace"
        path.write_bytes(trace)
        words = [self.tool.duress, "trace", "analyze", "-t", chain, path]
        code, _, err = self.tool.run(words, self.scratch, timeout=HANG)
        text = err.decode(errors="replace")
        expect(code in codes and "internal error" not in text, f"exit code {code} with {chain}:\n{text}")
        return text

    def whole(self):
        text = self.analyze(self.trace(self.log), "FastTrack", (66,))
        expect("data race on counter" in text, f"the trace that is damaged later has no race:\n{text}")

    def modules(self):
        """Paths of modules that are not there, not files, never end, or look like more than a path to a library."""
        fifo = self.scratch / "fifo"
        os.mkfifo(fifo)
        paths = [
            "/nowhere:x86_64-",
            "/nowhere",
            "/nowhere:i386",
            str(fifo),
            "/dev/zero",
            "/dev",
            "/\\u0000",
            ":x86_64-",
        ]
        for first in range(len(paths)):
            rest = iter(paths[first:] + paths[:first])
            log = re.sub(rb'"path":"[^"]*"', lambda _: b'"path":"%s"' % next(rest).encode(), self.log)
            for chain in self.analyses if first == 0 else ["FastTrack"]:
                self.analyze(self.trace(log), chain, (0, 66))

    def mutants(self):
        """Bytes changed, removed or repeated anywhere, the text as well as the events."""
        dice = random.Random(SEED)
        whole = self.trace(self.log)
        for _ in range(MUTANTS):
            trace = bytearray(whole)
            for _ in range(dice.randint(1, 4)):
                at = dice.randrange(len(trace))
                kind = dice.randrange(4)
                if kind == 0:
                    trace[at] = dice.randrange(256)
                elif kind == 1:
                    del trace[at : at + dice.randint(1, 8)]
                elif kind == 2:
                    trace[at:at] = trace[at : at + dice.randint(1, 64)]
                else:
                    trace[at : at + 1] = dice.choice([b"\xff", b"\x00", b"9", b'"', b":x86_64-", b"-", b"\x80"])
            self.analyze(bytes(trace), dice.choice(self.analyses), (0, 2, 66, 125))


def main():
    options = parser(__doc__, programs=False).parse_args()
    with tempfile.TemporaryDirectory(prefix="duress-damaged-") as scratch:
        damaged = Damaged(options, scratch)
        report({"whole": damaged.whole, "modules": damaged.modules, f"{MUTANTS} mutants": damaged.mutants}.items())


main()
