# SPDX-License-Identifier: Apache-2.0
"""Building a program for every tool, and running it: what it took and what it answered."""
import dataclasses
import hashlib
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile

import tables

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = ["-std=c++20", "-O2", "-g", "-pthread"]
CHAIN = "chain=FastTrack:seed=1"  # what `duress run` asks for


@dataclasses.dataclass
class Sample:
    """One run: seconds and KiB. `answer` is the digest of what it printed."""

    wall: float
    cpu: float
    memory: int
    answer: str


class Row:
    """The runs of one program in one setting, by tool."""

    def __init__(self, name, threads, size):
        self.name, self.threads, self.size = name, threads, size
        self.samples = {}
        self.over_limit = set()  # tools that did not end in time

    def __str__(self):
        return " ".join(map(str, filter(None, [self.name, self.size, self.threads and f"{self.threads} threads"])))

    def value(self, tool, what):
        samples = self.samples.get(tool)
        return statistics.median(getattr(sample, what) for sample in samples) if samples else None

    def ratio(self, tool, other, what):
        above, below = self.value(tool, what), self.value(other, what)
        return above / below if above and below else None


class Runner:
    def __init__(self, options):
        self.build, self.limit, self.repeat = options.build, options.limit, options.repeat
        self.out = options.build / "bench" / "detect"
        self.out.mkdir(parents=True, exist_ok=True)
        self.failures = []
        self.measure = self.out / "measure"
        subprocess.run(["clang-19", "-O2", str(HERE / "measure.c"), "-o", str(self.measure)], check=True)

    def compile(self, source, tool):
        output = self.out / f"{source.stem}.{tool}"
        compiler = {
            "native": ["clang++-19"],
            "tsan": ["clang++-19", "-fsanitize=thread"],
            "duress": [str(self.build / "bin" / "duress-c++")],
        }[tool]
        subprocess.run([*compiler, *FLAGS, str(source), "-o", str(output)], check=True)
        return output

    def binaries(self, source, helgrind=False):
        """The program by tool. `inert` is the one of Duress without `duress run`."""
        result = {tool: self.compile(source, tool) for tool in ("native", "tsan", "duress")}
        result["inert"] = result["duress"]
        if helgrind:
            # valgrind 3.19 cannot read all of clang 19's debug information: a binary without it.
            result["helgrind"] = self.out / f"{source.stem}.stripped"
            subprocess.run(["strip", "-g", "-o", str(result["helgrind"]), str(result["native"])], check=True)
        return result

    def fill(self, row, commands, **more):
        """Runs every tool's command in turn, as often as asked. A tool that did not end in time is not tried again;
        Helgrind, which takes long, runs once."""
        for number in range(self.repeat):
            for tool, command in commands.items():
                if tool in row.over_limit or (tool == "helgrind" and number > 0):
                    continue
                sample = self.run(row, tool, command, **more)
                if sample is not None:
                    row.samples.setdefault(tool, []).append(sample)
        answers = {}
        for tool, samples in row.samples.items():
            for sample in samples:
                answers.setdefault(sample.answer, set()).add(tool)
        if len(answers) > 1:
            self.failures.append(f"{row}: answers differ: {sorted(map(sorted, answers.values()))}")
        tables.print_progress(row)
        return row

    def run(self, row, tool, command, whole=False, races=False, stdin=None, client=None, wrapped=False):
        """One run, None if it failed. Time is inside the kernel, or that of the `whole` program; with a `client` the
        program is a server, the client's time and answer count. `races` may be found or not. `wrapped`: the command
        itself wakes Duress up."""
        with tempfile.TemporaryDirectory() as scratch:
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("DURESS", "TSAN"))}
            ours = tool.split()[0] == "duress"  # or "duress gcc": on an object of that compiler
            if ours and not wrapped:
                environment["DURESS_OPTIONS"] = f"log_dir={scratch}:{CHAIN}"
            elif tool == "tsan" and races:  # Duress also finds the names after the end
                environment["TSAN_OPTIONS"] = f"exitcode=0:symbolize=0:log_path={scratch}/tsan"
            elif tool == "helgrind":
                command = ["valgrind", "--tool=helgrind", "-q", f"--log-file={scratch}/log", *command]
            result = pathlib.Path(scratch) / "result"
            done = self._execute([str(self.measure), str(result), *map(str, command)], environment, stdin, client)
            if done is None:
                row.over_limit.add(tool)
                self.failures.append(f"{row}: {tool} did not end within {self.limit:.0f} s")
                return None
            out, error = done
            if not result.exists():
                raise SystemExit(f"cannot measure {command}: {error}")
            wall, cpu, memory, code = result.read_text().split()
            if int(code) != 0 and not (races and ours and int(code) == 66):
                self.failures.append(f"{row}: {tool} ended with {code}: {error[:300]}")
                return None
            if ours and not wrapped:
                self._check_logs(row, pathlib.Path(scratch), races)
        kernel = [line.split() for line in error.splitlines() if line.startswith("kernel ")]
        if not whole:
            if not kernel:
                self.failures.append(f"{row}: {tool} has not measured itself: {error[:300]}")
                return None
            wall = kernel[-1][1]
            cpu = cpu if client else kernel[-1][2]
        return Sample(float(wall), float(cpu), int(memory), hashlib.sha256(out).hexdigest())

    def _execute(self, command, environment, stdin, client):
        """What the program printed on both ways, or None if the limit was reached. Then all its processes are ended."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with open(stdin or os.devnull, "rb") as file:
            process = subprocess.Popen(command, env=environment, stdin=file, start_new_session=True, **pipes)
        try:
            if client is None:
                out, error = process.communicate(timeout=self.limit)
            else:
                out, error = b"", b""
                asked = subprocess.run([str(word) for word in client], timeout=self.limit, check=False, **pipes)
                if asked.returncode != 0:
                    os.killpg(process.pid, signal.SIGKILL)
                _, error = process.communicate(timeout=self.limit)
                out, error = asked.stdout, error + asked.stderr
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(reason, KeyboardInterrupt):
                raise
            return None
        return out, error.decode(errors="replace")

    def _check_logs(self, row, folder, races):
        logs = list(folder.glob("*.jsonl"))
        if not logs:
            self.failures.append(f"{row}: Duress did not wake up")
        elif not races and any('"t":"race"' in line for log in logs for line in open(log, errors="replace")):
            self.failures.append(f"{row}: Duress reports a race; the kernels have none")
