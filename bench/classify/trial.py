# SPDX-License-Identifier: Apache-2.0
"""One trial of `duress classify`, alone, to be measured: an execution with one variable's histories, asked for by
tests/explore/protocol.py; the same with threads in parallel, by `duress run --model stale`; and the program itself.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "explore"), str(ROOT / "bench" / "explore")]

import controlled  # noqa: E402
import execution  # noqa: E402
import protocol  # noqa: E402

STALE, FUTURE = 1, 2  # ModelId
CLOCKS = 2  # trail::Detect::kClocks
STATISTICS = ("instances", "writes", "largest", "largest_uncompressed", "reads")
NEVER = 0x7FFFFFFF  # a load that does not come


def request(keys, model, profile=False, predictions=()):
    head = protocol.REQUEST.pack(
        strategy=execution.RANDOM,
        most_steps=1 << 40,
        detect=CLOCKS,
        model=model,
        sample=True,
        profile_futures=profile,
        prediction_count=len(predictions),
        site_count=len(keys),
    )
    return head + protocol.site_list(keys) + b"".join(protocol.PREDICTION.pack(*p) for p in predictions)


class Trial:
    """What an execution left behind."""

    def __init__(self, seconds, files):
        self.seconds = seconds
        record = files.record()
        self.statistics = {name: record[name] for name in STATISTICS}
        self.steps = record["steps"]
        self.profile = [
            protocol.PREDICTION.unpack_from(
                files.maps["record"], protocol.FUTURE_VALUES_AT + i * protocol.PREDICTION.size
            )
            for i in range(record["future_value_count"])
        ]


class Program:
    """An example, built as it is and by Duress, with arguments that make it run for a while."""

    def __init__(self, build, example, args, variables):
        self.build, self.args, self.variables = build, list(args), variables
        source, out = ROOT / "examples" / f"{example}.cc", build / "bench" / "classify"
        out.mkdir(parents=True, exist_ok=True)
        self.native, self.duress = (out / f"{source.stem}.{kind}" for kind in ("native", "duress"))
        for compiler, binary in (("clang++-19", self.native), (build / "bin" / "duress-c++", self.duress)):
            subprocess.run(
                [compiler, "-std=c++20", "-O2", "-g", "-pthread", f"-I{ROOT}/examples/support", source, "-o", binary],
                check=True,
            )
        self.keys = [site.key for site in controlled.sites_of(self.duress) if site.variable in variables]
        if not self.keys:
            raise SystemExit(f"{example} has no site of {variables}")

    def timed(self, command, env=None):
        start = time.perf_counter()
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        seconds = time.perf_counter() - start
        if done.returncode != 0:
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stdout[-400:]}")
        return seconds

    def run_native(self, one_processor=False):
        return self.timed([*(["taskset", "-c", "0"] if one_processor else []), self.native, *self.args])

    def run_parallel(self):
        """With histories, threads in parallel, and every load the newest value; as JUMBLE was measured."""
        with tempfile.TemporaryDirectory() as folder:
            return self.timed(
                [
                    self.build / "bin" / "duress",
                    "run",
                    "--model",
                    "stale",
                    "--heuristic",
                    "SequentiallyConsistent",
                    "--only",
                    ",".join(self.variables),
                    "--fail-on",
                    "never",
                    "--dir",
                    folder,
                    "--",
                    self.duress,
                    *self.args,
                ]
            )

    def run_trial(self, model, **what):
        """One controlled execution; all loads return the newest value, as when prescient memory was measured."""
        files = execution.Files()
        files.ask(request(self.keys, model, **what))
        env = dict(os.environ, DURESS_OPTIONS=files.options())
        return Trial(self.timed([self.duress, *self.args], env), files)


class Costs:
    """Times slower than the program itself, with one variable's histories. None: could not be measured, see problem.

    parallel: against the program on all processors; stale, profile, future: one controlled execution against the program on
    one processor."""

    RATIOS = ("parallel", "stale", "profile", "future")

    def __init__(self, build, row, size, repeat):
        program = Program(build, row.example, size, row.variables)
        profile = program.run_trial(FUTURE, profile=True).profile
        unused = [(p[0], p[1], NEVER, *p[3:]) for p in profile]
        self.predictions, self.problem = len(unused), ""
        ways = {
            "native": program.run_native,
            "alone": lambda: program.run_native(one_processor=True),
            "parallel": program.run_parallel,
            "stale": lambda: program.run_trial(STALE).seconds,
            "profile": lambda: program.run_trial(FUTURE, profile=True).seconds,
            "future": lambda: program.run_trial(FUTURE, predictions=unused).seconds,
        }
        try:
            program.run_parallel()
        except RuntimeError as problem:
            self.problem = str(problem)
            del ways["parallel"]
        best = fastest(repeat, **ways)
        self.native = best["native"]
        self.ratios = {
            name: best[name] / best["native" if name == "parallel" else "alone"] if name in best else None
            for name in self.RATIOS
        }
        self.statistics = program.run_trial(STALE).statistics


def fastest(repeat, **ways):
    """The least seconds of each way; they take turns, so that a slow phase of the machine hits all alike."""
    best = {name: math.inf for name in ways}
    for _ in range(repeat):
        for name, way in ways.items():
            best[name] = min(best[name], way())
    return best


def geometric_mean(values):
    known = [value for value in values if value is not None]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None


def text(number, form=".2f"):
    return "-" if number is None else format(number, form)


def print_table(title, head, rows):
    print(title)
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        print(
            "  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip()
        )
    print(flush=True)
