#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is given as a program and is none: a FIFO, a device, a folder, 5 GB of zeros, ELF files of other machines (which
execvp would hand to the shell). Every command says so in one line,
at once. A program of 5 GB, most of it a hole, is a program."""
import os
import pathlib
import resource
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HANG = 30  # seconds
HUGE = 5 << 30
MOST_MEMORY = 2 << 30
E_MACHINE = 18  # offset in the header of an ELF file
EM_386, EM_AARCH64 = 3, 183
COMMANDS = {
    "run": ["run"],
    "run --controlled": ["run", "--controlled"],
    "classify": ["classify", "--runs", "5"],
    "classify on several machines": ["classify", "--runs", "5", "--executor", "shared"],
    "explore": ["explore", "--runs", "5"],
    "verify": ["verify"],
    "collide": ["collide", "--duration", "1s"],
    "trace record": ["trace", "record", "-o", "trace"],
}


class Programs:
    def __init__(self, options, scratch):
        self.tool = Tool(options.build, options.duress)
        self.folder = pathlib.Path(scratch)
        os.mkfifo(self.folder / "fifo", 0o755)
        (self.folder / "folder").mkdir()
        zeros = self.folder / "zeros"
        zeros.touch(0o755)
        os.truncate(zeros, HUGE)
        self.large = self.folder / "large"
        shutil.copy(self.tool.compile(HERE / "racing.cc", level="-O1"), self.large)
        for name, machine in {"aarch64": EM_AARCH64, "i386": EM_386}.items():
            other = bytearray(self.large.read_bytes())
            other[E_MACHINE : E_MACHINE + 2] = machine.to_bytes(2, "little")
            (self.folder / name).write_bytes(other)
            (self.folder / name).chmod(0o755)
        os.truncate(self.large, HUGE)

    def run(self, command, program):
        return self.tool.run([self.tool.duress, *COMMANDS[command], "--", program], self.folder, timeout=HANG)

    def refused(self, command, program):
        def check():
            code, out, err = self.run(command, program)
            text = err.decode(errors="replace")
            lines = text.splitlines()
            expect(code == 125 and not out, f"exit code {code}:\n{text}")
            expect(len(lines) == 1 and "cannot start" in lines[0], f"not one line:\n{text}")

        return check

    def taken(self, command):
        def check():
            code, _, err = self.run(command, self.large)
            expect(code in (0, 66), f"exit code {code}:\n{err.decode(errors='replace')}")
            most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # KiB, of any child so far
            expect(most < MOST_MEMORY >> 10, f"{most >> 10} MiB of memory: the file was read, not mapped")

        return check

    def cases(self):
        for command in COMMANDS:
            for program in ("./fifo", "./folder", "/dev/zero", "./zeros", "./aarch64", "./i386"):
                yield f"{command} {program}", self.refused(command, program)
        for command in ("run", "classify", "explore", "trace record"):
            yield f"{command}, a file of 5 GB", self.taken(command)


def main():
    options = parser(__doc__, programs=False).parse_args()
    with tempfile.TemporaryDirectory(prefix="duress-programs-") as scratch:
        report(Programs(options, scratch).cases())


main()
