#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsan_suite.py --build DIR --suite compiler-rt/test/tsan [--tsan] [NAME...]: ThreadSanitizer's own test programs under `duress run`.

The programs state in RUN and CHECK lines how they are compiled and whether a data race is to be reported. Judged is exactly that:
a race where one is wanted, none where none is wanted, and that the program ends. Left out are programs that need ThreadSanitizer's
interface, options or suppressions, and those about other reports than data races (locks in the wrong order, thread leaks). --tsan
runs ThreadSanitizer instead, to check this script. Files that may be judged otherwise are in KNOWN, with the reason.
"""
import argparse
import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 300  # seconds: only a hang gets there
TRIES = 5

# What a program may not contain: ThreadSanitizer's interface, other languages' memory, blocks.
INTERFACE = re.compile(
    r"__tsan_(?!testonly_barrier)|__sanitizer|Annotate|ANNOTATE_|java\.h|custom_mutex\.h|bench\.h|interface\.h"
)
OPTIONS = re.compile(r"%env_tsan_opts=(\S+)")
HARMLESS_OPTIONS = {
    "atexit_sleep_ms",
    "flush_memory_ms",
    "flush_symbolizer_ms",
    "memory_limit_mb",
    "suppress_equal_stacks",
}
WANTED = re.compile(r"CHECK[\w-]*:.*ThreadSanitizer: (.*)")
RACE = re.compile(r"data race|heap-use-after-free")

# File name: why Duress may judge it otherwise.
KNOWN = {
    "mutex_robust2.cpp": "the lock orders; the program itself calls the wanted report false",
    "stack_sync_reuse.cpp": "there is a race, says the program itself, which ThreadSanitizer cannot see",
    "race_on_barrier2.c": "POSIX lets the thread that is told to destroy a barrier do so",
    "free_race2.c": "a use after free by one thread: no race",
    "malloc_stack.cpp": "missed: the allocation of a block is no access that its uses are compared with",
}


class Case:
    """One program: how to compile and start it, and whether a race is wanted."""

    def __init__(self, path):
        self.path, self.compiles, self.runs = path, [], []
        text = path.read_text(errors="replace")
        self.skipped = self.why_not(text)
        if self.skipped:
            return
        lines = re.sub(r"\\\n\s*//\s*RUN:", " ", text)
        for line in re.findall(r"RUN:(.*)", lines):
            for command in line.split("&&"):
                self.command(command.strip())
        wanted = [match[1] for match in WANTED.finditer(text) if "NOT" not in match[0].split(":")[0]]
        self.race = any(RACE.search(kind) for kind in wanted) or (not wanted and "%deflake" in text)
        if wanted and not self.race:
            self.skipped = "is about: " + wanted[0]
        if not self.compiles or not self.runs:
            self.skipped = "compiles or runs nothing by itself"

    @staticmethod
    def why_not(text):
        if INTERFACE.search(text):
            return "needs ThreadSanitizer's interface"
        for options in OPTIONS.findall(text):
            if {part.split("=")[0] for part in options.split(":")} - HARMLESS_OPTIONS:
                return "needs ThreadSanitizer's options"
        if re.search(r"syscall\.h|rpc/types\.h|__interceptor", text):
            return "needs ThreadSanitizer's interface, or headers that are not there"
        if re.search(r"RUN:.*(-mllvm|-fsanitize-ignorelist|-fno-sanitize|llvm-objdump|\.supp|prefix=CHECK-RACE)", text):
            return "needs ThreadSanitizer's flags"
        if re.search(r"UNSUPPORTED:.*linux|REQUIRES:.*darwin", text):
            return "is not for Linux"
        return None

    def command(self, text):
        match = re.match(r"%clang(xx)?_tsan\s+(.*)", text)
        if match:
            self.compiles.append((bool(match[1]) or self.path.suffix == ".cpp", match[2]))
        match = re.search(r"%run %t([^|>]*)", text)
        if match and "%run" in text:
            self.runs.append(match[1].replace("2>&1", "").strip())


class Judge:
    """Compiles and runs cases, with Duress or with ThreadSanitizer."""

    def __init__(self, build, suite, tsan):
        self.build, self.suite, self.tsan = build, suite, tsan
        self.includes = [f"-I{suite}", f"-I{suite.parent}"]

    def compiler(self, cxx):
        if self.tsan:
            return ["clang++-19" if cxx else "clang-19", "-fsanitize=thread"]
        return [str(self.build / "bin" / ("duress-c++" if cxx else "duress-cc"))]

    def compile(self, case, folder):
        """None, or what the compiler says."""
        program = folder / "program"
        commands = []
        barrier = [] if self.tsan else [str(folder / "barrier.o")]
        if barrier:
            commands.append(self.compiler(False) + ["-c", str(HERE / "invisible_barrier.c"), "-o", *barrier])
        for cxx, arguments in case.compiles:
            arguments = re.sub(r"%(link_libcxx_tsan|darwin_min_target_with_tls_support|ld_flags\w*)", "", arguments)
            words = shlex.split(arguments.replace("%s", str(case.path)).replace("%t", str(program)))
            extra = [] if "-c" in words else barrier + ["-pthread", "-ldl"]
            commands.append(self.compiler(cxx) + ["-g", "-w"] + self.includes + words + extra)
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
            if done.returncode:
                return done.stderr[-500:]
        return None

    def run(self, case):
        """None if the case is judged right, else what is wrong."""
        with tempfile.TemporaryDirectory(prefix="tsan-suite-") as name:
            folder = pathlib.Path(name)
            problem = self.compile(case, folder)
            if problem:
                return "does not compile: " + problem
            found = False
            # Races of the suite may need several tries, there up to ten.
            for arguments in case.runs * (TRIES if case.race else 1):
                if found:
                    break
                command = [str(folder / "program")] + shlex.split(arguments)
                if not self.tsan:
                    command = [
                        str(self.build / "bin/duress"),
                        "run",
                        "-q",
                        "--dir",
                        str(folder / "record"),
                        "--",
                    ] + command
                try:
                    done = subprocess.run(command, capture_output=True, cwd=folder, timeout=TIMEOUT)
                except subprocess.TimeoutExpired:
                    return "does not end"
                if done.returncode == 125 or (done.returncode < 0 and not self.tsan):
                    return f"exit code {done.returncode}: {done.stderr[-300:].decode(errors='replace')}"
                found = found or done.returncode == 66
        if found == case.race:
            return None
        return "MISSED" if case.race else "FALSE ALARM"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--suite", type=pathlib.Path, required=True)
    parser.add_argument("--tsan", action="store_true")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    suite = options.suite.resolve()
    files = sorted([*suite.glob("*.c"), *suite.glob("*.cpp"), *suite.glob("Linux/*.c"), *suite.glob("Linux/*.cpp")])
    cases = [Case(path) for path in files if not options.names or path.stem in options.names]
    judge = Judge(options.build.resolve(), suite, options.tsan)
    chosen = [case for case in cases if not case.skipped]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for case, problem in zip(chosen, pool.map(judge.run, chosen)):
            known = KNOWN.get(case.path.name)
            if problem:
                print(f"{case.path.name}: {problem}" + (f" (known: {known})" if known else ""), flush=True)
                wrong += not known
    right = len(chosen) - wrong
    print(f"{len(files)} programs, {len(cases) - len(chosen)} left out; {right} of {len(chosen)} right or known")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
