#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an analysis only suspects is handed to racefuzzer, which creates it for real or leaves it unconfirmed. Each
program says which: `// EXPECT TOOL: ...`."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "directed"


def verdict(tool, run):
    text = run.stdout + run.stderr
    if tool == "LockOrder":
        found = re.search(r"(\d+) deadlocks? suspected, (\d+) created", text)
        failed = "deadlock" in text and run.returncode == 66
        if not found or (int(found[2]) > 0) != failed:
            return f"exit code {run.returncode}: {text}"
        return f"{found[1]} suspected, {found[2]} created"
    found = re.search(r"\d+ racing access pairs? seen, (\d+) brought together", text)
    if not found:
        return f"exit code {run.returncode}: {text}"
    return "brought together" if int(found[1]) else "none brought together"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    checks = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for program in sorted(HERE.glob("*.cc")):
            subprocess.run(
                [build / "bin" / "duress-c++", "-g", "-O1", "-std=c++20", program, "-o", f"{scratch}/prog", "-pthread"],
                check=True,
            )
            for tool, expected in re.findall(r"// EXPECT (\w+): (.*)", program.read_text()):
                checks += 1
                run = subprocess.run(
                    [
                        build / "bin" / "duress",
                        "explore",
                        "-t",
                        tool,
                        "--strategy",
                        "racefuzzer",
                        "--runs",
                        "200",
                        "-j",
                        "1",
                        "--dir",
                        f"{scratch}/{program.stem}",
                        "--",
                        "./prog",
                    ],
                    cwd=scratch,
                    capture_output=True,
                    text=True,
                    timeout=300,
                )
                got = verdict(tool, run)
                if got != expected:
                    failed += 1
                    print(f"{program.name}: {tool}: {got}, expected {expected}")
    print(f"{checks} checks, {failed} failed")
    return 1 if failed or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
