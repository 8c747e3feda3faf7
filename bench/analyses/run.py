#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tutorial's tables for our kernels: slowdown of each analysis online, clocks allocated, warnings per tool; and
offline speed, and the cost of recording beside that of detecting.

Processor time of the program, not wall time, so that other work on the machine matters less; repetitions are
interleaved and the fastest counts. The tutorial's numbers stand beside ours.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KERNELS = ROOT / "bench" / "detect" / "kernels"
FLAGS = ["-std=c++20", "-O2", "-g", "-pthread"]
SIZES = {
    "hash_map": 20000,
    "lufact": 80,
    "moldyn": 3,
    "montecarlo": 150,
    "ring": 4000,
    "sor": 60,
    "sort": 40000,
    "tsp": 10,
}
# The tutorial's table (slowdown over the base time, Java); DJIT+ and others are only in a figure.
ONLINE = [
    ("Empty", "Empty", 5.6),
    ("Eraser", "ThreadLocal:ReadOnly:LockSet", 9.4),
    ("MultiRace", "MultiRace", None),
    ("DJIT+", "DJIT+", None),
    ("Goldilocks", "Goldilocks", None),
    ("FastTrack", "FastTrack", 7.3),
    ("FastTrack:Velodrome", "FastTrack:Velodrome", 8.1),
]
WARNINGS = [("LockSet", "potential"), ("RaceTrack", "potential"), ("Hybrid", "potential"), ("FastTrack", "race")]


def processor_time(command, env, cwd):
    """(seconds of user and system time, output) of a command and its children."""
    before = os.times()
    done = subprocess.run([str(word) for word in command], env=env, cwd=cwd, capture_output=True, text=True)
    after = os.times()
    return (after.children_user - before.children_user + after.children_system - before.children_system, done)


def geometric(values):
    product = 1.0
    for value in values:
        product *= value
    return product ** (1 / len(values)) if values else 0


