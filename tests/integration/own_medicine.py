#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our own medicine: `duress` itself, with the parts that have threads built by duress-c++, explores, classifies and verifies
with two workers under `duress run`. It has no race, and says what the ordinary one says.

What has no threads of its own is the ordinary build's. --all: all of exec, search, classify and verify is instrumented."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import ROOT, Failure, expect, parser, report  # noqa: E402
from harness.documents import without_times  # noqa: E402
from harness.tool import Tool  # noqa: E402

THREADS = (
    "exec/fork_server.cc",
    "exec/target_start.cc",
    "exec/worker.cc",
    "exec/worker_pool.cc",
    "search/search.cc",
    "classify/trial_runner.cc",
    "verify/execution_queue.cc",
    "verify/exploration.cc",
)
FOLDERS = ("exec", "search", "classify", "verify")
COMMANDS = {
    "explore": ["explore", "--runs", "200", "--keep-going"],
    "classify": ["classify", "--runs", "3"],
    "verify": ["verify", "--no-advice"],
}
NOT_OURS = ("-Werror",)  # warnings are the ordinary build's business


class Medicine:
    def __init__(self, options, scratch):
        self.tool = Tool(options.build, options.duress)
        self.scratch = pathlib.Path(scratch)
        self.racing = self.tool.compile(ROOT / "tests/faults/racing.cc", level="-O1")
        sources = [ROOT / "src" / name for name in THREADS]
        if options.all:
            every = [path for folder in FOLDERS for path in sorted((ROOT / "src" / folder).glob("*.cc"))]
            sources = [path for path in every if not path.stem.endswith("_test")]
        self.duress = self.build(sources)

    def build(self, sources):
        """The command with these sources instrumented: the linker takes them before the libraries that have them too."""
        commands = {
            entry["file"]: entry["command"]
            for entry in json.loads((self.tool.build / "compile_commands.json").read_text())
        }

        def compile_one(number):
            words = shlex.split(commands[str(sources[number])])
            flags = words[words.index(next(word for word in words if "clang++" in word)) + 1 :]
            flags = [flag for flag in flags if flag not in NOT_OURS]
            out = self.scratch / f"{number}.o"
            flags[flags.index("-o") + 1] = str(out)
            self.call([str(self.tool.build / "bin/duress-c++"), "-fduress=run", *flags])
            return str(out)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_one, range(len(sources))))
        line = self.call(["ninja", "-t", "commands", "lib/duress/duress"]).splitlines()[-1]
        words = shlex.split(line.split("&&")[1])
        words = [str(self.tool.build / "bin/duress-c++"), "-fduress=run", *words[1:]]
        main = next(index for index, word in enumerate(words) if word.endswith("main.cc.o"))
        out = self.scratch / "bin/duress"
        out.parent.mkdir()
        words[words.index("-o") + 1] = str(out)
        self.call([*words[: main + 1], *objects, *words[main + 1 :]])
        for name in ("lib", "share"):  # where it looks for the rest of itself
            (self.scratch / name).symlink_to(self.tool.build / name)
        return out

    def call(self, words):
        done = subprocess.run(
            words, cwd=self.tool.build, env=self.tool.env, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Failure(f"{shlex.join(words)}\n{done.stderr}")
        return done.stdout

    def takes(self, command):
        def check():
            documents = []
            for name, start in {
                "ordinary": [self.tool.duress],
                "own": [self.tool.duress, "run", "--json=races", "--", self.duress],
            }.items():
                options = ["-j", "2", f"--json={name}", "--dir", f"d{name}"]
                words = [*start, *COMMANDS[command], *options, "--", self.racing]
                code, _, err = self.tool.run(words, self.scratch)
                documents.append((code, without_times(json.loads((self.scratch / name).read_text()))))
            races = json.loads((self.scratch / "races").read_text())["races"]
            expect(not races, f"{command} has races:\n{err.decode(errors='replace')}")
            expect(
                documents[0] == documents[1],
                f"{documents[1]}\ninstead of\n{documents[0]}\n{err.decode(errors='replace')}",
            )

        return check

    def cases(self):
        for command in COMMANDS:
            yield command, self.takes(command)


def main():
    made = parser(__doc__, programs=False)
    made.add_argument("--all", action="store_true")
    options = made.parse_args()
    with tempfile.TemporaryDirectory(prefix="duress-own-") as scratch:
        report(Medicine(options, scratch).cases())


main()
