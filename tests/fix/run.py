#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress fix --apply` on programs with the commonest bugs: what it writes compiles, passes and is verified.

  // FIX: TEXT        what is proposed begins so
  // FIX-FLAGS: ...   options of duress verify

Each program is copied, built, verified (which must find a race), fixed, built again from the changed source without a
warning, run, and verified once more: no race and no failure in any interleaving. A source that has changed since is left
alone.
"""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402


def build(tool, source):
    is_c = source.suffix == ".c"
    command = [*tool.compiler(is_c), "-std=c11" if is_c else "-std=c++20", "-g", "-O1", "-Wall", "-Werror", "-pthread"]
    command += ["-fuse-ld=lld", source.name, "-o", source.stem]
    ended = subprocess.run(command, cwd=source.parent, capture_output=True, text=True, check=False)
    harness.expect(ended.returncode == 0, f"{source.name} does not compile: {ended.stderr[:1000]}")


def duress(tool, folder, *words, code=0, text=""):
    ended = subprocess.run(
        [tool.duress, *words],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=harness.TIMEOUT,
        check=False,
        env=tool.env,
    )
    harness.expect(
        ended.returncode == code, f"duress {' '.join(words)}: {ended.returncode}: {ended.stderr}{ended.stdout[:500]}"
    )
    return ended


def verified(tool, folder, name, flags, code):
    ended = duress(tool, folder, "verify", "--json", "-j", "2", "--dir", "found", *flags, "--", f"./{name}", code=code)
    return harness.valid(json.loads(ended.stdout))


def problems_of(path, tool):
    stated = dict(harness.Statements(path.read_text()))
    flags = stated.get("FIX-FLAGS", "").split()
    folder = tool.build / "tests/fix" / path.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = folder / path.name
    shutil.copy(path, source)
    build(tool, source)
    document = verified(tool, folder, path.stem, flags, 66)
    advice = document.get("advice", {})
    if not advice.get("text", "").startswith(stated["FIX"]):
        yield f"proposed is '{advice.get('text')}', not '{stated['FIX']}'"
    if "diff" not in advice:
        yield f"there is no diff for '{advice.get('text')}'"
        return
    finding = [*document["races"], *document["failures"]][0]["id"]
    before = source.read_text()
    source.write_text(before + "// changed since\n")
    duress(tool, folder, "fix", finding, "--dir", "found", "--apply", "--no-check", code=125)
    if source.read_text() != before + "// changed since\n":
        yield "a file that has changed since was written over"
    source.write_text(before)
    asked = duress(tool, folder, "fix", finding, "--dir", "found", "--interactive", "--no-check", text="n\n")
    if "apply it? [y/N]" not in asked.stderr or source.read_text() != before:
        yield f"a 'n' did not leave the file alone: {asked.stderr}"
    said = duress(tool, folder, "fix", finding, "--dir", "found", "--apply").stderr
    if "built with the change and verified" not in said:
        yield f"the fix was applied unchecked: {said}"
    build(tool, source)
    code = subprocess.run([f"./{path.stem}"], cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode
    if code != 0:
        yield f"the fixed program ends with {code}"
    fixed = verified(tool, folder, path.stem, flags, 0)
    if not fixed["complete"]:
        yield f"the fixed program is not proved: {fixed.get('bound')}"


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    paths = sorted((pathlib.Path(__file__).parent / "programs").glob("*.c*"))
    harness.report(
        (harness.case_of(path), lambda path=path: problems_of(path, tool))
        for path in harness.chosen(paths, options.programs)
    )


if __name__ == "__main__":
    main()