class Bench:
    def __init__(self, options):
        self.options = options
        self.duress = options.build / "bin" / "duress"
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="duress-bench-"))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("DURESS")}
        self.names = [k for k in SIZES if options.only in k]

    def build(self):
        for name in self.names:
            for compiler, suffix in (
                ("clang++-19", "native"),
                (str(self.options.build / "bin" / "duress-c++"), "duress"),
            ):
                subprocess.run(
                    [compiler, *FLAGS, str(KERNELS / f"{name}.cc"), "-o", str(self.scratch / f"{name}.{suffix}")],
                    check=True,
                )

    def target(self, name, chain=None, first=False):
        command = [self.scratch / f"{name}.{'duress' if chain else 'native'}", "2", str(SIZES[name])]
        env = dict(self.env)
        if chain:
            logs = tempfile.mkdtemp(dir=self.scratch)
            env["DURESS_OPTIONS"] = f"log_dir={logs}:chain={chain}" + (":first=1" if first else "")
        return processor_time(command, env, self.scratch)[0]

    def table_online(self):
        print(f"slowdown, processor time over native, 2 threads, best of {self.options.repeat}")
        print(f"{'':16}" + "".join(f"{name:>21}" for name, _, _ in ONLINE) + f"{'record first':>21}")
        ratios = {name: [] for name, _, _ in ONLINE}
        ratios["record"] = []
        for name in self.names:
            best = {}
            for _ in range(self.options.repeat):
                for label, chain in [("native", None), *((n, c) for n, c, _ in ONLINE), ("record", "Record")]:
                    seconds = self.target(name, chain, first=label == "record")
                    best[label] = min(best.get(label, seconds), seconds)
            base = max(best["native"], 0.001)
            row = [best[label] / base for label in ratios]
            for label, value in zip(ratios, row):
                ratios[label].append(value)
            print(f"{name:16}" + "".join(f"{value:21.1f}" for value in row))
        print(f"{'mean':16}" + "".join(f"{geometric(values):21.1f}" for values in ratios.values()))
        print(f"{'tutorial':16}" + "".join(f"{paper if paper else '-':>21}" for _, _, paper in ONLINE))
        print(
            f"recording over FastTrack online: {geometric(ratios['record']) / geometric(ratios['FastTrack']):.2f} (wanted: at most 1)\n"
        )

    def trace(self, name, threads=2):
        path = self.scratch / f"{name}.{threads}.trace"
        subprocess.run(
            [
                self.duress,
                "trace",
                "record",
                "-q",
                "--accesses",
                "first",
                "-o",
                path,
                "--",
                self.scratch / f"{name}.duress",
                str(threads),
                str(SIZES[name] * self.options.longer),
            ],
            env=self.env,
            cwd=self.scratch,
            capture_output=True,
            check=True,
        )
        return path

    def analyze(self, chain, path):
        done = subprocess.run(
            [self.duress, "trace", "analyze", "-t", chain, "--stats", "--fail-on", "never", path],
            env=self.env,
            cwd=self.scratch,
            capture_output=True,
            text=True,
        )
        text = done.stdout + done.stderr
        rate = re.search(r"(\d+) events in ([\d.]+) s, ([\d.]+) million", text)
        clocks = re.search(r"clocks allocated\s+(\d+)", text)
        return int(rate[1]), float(rate[3]), int(clocks[1]) if clocks else 0, text

    def table_offline(self):
        print("offline, million events a second; clocks allocated for locations")
        print(
            f"{'':16}{'events':>12}{'Empty':>10}{'FastTrack':>12}{'DJIT+':>10}{'clocks DJIT+':>14}{'FastTrack':>11}{'times':>8}"
        )
        rates, fewer = [], []
        for name in self.names:
            path = self.trace(name)
            events, empty, _, _ = self.analyze("Empty", path)
            _, fast, _, text = max(
                (self.analyze("FastTrack", path) for _ in range(self.options.repeat)), key=lambda r: r[1]
            )
            _, djit, clocks, _ = self.analyze("DJIT+", path)
            shared = re.search(r"READ SHARE\s+(\d+)", text)  # each makes one set of reads: what FastTrack has of clocks
            own = int(shared[1]) if shared else 0
            rates.append(fast)
            fewer.append(clocks / max(own, 1))
            print(
                f"{name:16}{events:12}{empty:10.1f}{fast:12.1f}{djit:10.1f}{clocks:14}{own:11}{clocks / max(own, 1):8.0f}"
            )
        print(
            f"FastTrack: mean {geometric(rates):.1f} million events a second (wanted: 20); DJIT+ allocates {geometric(fewer):.0f} times the clocks "
            "(wanted: 100; the tutorial: 200)\n"
        )

    def table_threads(self):
        print(
            "64 threads, a table of 16,384 words under 64 locks: a thread takes a lock, reads and writes 48 of its words"
        )
        source = self.scratch / "wide.rapid"
        state = 1
        with open(source, "w") as out:
            for t in range(1, 64):
                out.write(f"T0|fork(T{t})\n")
            for step in range(64 * self.options.rounds):
                t = step * 29 % 64
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                stripe, first = state >> 58, (state >> 33) % 256
                out.write(f"T{t}|acq(L{stripe})\n")
                for v in range(first, first + 48):
                    word = stripe * 256 + v % 256
                    out.write(f"T{t}|r(S{word})|{v % 7}\nT{t}|w(S{word})|{v % 7 + 10}\n")
                out.write(f"T{t}|rel(L{stripe})\n")
        path = self.scratch / "wide.trace"
        subprocess.run([self.duress, "trace", "convert", source, path], check=True)
        fast = max(self.analyze("FastTrack", path)[1] for _ in range(self.options.repeat))
        djit = max(self.analyze("DJIT+", path)[1] for _ in range(self.options.repeat))
        print(f"FastTrack {fast:.1f}, DJIT+ {djit:.1f} million events a second: {fast / djit:.1f} times (wanted: 5)\n")

    def table_warnings(self):
        print("warnings per tool on the programs of examples/ (FastTrack's are races; the others may be wrong)")
        programs = sorted(
            p for p in (ROOT / "examples").rglob("*.cc") if "int main" in p.read_text() and self.options.only in str(p)
        )
        print(f"{'':34}" + "".join(f"{name:>12}" for name, _ in WARNINGS))
        totals = [0] * len(WARNINGS)
        for program in programs:
            binary, path = self.scratch / "program", self.scratch / "program.trace"
            subprocess.run(
                [
                    self.options.build / "bin" / "duress-c++",
                    "-g",
                    "-O1",
                    "-std=c++20",
                    "-I",
                    program.parents[1] / "support",
                    program,
                    "-o",
                    binary,
                    "-pthread",
                ],
                check=True,
            )
            subprocess.run(
                [self.duress, "trace", "record", "-q", "--controlled", "-o", path, "--", binary],
                cwd=self.scratch,
                capture_output=True,
            )
            row = []
            for name, _ in WARNINGS:
                done = subprocess.run(
                    [self.duress, "trace", "analyze", "-q", "-t", name, path],
                    cwd=self.scratch,
                    capture_output=True,
                    text=True,
                )
                row.append(len(re.findall(r"warning:.*data race", done.stderr)))
            totals = [a + b for a, b in zip(totals, row)]
            print(f"{str(program.relative_to(ROOT / 'examples')):34}" + "".join(f"{value:12}" for value in row))
        print(f"{'all':34}" + "".join(f"{value:12}" for value in totals))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="kernels and programs whose name contains this")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=1000, help="of the trace with 64 threads")
    parser.add_argument("--longer", type=int, default=4, help="sizes for the offline table are so many times as large")
    parser.add_argument("--tables", default="online,offline,threads,warnings")
    options = parser.parse_args()
    options.build = options.build.resolve()
    bench = Bench(options)
    if "online" in options.tables or "offline" in options.tables:
        bench.build()
    for name in options.tables.split(","):
        getattr(bench, f"table_{name}")()
    return 0


if __name__ == "__main__":
    sys.exit(main())
