#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress fix --apply` on programs with the commonest bugs: what it writes compiles, passes and is verified.

  // FIX: TEXT            what is proposed begins so
  // FIX-FLAGS: ...       options of duress verify
  // FIX-REFUSED: TEXT    the change cannot be written; why, and no file is touched
  // FIX-SCHEDULES:       too large to be explored: `duress classify --advice` proposes, and checks by schedules

A folder of the program's name holds its other files. Each program is copied, built, verified (which must find a race), fixed, built again from the changed source without a
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
    sources = sorted(path.name for path in source.parent.glob("*" + source.suffix))
    command = [*tool.compiler(is_c), "-std=c11" if is_c else "-std=c++20", "-g", "-O1", "-Wall", "-Werror", "-pthread"]
    command += ["-fuse-ld=lld", *sources, "-o", source.stem]
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


def sources_in(folder):
    """The text of every file but the program and the record."""
    return {path.name: path.read_text() for path in folder.glob("*.*") if path.is_file()}


def problems_of_refused(tool, folder, document, why):
    before = sources_in(folder)
    said = duress(tool, folder, "fix", document["races"][0]["id"], "--dir", "found", "--apply", code=1).stderr
    if "cannot write this change" not in said or why not in said:
        yield f"why it is refused is not said: {said}"
    if sources_in(folder) != before:
        yield "a file was changed"


def problems_of_large(tool, folder, name, fix):
    """What cannot be explored is never called verified: it was run so many times."""
    words = ["classify", "--advice", "--runs", "10", "--json", "--dir", "found", "--", f"./{name}"]
    document = harness.valid(json.loads(duress(tool, folder, *words, code=66).stdout))
    found = document["races"][0].get("fix", {})
    if not found.get("text", "").startswith(fix) or "passed" in found or found.get("schedules", 0) < 500:
        yield f"proposed is {found}, not '{fix}' with its schedules"
        return
    said = duress(tool, folder, "fix", document["races"][0]["id"], "--dir", "found", "--apply").stderr
    if f"checked: {found['schedules']:,} schedules, no race, no failure; not proved" not in said:
        yield f"how it was checked is not said: {said}"
    if "without a race or a failure; not proved" not in said or "verified" in said:
        yield f"the fix was applied unchecked, or is said to be proved: {said}"
    build(tool, next(folder.glob(f"{name}.c*")))
    code = subprocess.run([f"./{name}"], cwd=folder, stdout=subprocess.DEVNULL, check=False).returncode
    if code != 0:
        yield f"the fixed program ends with {code}"
    duress(tool, folder, "classify", "--runs", "10", "--fail-on", "race", "--dir", "again", "--", f"./{name}")


def problems_of(path, tool):
    stated = dict(harness.Statements(path.read_text()))
    flags = stated.get("FIX-FLAGS", "").split()
    folder = tool.build / "tests/fix" / path.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = folder / path.name
    for copied in [path, *path.with_suffix("").glob("*")]:
        shutil.copy(copied, folder)
    build(tool, source)
    if "FIX-SCHEDULES" in stated:
        yield from problems_of_large(tool, folder, path.stem, stated["FIX"])
        return
    document = verified(tool, folder, path.stem, flags, 66)
    advice = document.get("advice", {})
    if not advice.get("text", "").startswith(stated["FIX"]):
        yield f"proposed is '{advice.get('text')}', not '{stated['FIX']}'"
    if "FIX-REFUSED" in stated:
        yield from problems_of_refused(tool, folder, document, stated["FIX-REFUSED"])
        return
    if "diff" not in advice:
        yield f"there is no diff for '{advice.get('text')}'"
        return
    finding = [*document["races"], *document["failures"]][0]["id"]
    # The last file of the change has changed since: none may be touched.
    changed = folder / [line[6:] for line in advice["diff"].splitlines() if line.startswith("+++ b/")][-1]
    whole = changed.read_text()
    changed.write_text(whole + "// changed since\n")
    before = sources_in(folder)
    duress(tool, folder, "fix", finding, "--dir", "found", "--apply", "--no-check", code=125)
    if sources_in(folder) != before:
        yield "a file was written although one has changed since"
    changed.write_text(whole)
    before = sources_in(folder)
    asked = duress(tool, folder, "fix", finding, "--dir", "found", "--interactive", "--no-check", text="n\n")
    if "apply it? [y/N]" not in asked.stderr or sources_in(folder) != before:
        yield f"a 'n' did not leave the file alone: {asked.stderr}"
    changed.chmod(0o640)
    said = duress(tool, folder, "fix", finding, "--dir", "found", "--apply").stderr
    if changed.stat().st_mode & 0o777 != 0o640:
        yield "the permissions of the file have changed"
    if set(sources_in(folder)) != set(before):
        yield f"files were left behind: {sorted(sources_in(folder))}"
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
