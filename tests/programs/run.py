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
  // FOREIGN-LIB: file.cc            the same, built without instrumentation and with FLAGS
  // PLUGIN: file.cc                 the same, but not linked: the program opens $PLUGIN by dlopen
  // SUITE: fast                     also part of the fast suite, at the last of its levels
  // EXPECT-VERDICT: ...             what duress classify says; checked by tests/classify, tests/papers
  // EXPECT-RATE: ... EXPECT-PAIR: ...  what the papers say; checked by tests/papers, tests/explore
  // EXPECT-VERIFY: ...              what duress verify says; checked by tests/verify
  // OTHER-TOOLS: differ (why)       --tool=tsan is expected to judge otherwise; not checked there

Exit code of `duress run`: 66 if a race is expected, else the program's own. The program is also
started by itself: it must then be inert and end as EXPECT-EXIT says.
"""
import json
import os
import pathlib
import re
import shlex
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import Failure  # noqa: E402

TIMEOUT = 120  # seconds: only a hang gets there


class Program:
    """One source file and what its header states."""

    def __init__(self, path):
        self.path = path
        self.races, self.libs, self.foreign, self.plugins, self.outputs = [], [], [], [], []
        self.exit, self.args, self.flags, self.levels = 0, [], [], ["-O0", "-O2"]
        self.no_race = self.fast = self.others_differ = False
        self.marks = {}
        text = path.read_text()
        for number, line in enumerate(text.splitlines(), 1):
            mark = re.search(r"// @(\w+)$", line)
            if mark:
                self.marks.setdefault(mark[1], set()).add(number)
        for key, value in harness.Statements(text):
            self.statement(key, value)
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
            self.levels = value.split()
        elif key == "LIB":
            self.libs.append(self.path.parent / value)
        elif key == "FOREIGN-LIB":
            self.foreign.append(self.path.parent / value)
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
            if not any(all(line in w for line, w in zip(lines, order)) for order in orders):
                return f"sites are at lines {lines}, expected @{' @'.join(self.marks)} {wanted}"
        return None


def check_output(program, out):
    for wanted in program.outputs:
        if wanted not in out:
            raise Failure(f"output lacks '{wanted}':\n{out}")


def check_inert(program, command, env, tool):
    code, out, err = run(command, env, tool)
    if code != program.exit:
        raise Failure(f"started by itself it ended with {code}, expected {program.exit}\n{out}{err}")
    check_output(program, out)


def check_duress(program, command, env, tool):
    with tempfile.TemporaryDirectory() as scratch:
        report = f"{scratch}/report.json"
        duress = [tool.duress, "run", f"--json={report}", "--dir", f"{scratch}/d", "--"]
        code, out, err = run(duress + command, env, tool)
        if not os.path.exists(report):
            raise Failure(f"no report; duress run ended with {code}\n{out}{err}")
        with open(report, encoding="utf-8") as file:
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
            sites = " / ".join(
                f"{s['access']} {s['function']} {os.path.basename(s['file'])}:{s['line']}" for s in race["sites"]
            )
            problems.append(f"not expected: race on {race['variable']}: {sites}")
    if problems:
        seen = sorted(f"{race['variable']} ({race['kind']})" for race in races)
        raise Failure("\n".join(problems) + f"\nreported: {seen}\n{err[-2000:]}")
    check_output(program, out)


def check_tsan(program, command, env, tool):
    if program.others_differ:
        return
    code, out, err = run(command, dict(env, TSAN_OPTIONS="exitcode=66"), tool)
    seen = "WARNING: ThreadSanitizer" in err
    if seen != bool(program.races):
        raise Failure(f"ThreadSanitizer {'reports' if seen else 'sees nothing'}\n{err[:3000]}")
    if not seen and code != program.exit:
        raise Failure(f"ended with {code}, expected {program.exit}\n{out}{err[:2000]}")


def run(command, env, tool):
    code, out, err = tool.run(command, None, timeout=TIMEOUT, env=env)
    return code, out.decode(errors="replace"), err.decode(errors="replace")


def built(program, level, tool):
    """The program, and the libraries that it opens itself."""
    linked = [tool.compile(path, level=level, library=True) for path in program.libs]
    for path in program.foreign:
        linked.append(tool.compile(path, program.flags, level, compiler=["clang++-19"], library=True))
    opened = [tool.compile(path, level=level, library=True) for path in program.plugins]
    more = [word for path in linked for word in (path, f"-Wl,-rpath,{path.parent}")]
    return tool.compile(program.path, [*program.flags, *more], level), opened


def check(program, level, tool):
    binary, plugins = built(program, level, tool)
    env = {"PLUGIN": str(plugins[0])} if plugins else {}
    command = [str(binary), *program.args]
    if tool.detector == "tsan":
        return check_tsan(program, command, env, tool)
    check_inert(program, command, env, tool)
    return check_duress(program, command, env, tool) if tool.detector == "duress" else None


def programs():
    """Below these folders; one with a build of its own is a project, not a set of programs."""
    for folder in (harness.ROOT / "tests/programs", harness.ROOT / "examples"):
        for path in sorted(folder.glob("*/*")):
            if (
                path.suffix in (".c", ".cc")
                and path.parent.name != "lib"
                and not (path.parent / "CMakeLists.txt").exists()
            ):
                yield path


def levels(program, options):
    found = [level for level in program.levels if not options.opt or level.lstrip("-") in options.opt]
    if options.suite == "fast":
        return found[-1:] if program.fast else []
    return found[:-1] if options.suite == "rest" and program.fast else found


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--tool", choices=["duress", "tsan", "native"], default="duress")
    parser.add_argument("--opt", action="append", help="only this level: O0, O2, ... (may be repeated)")
    options = parser.parse_args()
    tool = harness.Tool(options.build, options.duress, options.tool)
    found = [Program(path) for path in harness.chosen(programs(), options.programs)]
    harness.report(
        (f"{program.name()} {level}", lambda program=program, level=level: check(program, level, tool))
        for program in found
        for level in levels(program, options)
    )


if __name__ == "__main__":
    main()
