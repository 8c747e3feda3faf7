#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compiling with duress-cc costs: user CPU time and object size against clang, on files of programs from Debian's
sources and a file of library templates (tests/pass/programs/library.cc). -O2 -g for all.

Each file is compiled by every tool in turn, as often as --repeat says, and a tool's time is its best: other work on the
machine only makes it longer. A package that the mirror does not have is left out, by name.

Exit code 1 if one takes more than 2 times clang's time or 3 times its bytes (what is required).
"""
import argparse
import os
import pathlib
import subprocess
import sys

from packages import PACKAGES, Package

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TEMPLATES = Package(":", ".", ["library.cc"], ["-std=c++20"])
MOST_TIME, MOST_BYTES = 2.0, 3.0


class Bench:
    def __init__(self, options):
        self.options = options
        self.out = options.build / "bench" / "build"
        self.out.mkdir(parents=True, exist_ok=True)
        wrapper = str(options.build / "bin" / "duress-c")
        self.tools = {
            "clang": ("clang-19", "clang++-19", []),
            "tsan": ("clang-19", "clang++-19", ["-fsanitize=thread"]),
            "duress": (wrapper + "c", wrapper + "++", []),
            "run": (wrapper + "c", wrapper + "++", ["-fduress=run"]),
        }

    def compile(self, tool, package, folder, file):
        """Seconds of user CPU time, bytes of the object."""
        cc, cxx, more = self.tools[tool]
        compiler = cc if file.endswith(".c") else cxx
        output = self.out / f"{tool}.o"
        command = [compiler, *more, "-O2", "-g", "-w", *package.flags, "-c", file, "-o", output]
        process = subprocess.Popen([str(word) for word in command], cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise RuntimeError(f"{tool} cannot compile {folder / file}")
        return usage.ru_utime, output.stat().st_size

    def measure(self, package, folder):
        """By tool: seconds, bytes; of all files together."""
        total = {tool: [0.0, 0] for tool in self.tools}
        for file in package.files:
            best = {}
            for _ in range(self.options.repeat):
                for tool in self.tools:
                    seconds, size = self.compile(tool, package, folder, file)
                    best[tool] = min(seconds, best.get(tool, (seconds, size))[0]), size
            for tool, (seconds, size) in best.items():
                total[tool][0] += seconds
                total[tool][1] += size
        return total

    def fetch(self, name):
        """The source folder; None if the mirror does not have it."""
        sources = self.options.build / "real-unpacked" / name / "source"
        if not (sources / ".prepared").exists():
            run = [ROOT / "tests" / "real" / "run.sh", "--build", self.options.build, "--fetch-only", name]
            done = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0:
                print(f"{name}: left out: {done.stdout.strip() or 'cannot be fetched'}", flush=True)
                return None
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(PACKAGES[name].prepare, shell=True, cwd=sources, check=True, **quiet)
            (sources / ".prepared").touch()
        return sources


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", action="append", choices=["templates", *PACKAGES], help="may be repeated")
    options = parser.parse_args()
    options.build = options.build.resolve()
    bench = Bench(options)
    print(
        "| files | clang | ThreadSanitizer | duress | -fduress=run | object | ThreadSanitizer | duress | -fduress=run |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    over = []
    for name in options.only or ["templates", *PACKAGES]:
        if name == "templates":
            package, folder = TEMPLATES, ROOT / "tests" / "pass" / "programs"
        else:
            package, folder = PACKAGES[name], bench.fetch(name)
            if folder is None:
                continue
        total = bench.measure(package, folder / package.folder)
        ratio = {tool: [total[tool][i] / total["clang"][i] for i in (0, 1)] for tool in total}
        cells = [f"{total['clang'][0]:.2f} s", *(f"{ratio[tool][0]:.2f}" for tool in ("tsan", "duress", "run"))]
        cells += [f"{total['clang'][1] / 1e6:.2f} MB", *(f"{ratio[tool][1]:.2f}" for tool in ("tsan", "duress", "run"))]
        print(f"| {name} ({len(package.files)}) | " + " | ".join(cells) + " |", flush=True)
        if ratio["duress"][0] > MOST_TIME or ratio["duress"][1] > MOST_BYTES:
            over.append(name)
    if over:
        print(f"above {MOST_TIME} times the time or {MOST_BYTES} times the bytes: {', '.join(over)}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
