#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs small programs and compares what Duress says with what their header states.

The expected verdict is written in the program itself, in comment lines before the code:

  // EXPECT-NO-RACE                  nothing may be reported
  // EXPECT-RACE: NAME [KIND] [@a @b]
        a race on this variable must be reported, and none that is not expected. In NAME `*` stands
        for anything and `|` separates alternatives. KIND is write-write, write-read or read-write.
        @a and @b name the lines of the two sites: the lines that end in `// @a` and `// @b`.
  // EXPECT-EXIT: N | SIGNAME        the program's own end (default 0), here without Duress watching
  // EXPECT-OUTPUT: TEXT             its standard output contains TEXT
  // RUN-ARGS: ...   FLAGS: ...      arguments of the program, of the compiler
  // OPT: -O0 -O2                    optimisation levels (default these two)
  // LIB: file.cc                    built as shared library `file.so` beside the program and linked
  // PLUGIN: file.cc                 the same, but not linked: the program opens $PLUGIN by dlopen
  // SUITE: fast                     also part of the fast suite, at the last of its levels
  // EXPECT-VERDICT: ...             what duress classify says; checked by tests/classify, tests/papers
  // EXPECT-RATE: ... EXPECT-PAIR: ...  what the papers say; checked by tests/papers, tests/explore
  // EXPECT-VERIFY: ...              what duress verify says; checked by tests/verify
  // OTHER-TOOLS: differ (why)       --tool=tsan is expected to judge otherwise; not checked there

Exit code of `duress run`: 66 if a race is expected, else the program's own. The program is also
started by itself: it must then be inert and end as EXPECT-EXIT says.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

import precompiled

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUPPORT = ROOT / "examples" / "support"
TIMEOUT = 120  # seconds: only a hang gets there


class Program:
    """One source file and what its header states."""

    def __init__(self, path):
        self.path = path
        self.races, self.libs, self.plugins, self.outputs = [], [], [], []
        self.exit, self.args, self.flags, self.opts = 0, [], [], ["-O0", "-O2"]
        self.no_race = self.fast = self.others_differ = False
        self.marks = {}
        text = path.read_text()
        for number, line in enumerate(text.splitlines(), 1):
            mark = re.search(r"// @(\w+)$", line)
            if mark:
                self.marks.setdefault(mark[1], set()).add(number)
            match = re.match(r"//\s*([A-Z][A-Z-]+)(?::\s*(.*))?$", line)
            if match:
                self.statement(match[1], (match[2] or "").strip())
        if bool(self.races) == self.no_race:
            raise ValueError(f"{path}: needs either EXPECT-RACE or EXPECT-NO-RACE")

    def statement(self, key, value):
        if key == "EXPECT-RACE":
            self.races.append(Expected(value))
        elif key == "EXPECT-NO-RACE":
            self.no_race = True
        elif key == "EXPECT-EXIT":
            self.exit = -getattr(signal, value) if value.startswith("SIG") else int(value)
        elif key == "EXPECT-OUTPUT":
            self.outputs.append(value)
        elif key == "RUN-ARGS":
            self.args = shlex.split(value)
        elif key == "FLAGS":
            self.flags = shlex.split(value)
        elif key == "OPT":
            self.opts = value.split()
        elif key == "LIB":
            self.libs.append(self.path.parent / value)
        elif key == "PLUGIN":
            self.plugins.append(self.path.parent / value)
        elif key == "SUITE":
            self.fast = value == "fast"
        elif key == "OTHER-TOOLS":
            self.others_differ = True
        elif key in ("EXPECT-VERDICT", "EXPECT-VERDICT-LATER", "EXPECT-RATE", "EXPECT-PAIR", "EXPECT-VERIFY"):
            pass  # of other tests
        elif key.startswith(("EXPECT", "RUN")):
            raise ValueError(f"{self.path}: unknown statement {key}")

    def name(self):
        return f"{self.path.parent.name}/{self.path.name}"


