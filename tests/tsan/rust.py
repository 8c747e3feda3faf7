#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rust programs, compiled by Debian's rustc (or the one on the PATH) with -Zsanitizer=thread as docs/manual/rust.md says.

What the head of each of rust/*.rs states must come out, without and with optimisation:

    // RACE: LINE LINE   `duress run` reports a race on these lines, and nothing else
    // SILENT            `duress run` reports nothing
    // UNCONFIRMED: WHY  what `duress run` reports is marked as unconfirmed
    // FAILS             `duress explore` finds the failing schedule, and `duress replay` shows it again

Stacks have names as the author wrote them, and the standard library's frames are not the program's.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import Failure, expect  # noqa: E402

SKIPPED = 77
FOLDER = pathlib.Path(__file__).resolve().parent / "rust"
RUSTC = "/usr/bin/rustc" if os.access("/usr/bin/rustc", os.X_OK) else shutil.which("rustc")


def flags():
    """By what the compiler knows: the runtime of its own and the check of libraries came with later versions."""
    version = subprocess.run([RUSTC, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = map(int, re.match(r"rustc (\d+)\.(\d+)", version).groups())
    later = ["-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer"] if (major, minor) >= (1, 90) else []
    return ["-g", "-Zsanitizer=thread", *later]


def built(source, level, tool, folder):
    binary = f"{folder}/{source.stem}"
    linker = ["-C", f"linker={tool.build}/bin/duress-cc", "-C", "link-arg=--tsan-objects"]
    words = [RUSTC, *flags(), *level, *linker, str(source), "-o", binary]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, cwd=folder
    )
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)}\n{done.stderr}")
    return binary


def command(tool, folder, *words):
    code, out, err = tool.run([str(tool.duress), *words], folder)
    return code, (out + err).decode(errors="replace")


def check_run(head, binary, tool, folder):
    report = pathlib.Path(folder) / "report.json"
    code, text = command(tool, folder, "run", f"--json={report}", "--", binary)
    races = json.loads(report.read_text())["races"]
    if head == "SILENT":
        expect(code == 0 and not races, f"run ended with {code}\n{text}")
    elif head.startswith("UNCONFIRMED"):
        expect(len(races) <= text.count("  unconfirmed: "), f"a race that is not marked\n{text}")
    else:
        lines = sorted(map(int, head.removeprefix("RACE: ").split()))
        sites = {tuple(sorted(site["line"] for site in race["sites"])) for race in races}
        expect(code == 66 and tuple(lines) in sites, f"run ended with {code}: {sites}\n{text}")
        for race in races:
            for site in race["sites"]:
                expect(
                    site["file"].endswith(".rs") and "/library/" not in site["file"], f"charged to the library\n{text}"
                )
                expect(not re.search(r"\$|::h[0-9a-f]{16}", site["function"]), f"a name that rustc made\n{text}")


def check_explore(binary, tool, folder):
    code, text = command(tool, folder, "explore", "--runs", "1000", "--seed", "1", "--dir", f"{folder}/d", "--", binary)
    found = re.search(r"exit code 101 \[(F-[0-9a-f]+)\]|replay: duress replay (F-[0-9a-f]+)", text)
    expect(code == 66 and found, f"explore ended with {code}\n{text}")
    name = found[1] or found[2]
    code, text = command(tool, folder, "replay", name, "--times", "3", "--dir", f"{folder}/d")
    expect(code == 66 and name in text, f"replay ended with {code}\n{text}")


def check(source, level, tool):
    head = re.search(r"^// (RACE: .*|SILENT|UNCONFIRMED: .*|FAILS)$", source.read_text(), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory(prefix="duress-rust-") as folder:
        binary = built(source, level, tool, folder)
        if head == "FAILS":
            check_explore(binary, tool, folder)
        else:
            check_run(head, binary, tool, folder)


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    if RUSTC is None:
        print("skipped: rustc is not installed")
        sys.exit(SKIPPED)
    harness.report(
        (f"{source.stem} {' '.join(level)}", lambda s=source, at=level: check(s, at, tool))
        for source in harness.chosen(sorted(FOLDER.glob("*.rs")), options.programs)
        for level in ([], ["-O"])
    )


if __name__ == "__main__":
    main()
