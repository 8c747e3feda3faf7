#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What detection costs: every kernel native, with ThreadSanitizer, Helgrind and Duress, in one table.

Repetitions are interleaved (A B C A B C ...), so that a slow phase of the machine hits all alike, and
the fastest counts. Helgrind runs a smaller size; its multiple is of native at that size. Memory
is the peak of the program itself. A second table gives the time per event for more and more threads.
"""
import argparse
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = ["-std=c++20", "-O2", "-g", "-pthread"]

# The size for --quick and for Helgrind (a few seconds there). The default size is in the kernel itself.
SMALL = {
    "block_compress": 60,
    "hash_map": 400000,
    "lufact": 500,
    "matrix_product": 400,
    "moldyn": 8,
    "montecarlo": 3000,
    "raytracer": 250,
    "read_tree": 2000000,
    "ring": 100000,
    "sor": 300,
    "sort": 1500000,
    "tsp": 14,
    "pipeline": 6000,
    "word_count": 25,
}
THREADS = [2, 8, 32, 128, 300]


class Bench:
    def __init__(self, options):
        self.options = options
        self.out = options.build / "bench" / "detect"
        self.out.mkdir(parents=True, exist_ok=True)
        self.duress = options.build / "bin" / "duress-c++"
        self.failures = []
        self.measure = self.out / "measure"
        subprocess.run(["clang-19", "-O2", str(HERE / "measure.c"), "-o", str(self.measure)], check=True)

    def compile(self, source, variant):
        output = self.out / f"{source.stem}.{variant}"
        compiler = {
            "native": ["clang++-19"],
            "tsan": ["clang++-19", "-fsanitize=thread"],
            "duress": [str(self.duress)],
        }[variant]
        subprocess.run([*compiler, *FLAGS, str(source), "-o", str(output)], check=True)
        return output

    def run(self, binary, variant, threads, size=None):
        """One run: (seconds, KiB, output)."""
        command = [str(binary), str(threads)] + ([str(size)] if size else [])
        env = {k: v for k, v in os.environ.items() if not k.startswith(("DURESS", "TSAN"))}
        with tempfile.TemporaryDirectory() as scratch:
            if variant == "helgrind":
                command = ["valgrind", "--tool=helgrind", "-q", f"--log-file={scratch}/log", *command]
            elif variant == "duress":
                env["DURESS_OPTIONS"] = f"log_dir={scratch}"
            result = f"{scratch}/result.txt"
            done = subprocess.run(
                [str(self.measure), result, *command],
                env=env,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            if not os.path.exists(result):
                raise SystemExit(f"cannot measure {binary}: {done.stderr}")
            seconds, memory, code = open(result).read().split()
            if code != "0":
                self.failures.append(f"{binary.name} ({variant}) ended with {code}: {done.stderr[:300]}")
            if variant == "duress":
                logs = list(pathlib.Path(scratch).glob("*.jsonl"))
                if not logs:
                    self.failures.append(f"{binary.name}: Duress did not wake up")
                elif any('"t":"race"' in line for log in logs for line in open(log, errors="replace")):
                    self.failures.append(f"{binary.name}: Duress reports a race; the kernels have none")
        return float(seconds), int(memory), done.stdout

    def kernel(self, source):
        binaries = {v: self.compile(source, v) for v in ("native", "tsan", "duress")}
        binaries["inert"] = binaries["duress"]
        size = SMALL[source.stem] if self.options.quick else None
        best, outputs = {}, {}
        for _ in range(1 if self.options.quick else self.options.repeat):
            for variant, binary in binaries.items():
                seconds, memory, output = self.run(binary, variant, self.options.threads, size)
                old = best.get(variant, (math.inf, 0))
                best[variant] = (min(old[0], seconds), max(old[1], memory))
                outputs.setdefault(output, []).append(variant)
        if len(outputs) != 1:
            self.failures.append(f"{source.stem}: answers differ: {outputs}")
        if self.options.helgrind:
            small = SMALL[source.stem]
            native = min(self.run(binaries["native"], "native", self.options.threads, small)[0] for _ in range(3))
            # valgrind 3.19 cannot read all of clang 19's debug information: a binary without it.
            stripped = self.out / f"{source.stem}.stripped"
            subprocess.run(["strip", "-g", "-o", str(stripped), str(binaries["native"])], check=True)
            seconds, memory, _ = self.run(stripped, "helgrind", self.options.threads, small)
            best["helgrind"] = (seconds / native * best["native"][0], memory)
        return best

    def per_event(self):
        source = HERE / "micro.cc"
        binaries = {v: self.compile(source, v) for v in ("native", "tsan", "duress")}
        size = 1 << (22 if self.options.quick else 25)
        table = {}
        for threads in THREADS:
            for _ in range(1 if self.options.quick else self.options.repeat):
                for variant, binary in binaries.items():
                    _, _, output = self.run(binary, variant, threads, size)
                    if output.startswith("ns/event"):
                        value = float(output.split()[1])
                        key = (threads, variant)
                        table[key] = min(table.get(key, math.inf), value)
        return table


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_table(head, rows, markdown):
    if markdown:
        print("| " + " | ".join(head) + " |")
        print("|---|" + "---:|" * (len(head) - 1))
        for row in rows:
            print("| " + " | ".join(row) + " |")
    else:
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        for row in [head, *rows]:
            print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))))
    print(flush=True)


def print_kernels(results, options):
    tools = ["tsan"] + (["helgrind"] if options.helgrind else []) + ["duress", "inert"]
    head = (
        ["kernel", "native s"]
        + [f"{t} ×" for t in tools]
        + ["native MB"]
        + [f"{t} MB" for t in tools if t != "inert"]
        + ["time ÷ tsan", "memory ÷ tsan"]
    )
    rows, columns = [], {}
    for name, best in results.items():
        native = best["native"][0]
        numbers = (
            [best[t][0] / native for t in tools]
            + [best[t][1] / 1024 for t in ["native"] + [t for t in tools if t != "inert"]]
            + [best["duress"][0] / best["tsan"][0], best["duress"][1] / best["tsan"][1]]
        )
        for i, number in enumerate(numbers):
            columns.setdefault(i, []).append(number)
        rows.append([name, f"{native:.2f}"] + format_numbers(numbers, len(tools)))
    means = [geometric_mean(columns[i]) for i in range(len(columns))]
    rows.append(["geometric mean", ""] + format_numbers(means, len(tools)))
    print_table(head, rows, options.markdown)


def format_numbers(numbers, multiples):
    last = len(numbers) - 2
    return [f"{n:.0f}" if multiples <= i < last else f"{n:.2f}" for i, n in enumerate(numbers)]


def main():
    names = sorted(p.stem for p in (HERE / "kernels").glob("*.cc"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder of Duress")
    parser.add_argument("--kernel", action="append", choices=names, help="only this one (may be repeated)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions; the fastest counts (default 3)")
    parser.add_argument("--quick", action="store_true", help="small sizes, one repetition")
    parser.add_argument("--no-helgrind", dest="helgrind", action="store_false")
    parser.add_argument("--no-threads-table", dest="events", action="store_false")
    parser.add_argument("--markdown", action="store_true", help="tables as in the README")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if options.helgrind and shutil.which("valgrind") is None:
        print("no valgrind here: without Helgrind", file=sys.stderr)
        options.helgrind = False
    bench = Bench(options)
    results = {}
    for name in options.kernel or names:
        results[name] = bench.kernel(HERE / "kernels" / f"{name}.cc")
        print(f"{name}: done", file=sys.stderr, flush=True)
    print_kernels(results, options)
    if options.events and not options.kernel:
        table = bench.per_event()
        variants = ["native", "tsan", "duress"]
        print_table(
            ["threads"] + [f"{v} ns/event" for v in variants],
            [[str(n)] + [f"{table.get((n, v), math.nan):.2f}" for v in variants] for n in THREADS],
            options.markdown,
        )
    for failure in bench.failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
