#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Containers that share a folder, each with process numbers of its own: they leave each other's files alone."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import TIMEOUT, Tool, locked  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
CONTAINER = ["unshare", *(["-r"] if os.getuid() != 0 else []), "--pid", "--mount-proc", "--fork", "--kill-child"]


class Containers:
    def __init__(self, options):
        self.tool = Tool(options.build, options.duress)
        self.racing = self.tool.compile(HERE / "racing.cc", level="-O1")

    def explore(self, folder):
        return [self.tool.duress, "explore", "-j", "1", "--run-timeout", "1h", "--dir", folder, "--", self.racing]

    @contextlib.contextmanager
    def campaign(self, scratch, name, prefix=()):
        """A campaign that does not end by itself; yields when it has executed something."""
        fifo = pathlib.Path(scratch) / f"{name}.fifo"
        os.mkfifo(fifo)
        held = os.open(fifo, os.O_RDWR)
        env = {"FAULT_COUNT": f"{scratch}/{name}.count", "FAULT_RUN": "1", "FAULT_BLOCK": str(fifo)}
        words = [*prefix, *self.explore(f"{scratch}/d")]
        with subprocess.Popen(
            list(map(str, words)),
            env={**self.tool.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            os.read(held, 8)
            try:
                yield process
            finally:
                process.kill()
                os.close(held)

    def work(self, scratch):
        return {entry.name for entry in (pathlib.Path(scratch) / "d/work").iterdir() if entry.is_dir()}

    def live_folder_stays(self):
        """A campaign outside, whose process number is not known in the container."""
        with tempfile.TemporaryDirectory(prefix="duress-containers-") as scratch:
            with self.campaign(scratch, "outside") as outside:
                before = self.work(scratch)
                expect(before == {str(outside.pid)}, f"work folders {before}, not that of {outside.pid}")
                words = [*CONTAINER, self.tool.duress, "explore", "--runs", "2"]
                code, _, err = self.tool.run([*words, "--dir", f"{scratch}/d", "--", self.racing], scratch)
                expect(code in (0, 66), f"the one in the container ends with {code}: {err.decode()}")
                expect(self.work(scratch) == before, "it has removed the folder of a live campaign")
                outside.send_signal(signal.SIGTERM)
                _, err = outside.communicate(timeout=TIMEOUT)
                expect(outside.returncode == 124, f"exit code {outside.returncode}: {err.decode()}")

    def same_number(self):
        """In each of two containers the campaign is process 1."""
        with tempfile.TemporaryDirectory(prefix="duress-containers-") as scratch:
            with self.campaign(scratch, "first", CONTAINER), self.campaign(scratch, "second", CONTAINER):
                expect(self.work(scratch) == {"1", "1-1"}, f"two campaigns work in {self.work(scratch)}")
            for name in ("1", "1-1"):  # both were killed; the kernel may still be at it
                with locked(pathlib.Path(scratch) / f"d/work/{name}.lock"):
                    pass
            with self.campaign(scratch, "third", CONTAINER):
                expect(self.work(scratch) == {"1"}, f"after both were killed: {self.work(scratch)}")


def main():
    options = parser(__doc__, programs=False).parse_args()
    if subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: this machine permits no PID namespaces")
        sys.exit(SKIPPED)
    containers = Containers(options)
    report(
        {
            "the folder of a live campaign stays": containers.live_folder_stays,
            "two processes with the same number": containers.same_number,
        }.items()
    )


main()
