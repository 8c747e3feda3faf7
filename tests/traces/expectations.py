#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text traces say in their head what each analysis warns of: `# expect TOOL[, TOOL]: LINE on NAME[, ...]` or
`none`. `# steps TOOL: TEXT` is a line that `--steps` prints, in this order."""
import argparse
import pathlib
import re
import subprocess
import sys


def warnings_of(duress, chain, trace):
    run = subprocess.run([duress, "trace", "analyze", "-t", chain, trace], capture_output=True, text=True)
    if run.stderr or run.returncode not in (0, 66):
        raise RuntimeError(f"{trace}: {run.stderr}")
    found = set()
    for line in run.stdout.splitlines():
        match = re.match(r".*:(\d+): warning: .*? on (\S+) \[", line) or re.match(
            r".*:(\d+): warning: .*?\((\S+)\) \[", line
        )
        found.add(f"{match[1]} on {match[2]}" if match else re.match(r".*:(\d+): warning", line)[1])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    duress = options.build / "bin" / "duress"
    checks = failed = 0
    for trace in sorted(options.folder.glob("*.rapid")):
        text, steps = trace.read_text(), {}
        for tools, wanted in re.findall(r"^# expect (.*?): (.*)$", text, re.M):
            expected = set() if wanted == "none" else {w.strip() for w in wanted.split(",")}
            for tool in tools.split(", "):
                checks += 1
                found = warnings_of(duress, tool, trace)
                if found != expected:
                    failed += 1
                    print(f"{trace.name}: {tool}: found {sorted(found)}, expected {sorted(expected)}")
        for tool, line in re.findall(r"^# steps (\S+): (.*)$", text, re.M):
            steps.setdefault(tool, []).append(line)
        for tool, lines in steps.items():
            checks += 1
            run = subprocess.run(
                [duress, "trace", "analyze", "-t", tool, "--steps", trace], capture_output=True, text=True
            )
            printed = [" ".join(line.split()) for line in run.stdout.splitlines() if " h(" in line]
            if printed != lines:
                failed += 1
                print(f"{trace.name}: {tool} --steps printed\n  " + "\n  ".join(printed))
    print(f"{checks} checks, {failed} failed")
    return 1 if failed or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
