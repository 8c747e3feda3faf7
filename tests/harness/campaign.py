# SPDX-License-Identifier: Apache-2.0
"""What the tests of campaigns on several machines share: workers as processes, and documents to compare."""
import json
import os
import pathlib
import signal
import subprocess

from .cases import Failure
from .documents import without_times

TIMEOUT = 300  # seconds: only a hang gets there


def document(out):
    """What --json wrote, without what may differ."""
    return json.dumps(without_times(json.loads(out)), sort_keys=True)


class Campaign:
    """One campaign in a folder of its own."""

    def __init__(self, tool, folder, command, options, target):
        self.tool, self.folder, self.dir = tool, str(folder), f"{folder}/d"
        self.command, self.options, self.target = command, options, target
        self.workers = []

    def words(self, executor, more=()):
        return [
            self.tool.duress,
            self.command,
            *self.options,
            "--json",
            "--dir",
            self.dir,
            *executor,
            *more,
            "--",
            *self.target,
        ]

    def local(self, jobs=2):
        code, out, err = self.tool.run(self.words(["-j", str(jobs)]), self.folder)
        if code not in (0, 66):
            raise Failure(f"local: exit code {code}: {err.decode()}")
        return code, document(out)

    def start(self, workers, env=None, executor="shared"):
        """The coordinator; returns when it has made its folder."""
        process = subprocess.Popen(
            self.words(["--executor", executor, "--workers", str(workers)]),
            cwd=self.folder,
            env={**self.tool.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while process.poll() is None and not pathlib.Path(self.dir, "cluster/current").exists():
            pass
        return process

    def work(self, shard, of, env=None, **more):
        process = subprocess.Popen(
            [self.tool.duress, "work", "--dir", self.dir, "--shard", f"{shard}/{of}"],
            env=env or self.tool.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **more,
        )
        self.workers.append(process)
        return process

    @staticmethod
    def finish(process, timeout=TIMEOUT):
        """(exit code, stdout, stderr) at its end."""
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise Failure(f"no end: {err.decode()}") from None
        return process.returncode, out, err.decode()

    def records(self):
        """Bytes that workers have recorded."""
        return sum(p.stat().st_size for p in pathlib.Path(self.dir).glob("cluster/*/shards/*"))

    def end(self):
        for process in self.workers:
            if process.poll() is None:
                process.kill()
            process.communicate()


def names(code):
    return signal.Signals(-code).name if code < 0 else str(code)


def environment_without(tool, *folders):
    return {**tool.env, "PATH": os.pathsep.join(folders)}