class Expected:
    def __init__(self, text):
        words = text.split()
        self.marks = [w[1:] for w in words if w.startswith("@")]
        kinds = [w for w in words if w in ("write-write", "write-read", "read-write")]
        self.kind = kinds[0] if kinds else None
        self.text = " ".join(w for w in words if not w.startswith("@") and w not in kinds)
        parts = [re.escape(p.strip()).replace(r"\*", ".*") for p in self.text.split("|")]
        self.pattern = re.compile("|".join(f"(?:{p})" for p in parts))

    def matches_name(self, race):
        return self.pattern.fullmatch(race["variable"]) is not None

    def complaint(self, race, program):
        """Why a race with the right name is not the expected one, or None."""
        if self.kind and race["kind"] != self.kind:
            return f"kind is {race['kind']}, expected {self.kind}"
        lines = sorted(site["line"] for site in race["sites"])
        if self.marks:
            wanted = [program.marks.get(mark, set()) for mark in self.marks]
            orders = [wanted, wanted[::-1]]
            if not any(all(l in w for l, w in zip(lines, order)) for order in orders):
                return f"sites are at lines {lines}, expected @{' @'.join(self.marks)} {wanted}"
        return None


class Tool:
    """How to compile and run with one detector."""

    def __init__(self, name, build, out):
        self.name, self.build, self.out = name, build, out
        stamp = []
        if name == "duress":
            self.cc, self.cxx = [str(build / "bin/duress-cc")], [str(build / "bin/duress-c++")]
            parts = [build / "bin/duress-cc", *(build / "lib").rglob("*")]
            stamp = [(str(p), p.stat().st_mtime_ns) for p in sorted(parts) if p.is_file()]
        else:
            extra = ["-fsanitize=thread"] if name == "tsan" else []
            self.cc, self.cxx = ["clang-19", *extra], ["clang++-19", *extra]
        headers = [(p.name, p.read_bytes()) for p in sorted(SUPPORT.iterdir())]
        self.stamp = repr((stamp, headers)).encode()

    def compile(self, source, flags, output_stem):
        """Compiles unless the same source was compiled by the same compiler before."""
        is_c = source.suffix == ".c"
        command = (self.cc + ["-std=c11"]) if is_c else (self.cxx + ["-std=c++20"])
        command += ["-g", f"-I{SUPPORT}", "-pthread", str(source), *flags]
        key = hashlib.sha256(repr(command).encode() + source.read_bytes() + self.stamp).hexdigest()[:16]
        output = self.out / f"{output_stem}.{key}"
        if not output.exists():
            for old in self.out.glob(f"{output_stem}.*"):
                old.unlink(missing_ok=True)
            partial = f"{output}.tmp"
            if not is_c:
                command += precompiled.flags_for([word for word in command if word != str(source)], self.out, self.stamp)
            done = subprocess.run(command + ["-o", partial], capture_output=True, text=True)
            if done.returncode != 0:
                raise Failure(f"does not compile: {shlex.join(command)}\n{done.stderr}")
            os.rename(partial, output)
        return output

    def build_program(self, program, opt):
        stem = f"{program.path.parent.name}-{program.path.stem}{opt}"
        extra, plugins = list(program.flags) + [opt], []
        for library in program.libs + program.plugins:
            made = self.compile(library, ["-shared", "-fPIC", opt], f"{stem}-{library.stem}.so")
            if library in program.libs:
                extra += [str(made), f"-Wl,-rpath,{self.out}"]
            else:
                plugins.append(str(made))
        return self.compile(program.path, extra, stem), plugins


class Failure(Exception):
    pass


