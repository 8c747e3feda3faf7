# SPDX-License-Identifier: Apache-2.0
"""Programs that are two: the right half, and with -DWRONG the wrong one, whose head names the variable that it has a race
on (`// WRONG: NAME`, `*` and `|` as in tests/programs/run.py)."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from .cases import Failure, chosen, parser, report
from .tool import Tool

SKIPPED = 77
RUNS = 20  # of explore


def wanted_name(path):
    name = re.search(r"^// WRONG: (.*)$", path.read_text(), re.MULTILINE)[1]
    return re.compile("|".join(re.escape(part).replace(r"\*", ".*") for part in name.split("|")))


def document_of(command, binary, tool):
    """(exit code, document, text) of a command in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="duress-halves-") as scratch:
        written = pathlib.Path(f"{scratch}/report.json")
        words = [tool.duress, *command, f"--json={written}", "--dir", f"{scratch}/d", "--", binary]
        code, out, err = tool.run(words, scratch)
        text = (out + err).decode(errors="replace")
        if not written.exists():
            raise Failure(f"no report; ended with {code}\n{text}")
        return code, json.loads(written.read_text(encoding="utf-8")), text


def problem_of(document, name, wrong):
    """name: of the variable that the wrong half has a race on."""
    races = [race["variable"] for race in document["races"]]
    others = [race for race in races if not (wrong and name.fullmatch(race))]
    if others:
        return f"not expected: race on {', '.join(others)}"
    if wrong and not races:
        return f"missed: race on {name.pattern}"
    if not wrong and document.get("failures"):
        return "not expected: a failure"
    return None


def judged_run(path, binary, wrong, tool):
    """(problem, document, text) of `duress run`."""
    code, document, text = document_of(["run"], binary, tool)
    problem = problem_of(document, wanted_name(path), wrong)
    if not problem and code != (66 if wrong else 0):
        problem = "not the code that was expected"
    return problem and f"run ended with {code}: {problem}\n{text}", document, text


def judged_explore(path, binary, wrong, tool):
    """(problem, document, text) of `duress explore`. Its code says whether a run failed, not whether there is a race."""
    code, document, text = document_of(["explore", "--runs", str(RUNS), "-j", "1"], binary, tool)
    problem = problem_of(document, wanted_name(path), wrong)
    return problem and f"explore ended with {code}: {problem}\n{text}", document, text


def builds(tool, language, flags, source):
    """Whether a source can be built: what it includes and is linked with is installed."""
    words = [*tool.compiler(language == "c"), "-x", language, "-", *flags, "-o", "/dev/null"]
    return subprocess.run(words, input=source.encode(), capture_output=True, check=False).returncode == 0


def run_all(description, paths, fast, check, installed, missing):
    """The test: check(path, wrong, tool) for both halves of each program. Unless installed(tool) it is skipped."""
    options = parser(description).parse_args()
    tool = Tool(options.build, options.duress)
    if not installed(tool):
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
    found = chosen(sorted(paths), options.programs)
    if options.suite != "all":
        found = [path for path in found if (path.stem in fast) == (options.suite == "fast")]
    report(
        (f"{path.stem} {'wrong' if wrong else 'right'}", lambda p=path, w=wrong: check(p, w, tool))
        for path in found
        for wrong in (False, True)
    )
