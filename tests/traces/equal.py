#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Online and offline findings are equal: every example is run controlled with a chain, and recorded in the same
execution (same seed) and analysed with the same chain. Where the head of a program expects a race there must be
findings to compare."""
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

# FastTrack alone runs on other code than chains do. The branches are what would else be a run each.
CHAINS = [
    "FastTrack",
    "ThreadLocal:ReadOnly:LockSet",
    "[DJIT+,HappensBefore,Goldilocks,JRF,MultiRace,Hybrid,RaceTrack,LockSet,FastTrack:Count]",
]


def findings(text):
    document = json.loads(text)

    def place(site):
        return (
            site["file"],
            site["line"],
            site["column"],
            site["function"],
            site["access"],
            site["thread"],
            tuple(site["locks"]),
        )

    def one(race):
        return (
            race.get("id"),
            race.get("what"),
            race.get("variable"),
            race.get("kind"),
            tuple(race.get("found_by", [])),
            tuple(place(site) for site in race["sites"]),
            race.get("count"),
        )

    return {
        key: sorted(map(one, document.get(key, [])), key=repr) for key in ("races", "potential_races", "suspicions")
    }


def counts(text):
    return sorted(re.findall(r"Count: .*", text))


SEEDS = ("1", "2", "3")  # the first that gives findings: a program may crash before it has raced


def compare(binary, seed, tool):
    """How many findings there were to compare."""
    compared = 0
    with tempfile.TemporaryDirectory(prefix="duress-equal-") as folder:
        folder = pathlib.Path(folder)
        controlled = ["--controlled", "--seed", seed]
        tool.run([tool.duress, "trace", "record", "-q", *controlled, "-o", "trace", "--", binary], folder)
        for chain in CHAINS:
            online, offline = folder / "online.json", folder / "offline.json"
            online.unlink(missing_ok=True)
            _, _, err = tool.run(
                [tool.duress, "run", *controlled, "-t", chain, f"--json={online}", "--", binary], folder
            )
            _, out, _ = tool.run([tool.duress, "trace", "analyze", "-t", chain, f"--json={offline}", "trace"], folder)
            of_run = findings(online.read_text()), counts(err.decode(errors="replace"))
            of_trace = findings(offline.read_text()), counts(out.decode(errors="replace"))
            compared += sum(len(found) for found in of_run[0].values())
            harness.expect(of_run == of_trace, f"{chain}: findings differ\nonline  {of_run}\noffline {of_trace}")
    return compared


def check(program, tool):
    binary = tool.compile(program, level="-O0")  # twice as fast to compile as -O1
    races = "EXPECT-RACE" in harness.Statements(program.read_text())
    harness.expect(
        any(compare(binary, seed, tool) for seed in (SEEDS if races else SEEDS[:1])) or not races,
        "no finding to compare",
    )


def main():
    options = harness.parser(__doc__).parse_args()
    tool = harness.Tool(options.build, options.duress)
    programs = [path for path in sorted((harness.ROOT / "examples").glob("*/*.cc")) if "int main" in path.read_text()]
    harness.report(
        (harness.case_of(path), lambda path=path: check(path, tool))
        for path in harness.chosen(programs, options.programs)
    )


if __name__ == "__main__":
    main()