def run(command, env):
    """Runs to the end; its whole process group is ended on a hang."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                               stdin=subprocess.DEVNULL, start_new_session=True, text=True,
                               errors="replace")
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"no end within {TIMEOUT} s: {shlex.join(command)}")
    return process.returncode, out, err


def check_output(program, out):
    for wanted in program.outputs:
        if wanted not in out:
            raise Failure(f"output lacks '{wanted}':\n{out}")


def check_inert(program, command, env):
    code, out, err = run(command, env)
    if code != program.exit:
        raise Failure(f"started by itself it ended with {code}, expected {program.exit}\n{out}{err}")
    check_output(program, out)


def check_duress(program, command, env, tool):
    with tempfile.TemporaryDirectory() as scratch:
        report = f"{scratch}/report.json"
        duress = [str(tool.build / "bin/duress"), "run", f"--json={report}", "--dir", f"{scratch}/d", "--"]
        code, out, err = run(duress + command, env)
        if not os.path.exists(report):
            raise Failure(f"no report; duress run ended with {code}\n{out}{err}")
        with open(report) as file:
            document = json.load(file)
    problems = []
    own = 128 - program.exit if program.exit < 0 else program.exit
    wanted = 66 if program.races else own
    if code != wanted:
        problems.append(f"duress run ended with {code}, expected {wanted}")
    races = document["races"]
    for expected in program.races:
        named = [race for race in races if expected.matches_name(race)]
        complaints = [expected.complaint(race, program) for race in named]
        if not named:
            problems.append(f"missed: race on {expected.text}")
        elif all(complaints):
            problems.append(f"race on {expected.text}: {complaints[0]}")
    for race in races:
        if not any(expected.matches_name(race) for expected in program.races):
            sites = " / ".join(f"{s['access']} {s['function']} {os.path.basename(s['file'])}:{s['line']}"
                               for s in race["sites"])
            problems.append(f"not expected: race on {race['variable']}: {sites}")
    if problems:
        seen = sorted(f"{race['variable']} ({race['kind']})" for race in races)
        raise Failure("\n".join(problems) + f"\nreported: {seen}\n{err[-2000:]}")
    check_output(program, out)


def check_tsan(program, command, env):
    if program.others_differ:
        return
    code, out, err = run(command, dict(env, TSAN_OPTIONS="exitcode=66"))
    seen = "WARNING: ThreadSanitizer" in err
    if seen != bool(program.races):
        raise Failure(f"ThreadSanitizer {'reports' if seen else 'sees nothing'}\n{err[:3000]}")
    if not seen and code != program.exit:
        raise Failure(f"ended with {code}, expected {program.exit}\n{out}{err[:2000]}")


def check(program, opt, tool):
    try:
        binary, plugins = tool.build_program(program, opt)
        env = dict(os.environ)
        env.pop("DURESS_OPTIONS", None)
        if plugins:
            env["PLUGIN"] = plugins[0]
        command = [str(binary), *program.args]
        if tool.name == "tsan":
            check_tsan(program, command, env)
        else:
            check_inert(program, command, env)
            if tool.name == "duress":
                check_duress(program, command, env, tool)
        return program, opt, None
    except Failure as failure:
        return program, opt, str(failure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path, help="programs, or folders of programs")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder of Duress")
    parser.add_argument("--tool", choices=["duress", "tsan", "native"], default="duress")
    parser.add_argument("--suite", choices=["fast", "all"], default="all")
    parser.add_argument("--opt", action="append", help="only this level: O0, O2, ... (may be repeated)")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("-v", action="store_true", help="name the programs that pass, too")
    options = parser.parse_args()
    files = []
    for path in options.paths:
        inside = sorted(f for f in path.rglob("*") if f.suffix in (".c", ".cc")) if path.is_dir() else [path]
        # A folder with a build of its own is a project, not a set of programs.
        files += [f.resolve() for f in inside
                  if f.parent.name != "lib" and (f.parent == path or not (f.parent / "CMakeLists.txt").exists())]
    programs = [Program(f) for f in files]
    out = options.build.resolve() / "tests" / "expectations" / options.tool
    out.mkdir(parents=True, exist_ok=True)
    tool = Tool(options.tool, options.build.resolve(), out)
    jobs = []
    for program in programs:
        if options.suite == "fast":
            jobs += [(program, program.opts[-1])] if program.fast else []
        else:
            jobs += [(program, opt) for opt in program.opts if not options.opt or opt.lstrip("-") in options.opt]
    failed = 0
    if not jobs:
        sys.exit("run_expectations.py: nothing to check: no program of these paths is in this suite at this level")
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for program, opt, problem in pool.map(lambda job: check(*job, tool), jobs):
            if problem:
                failed += 1
                indented = problem.rstrip().replace("\n", "\n    ")
                print(f"FAIL {program.name()} {opt}\n    {indented}", flush=True)
            elif options.v:
                print(f"ok   {program.name()} {opt}", flush=True)
    print(f"{len(jobs)} checks of {len({p for p, _ in jobs})} programs with {options.tool}: {failed} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
