#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `duress collide` costs and finds, on programs that GCC built and that know nothing of Duress.

1. Overhead asked against overhead measured, on the kernels of bench/detect: each kernel alone, under collide without
   samples, and with 1, 5 and 20 %. Rounds are interleaved (A B C A B C ...), so that a slow phase of the machine hits
   all alike; a variant's time is the sum of its fastest half.
2. How long until the race of a counter, a field and a rare write is found, as the overhead grows.
3. With --done: the promises of the guide, each with its count (a counter found in 19 of 20 runs of 3 s; no report in
   100 runs of correct programs; 100 times attached and detached).

Exit code 1 if something that is required does not hold: a measured overhead above 1.5 times what was asked, more than
1.01 times without samples, or a promise.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KERNELS = ROOT / "bench" / "detect" / "kernels"
PROGRAMS = ROOT / "tests" / "collide" / "programs"
ASKED = [1, 5, 20]
# Enough for about a second of work with two threads.
SIZES = {
    "block_compress": 900,
    "hash_map": 24000000,
    "lufact": 2600,
    "matrix_product": 1000,
    "moldyn": 250,
    "montecarlo": 200000,
    "pipeline": 90000000,
    "raytracer": 2000,
    "read_tree": 40000000,
    "ring": 5000000,
    "sor": 460,
    "sort": 2,
    "tsp": 18,
    "word_count": 450,
}


