#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Online and offline findings are equal: every program below a folder is run controlled with a chain, and
recorded in the same execution (same seed) and analysed with the same chain."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# FastTrack alone runs on other code than chains do. The branches are what would else be a run each.
CHAINS = ["FastTrack", "ThreadLocal:ReadOnly:LockSet",
          "[DJIT+,HappensBefore,Goldilocks,JRF,MultiRace,Hybrid,RaceTrack,LockSet,FastTrack:Count]"]

# What nearly every program includes, compiled once.
HEADERS = ["atomic", "cstdio", "cstdlib", "mutex", "thread", "vector"]


def findings(text):
    document = json.loads(text)

    def place(site):
        return (site["file"], site["line"], site["column"], site["function"], site["access"], site["thread"],
                tuple(site["locks"]))

    def one(race):
        return (race.get("id"), race.get("what"), race.get("variable"), race.get("kind"),
                tuple(race.get("found_by", [])), tuple(place(site) for site in race["sites"]), race.get("count"))

    return {key: sorted(map(one, document.get(key, [])), key=repr)
            for key in ("races", "potential_races", "suspicions")}


def counts(text):
    return sorted(re.findall(r"Count: .*", text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.build = options.build.resolve()
    duress, compiler = options.build / "bin" / "duress", options.build / "bin" / "duress-c++"
    programs = sorted(p for folder in options.folders for p in folder.rglob("*.cc")
                      if options.only in str(p) and "int main" in p.read_text())
    failed = compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "headers.h").write_text("".join(f"#include <{name}>\n" for name in HEADERS))
        compile_with = [compiler, "-g", "-O0", "-std=c++20", "-pthread"]  # twice as fast to compile as -O1
        subprocess.run([*compile_with, "-x", "c++-header", scratch / "headers.h", "-o", scratch / "headers.pch"], check=True)
        for program in programs:
            binary, trace = scratch / "program", scratch / "trace"
            include = ["-I", str(program.parents[1] / "support"), "-I", str(program.parent)]
            subprocess.run([*compile_with, "-include-pch", scratch / "headers.pch", *include, program, "-o", binary], check=True)
            common = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "cwd": scratch, "timeout": 300}
            subprocess.run([duress, "trace", "record", "-q", "--controlled", "-o", trace, "--", binary], **common)
            for chain in CHAINS:
                document = scratch / "online.json"
                document.unlink(missing_ok=True)
                run = subprocess.run([duress, "run", "--controlled", "-t", chain, f"--json={document}", "--", binary], **common)
                online = findings(document.read_text()), counts(run.stderr)
                analyzed = subprocess.run([duress, "trace", "analyze", "-t", chain, "--json=" + str(scratch / "off.json"), trace], **common)
                offline = findings((scratch / "off.json").read_text()), counts(analyzed.stdout)
                compared += sum(len(found) for found in online[0].values())
                if online != offline:
                    failed += 1
                    print(f"{program}: {chain}: findings differ\n  online  {online}\n  offline {offline}")
    print(f"{len(programs)} programs, {len(CHAINS)} chains: {compared} findings compared, {failed} differences")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
