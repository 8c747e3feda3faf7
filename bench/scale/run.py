# SPDX-License-Identifier: Apache-2.0
"""See bench/scale/run. Prints tables in Markdown."""
import argparse
import heapq
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/slurm"), str(ROOT / "tests")]
import harness  # noqa: E402
from private_slurm import PrivateSlurm  # noqa: E402

DEPTH = 8  # executions that a worker is ahead with: kDepth of src/cluster/coordinator.cc


class Bench:
    def __init__(self, tool, slurm, folder, target, runs):
        self.tool, self.slurm, self.folder, self.target, self.runs = tool, slurm, folder, target, runs
        self.env = {**tool.env, "SLURM_CONF": slurm.env["SLURM_CONF"]}
        self.number = 0

    def classify(self, more, trace=None):
        """(executions, seconds from the first worker on, seconds until then, processor seconds of the command,
        folder)"""
        self.number += 1
        folder = self.folder / str(self.number)
        words = [
            self.tool.duress,
            "classify",
            "--runs",
            str(self.runs),
            "--dir",
            str(folder),
            "--json",
            *more,
            "--",
            self.target,
        ]
        env = {**self.env, **({"DURESS_CLUSTER_TRACE": trace} if trace else {})}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        process = subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        first = began
        if "--executor" in more:
            while process.poll() is None and not any(folder.glob("cluster/1/shards/*")):
                time.sleep(0.005)
            first = time.monotonic()
        out, err = process.communicate()
        ended = time.monotonic()
        if process.returncode not in (0, 66):
            sys.exit(f"{process.returncode}: {err.decode()}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return json.loads(out)["runs"], ended - first, first - began, used, folder


def stages_of(trace):
    """Lists of durations; everything in a list could run at once, and needs the list before. And the processor time of
    the thread that all executions go through."""
    lines = pathlib.Path(trace).read_text(encoding="utf-8").splitlines()
    rows = sorted(tuple(map(float, line.split())) for line in lines if line[0] != "#")
    thread = sum(float(line[1:]) for line in lines if line[0] == "#")
    stages, latest = [], 0.0
    for asked, answered, seconds in rows:
        if asked >= latest or not stages:
            stages.append([])
        stages[-1].append(seconds)
        latest = max(latest, answered)
    return stages, thread


def simulate(stages, workers, serial, latency):
    """Seconds: `serial` of the coordinator for each execution, `latency` from a result to the next request's start."""
    clock = 0.0
    for stage in stages:
        free = [(clock + latency, i) for i in range(min(workers, len(stage)))]
        heapq.heapify(free)
        coordinator, end = clock, clock
        for index, duration in enumerate(stage):
            at, worker = heapq.heappop(free)
            # Whoever has requests ahead does not wait for the coordinator, unless that is the slowest of all.
            coordinator = max(coordinator + serial, clock)
            done = max(at, coordinator - DEPTH * workers * serial) + duration
            heapq.heappush(free, (done, worker))
            end = max(end, done)
        clock = max(end, coordinator) + latency + serial
    return clock


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument(
        "--turns", type=int, default=3, help="of each measurement; the best counts, others share the machine"
    )
    options = parser.parse_args()
    tool = harness.Tool(options.build)
    target = str(tool.compile(ROOT / "examples/jumble/double_checked_locking.cc", level="-O1"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="duress-scale-"))
    try:
        with PrivateSlurm(folder / "slurm") as slurm:
            bench = Bench(tool, slurm, folder, target, options.runs)
            measure(bench, options.turns)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(bench, turns):
    rates, waits, used, merges = {}, [], {}, []
    for _ in range(turns):
        for count in (1, 2):
            runs, seconds, _, _, _ = bench.classify(["-j", str(count)])
            rates.setdefault(("-j", count), []).append(runs / seconds)
            runs, seconds, wait, cpu, folder = bench.classify(["--executor", "slurm", "--workers", str(count)])
            rates.setdefault(("slurm", count), []).append(runs / seconds)
            waits.append(wait)
            used.setdefault(count, []).append(cpu)
            began = time.monotonic()
            subprocess.run(
                [bench.tool.duress, "merge", str(folder)],
                env=bench.env,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            merges.append((time.monotonic() - began) / runs)
    load = os.getloadavg()[0]
    print(
        f"double-checked locking, --runs {bench.runs}, {runs} executions; best of {turns}; load of the machine {load:.1f}\n"
    )
    print("| workers | -j, executions/s | Slurm | share |\n|---|---|---|---|")
    for count in (1, 2):
        alone, spread = max(rates["-j", count]), max(rates["slurm", count])
        shares = [b / a for a, b in zip(rates["-j", count], rates["slurm", count])]
        print(
            f"| {count} | {alone:.0f} | {spread:.0f} | {spread / alone:.2f} (turns: {', '.join(f'{s:.2f}' for s in shares)}) |"
        )
    print(f"\nfrom the command to the first worker (submit, start): {statistics.median(waits):.2f} s")
    print(f"merge: {statistics.median(merges) * 1e6:.0f} µs for each execution")
    # Starting and reading debug information is not for each execution: a shorter campaign has it too.
    wanted, bench.runs = bench.runs, 10
    few, _, _, little, _ = bench.classify(["--executor", "slurm", "--workers", "2"])
    bench.runs = wanted
    command = (min(used[2]) - little) / (runs - few)

    # Many threads ask, so that everything that could run at once is asked for at once.
    trace = str(bench.folder / "trace")
    runs, seconds, _, cpu, _ = bench.classify(["--executor", "slurm", "--workers", "2"], trace)
    stages, thread = stages_of(trace)
    durations = [d for stage in stages for d in stage]
    # What a worker needs besides the execution itself: a fork, reading what it left, writing.
    each = 1 / max(rates["slurm", 1])
    extra = max(0.0, each - statistics.mean(durations))
    sequential = sum(len(stage) == 1 for stage in stages)
    through = thread / len(durations)
    print(
        f"the command's processor time: {command * 1e6:.0f} µs for each execution, {through * 1e6:.0f} µs of these in the one "
        f"thread that all go through"
    )
    latency = 0.002
    print(
        f"\nmeasured: {len(durations)} executions in {len(stages)} stages, {sequential} of them one by one; "
        f"{each * 1000:.2f} ms for one on a worker"
    )
    print(
        "\n| campaign | executions | cores of the command | 64 workers | 1,024 | limit of these |\n|---|---|---|---|---|---|"
    )
    measured = [[d + extra for d in stage] for stage in stages]
    chance = random.Random(1)
    rows = [
        ("as measured", 1, 1),
        ("200 times the --runs", 200, 1),
        ("the same, executions of 20 ms", 200, 0.02 / each),
        ("the same, executions of 100 ms", 200, 0.1 / each),
    ]
    for name, times, slower in rows:
        grown = [
            [chance.choice(stage) * slower for _ in range(len(stage) * (times if len(stage) > 8 else 1))]
            for stage in measured
        ]
        alone = sum(map(sum, grown))
        chain = sum(max(stage) + 2 * latency for stage in grown if len(stage) <= 8)
        for cores in (2, 16):
            serial = max(through, command / cores)
            cells = []
            for workers in (64, 1024):
                whole = simulate(grown, workers, serial, latency)
                cells.append(f"{alone / whole / workers:.2f}")
            parts = {"executions one by one": chain, "the command": sum(map(len, grown)) * serial, "none": alone / 1024}
            print(
                f"| {name} | {sum(map(len, grown))} | {cores} | {cells[0]} | {cells[1]} | {max(parts, key=parts.get)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