class Bench:
    def __init__(self, options):
        self.options = options
        self.duress = options.build / "bin" / "duress"
        self.out = options.build / "bench" / "collide"
        self.out.mkdir(parents=True, exist_ok=True)
        self.failures = []

    def compile(self, source, *flags):
        output = self.out / ("".join([source.stem, *flags]).replace("/", "_"))
        cxx = source.suffix == ".cc"
        subprocess.run(
            [
                "g++" if cxx else "gcc",
                "-O2",
                *(flags or ["-g"]),
                "-pthread",
                *(["-std=c++20"] if cxx else []),
                str(source),
                "-o",
                str(output),
            ],
            check=True,
        )
        return output

    def timed(self, command):
        """Seconds, the JSON document if there is one, and what was printed."""
        with tempfile.TemporaryDirectory() as scratch:
            document = os.path.join(scratch, "out.json")
            if "collide" in command:
                at = command.index("collide") + 1
                command = [*command[:at], f"--json={document}", *command[at:]]
            begin = time.monotonic()
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
            seconds = time.monotonic() - begin
            data = None
            if os.path.exists(document):
                with open(document, encoding="utf-8") as file:
                    data = json.load(file)
                seconds = data["seconds"]  # of the target, without our own start and report
        return seconds, data, done

    # ---- 1. overhead -----------------------------------------------------------------------------

    def kernel(self, source):
        binary = str(self.compile(source))
        work = max(1, SIZES[source.stem] // (4 if self.options.quick else 1))
        words = [binary, str(self.options.threads), str(work)]
        variants = {"alone": ["--rate=0"]}
        for percent in [0, *ASKED]:
            variants[percent] = [f"--overhead={percent}%"]
        times = {name: [] for name in variants}
        own, samples, answers = {}, {}, set()
        for _ in range(self.options.repeat):
            for name, extra in variants.items():
                command = words if name == "alone" else [str(self.duress), "collide", *extra, "--", *words]
                if name == "alone":
                    command = [str(self.out / "measure"), str(self.out / "result"), *words]
                seconds, data, done = self.timed(command)
                if name == "alone":
                    seconds = float((self.out / "result").read_text(encoding="utf-8").split()[0])
                answers.add(done.stdout)
                times[name].append(seconds)
                if data:
                    own.setdefault(name, []).append(data["collide"]["overhead"] * 100)
                    samples.setdefault(name, []).append(data["collide"]["samples"] / data["seconds"])
                    if data["races"]:
                        self.failures.append(
                            f"{source.stem}: reports a race on {data['races'][0]['variable']}; " "the kernels have none"
                        )
        if len(answers) != 1:
            self.failures.append(f"{source.stem}: answers differ: {answers}")
        best = {name: sum(sorted(values)[: (len(values) + 1) // 2]) for name, values in times.items()}
        return best, own, samples

    def overhead(self):
        subprocess.run(
            ["gcc", "-O2", str(ROOT / "bench" / "detect" / "measure.c"), "-o", str(self.out / "measure")], check=True
        )
        names = self.options.kernel or sorted(SIZES)
        rows, columns = [], {}
        for name in names:
            best, own, samples = self.kernel(KERNELS / f"{name}.cc")
            alone = best["alone"]
            measured = {percent: (best[percent] / alone - 1) * 100 for percent in [0, *ASKED]}
            for percent, value in measured.items():
                columns.setdefault(percent, []).append(value)
            rows.append(
                [name, f"{alone / ((self.options.repeat + 1) // 2):.2f}", f"{best[0] / alone:.3f}"]
                + [
                    cell
                    for percent in ASKED
                    for cell in (
                        f"{measured[percent]:.2f}",
                        f"{statistics.mean(own[percent]):.2f}",
                        f"{statistics.mean(samples[percent]):.0f}",
                    )
                ]
            )
            print(f"{name}: done", file=sys.stderr, flush=True)
        means = {percent: statistics.median(values) for percent, values in columns.items()}
        rows.append(
            ["median", "", f"{1 + means[0] / 100:.3f}"]
            + [cell for percent in ASKED for cell in (f"{means[percent]:.2f}", "", "")]
        )
        print_table(
            ["kernel", "alone s", "0 samples ×"]
            + [cell for percent in ASKED for cell in (f"{percent} % asked: measured %", "own count %", "samples/s")],
            rows,
        )
        if means[0] > 1:
            self.failures.append(f"without samples {1 + means[0] / 100:.3f} times, more than 1.01")
        for percent in ASKED:
            if means[percent] > 1.5 * percent:
                self.failures.append(f"{percent} % asked, {means[percent]:.2f} % measured")

    # ---- 2. time to find -------------------------------------------------------------------------

    def time_to_find(self):
        rows = []
        for name, source, arguments in (
            ("counter", PROGRAMS / "counter.c", []),
            ("field", PROGRAMS / "cache.cc", []),
            ("rare write", HERE / "rare.cc", []),
        ):
            binary = str(self.compile(source))
            row = [name]
            for percent in (1, 5, 20, 50):
                found = []
                for seed in range(self.options.repeat):
                    seconds, data, _ = self.timed(
                        [
                            str(self.duress),
                            "collide",
                            "--halt",
                            f"--seed={seed}",
                            f"--overhead={percent}%",
                            "--duration=60s",
                            "--",
                            binary,
                            *arguments,
                        ]
                    )
                    found.append(seconds if data["races"] else math.inf)
                row.append(f"{statistics.median(found):.2f}")
            rows.append(row)
            print(f"{name}: done", file=sys.stderr, flush=True)
        print_table(["race", "1 %: s", "5 %: s", "20 %: s", "50 %: s"], rows)

    # ---- 3. promises -----------------------------------------------------------------------------

    def promise(self, text, good, needed, total):
        print(f"{text}: {good} of {total}", flush=True)
        if good < needed:
            self.failures.append(f"{text}: {good} of {total}, {needed} promised")

    def counters(self):
        for flags, named in (("-g", True), ("-g0", True), ("-g0 -s", False)):
            binary = str(self.compile(PROGRAMS / "counter.c", *flags.split()))
            good = 0
            for seed in range(20):
                _, data, done = self.timed([str(self.duress), "collide", f"--seed={seed}", "--", binary, "3"])
                variables = [race["variable"] for race in data["races"]]
                good += done.returncode == 66 and (not named or variables == ["counter"])
            self.promise(
                f"counter, gcc -O2 {flags}, 3 s, default overhead, found{' and named' if named else ''}", good, 19, 20
            )

    def silence(self):
        for flags in ("-g", "-g0"):
            binary = str(self.compile(PROGRAMS / "silent.cc", *flags.split()))
            good = 0
            for seed in range(100):
                _, data, done = self.timed(
                    [str(self.duress), "collide", f"--seed={seed}", "--overhead=20%", "--", binary, "50000"]
                )
                good += done.returncode == 0 and not data["races"]
            self.promise(f"locked, atomic and read-only sharing, {flags}, silent", good, 100, 100)

    def attach(self):
        binary = str(self.compile(PROGRAMS / "counter.c"))
        with subprocess.Popen([binary], stdout=subprocess.DEVNULL) as process:
            try:
                while len(os.listdir(f"/proc/{process.pid}/task")) < 3:
                    pass
                before, good = code_of(process.pid), 0
                for seed in range(100):
                    _, _, done = self.timed(
                        [
                            str(self.duress),
                            "collide",
                            f"--seed={seed}",
                            "--duration=100ms",
                            "--overhead=20%",
                            "-p",
                            str(process.pid),
                        ]
                    )
                    good += done.returncode in (0, 66) and process.poll() is None and code_of(process.pid) == before
                self.promise("attached and detached, the process goes on, its code is the same", good, 100, 100)
            finally:
                process.kill()


def code_of(pid):
    result = []
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            if " r-xp " in line and "/" in line:
                begin, end = (int(word, 16) for word in line.split()[0].split("-"))
                with open(f"/proc/{pid}/mem", "rb") as memory:
                    memory.seek(begin)
                    result.append(memory.read(end - begin))
    return result


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---|" + "---:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder of Duress")
    parser.add_argument("--kernel", action="append", choices=sorted(SIZES), help="only this one (may be repeated)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=6, help="rounds (default 6)")
    parser.add_argument("--quick", action="store_true", help="a quarter of the work")
    parser.add_argument("--only", choices=["overhead", "find", "done"], help="only this part")
    parser.add_argument("--done", action="store_true", help="the promises too")
    options = parser.parse_args()
    options.build = options.build.resolve()
    bench = Bench(options)
    if options.only in (None, "overhead"):
        bench.overhead()
    if options.only in (None, "find"):
        bench.time_to_find()
    if options.done or options.only == "done":
        bench.counters()
        bench.silence()
        bench.attach()
    for failure in bench.failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
