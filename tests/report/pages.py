#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports as others read them: pages in Chromium, SARIF against its published schema, XML with libxml2.

Needs chromium and npm; what npm installs has exact versions (page/package.json) and goes into the build folder.
`--screens DIR` only makes the pictures that docs/ shows.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import sys
import unittest

from hostile import ATTACK, hostile_document
from page_tools import PAGE, ROOT, Tools, run

MOST_BYTES = 20 << 20
ABBA = """#include <mutex>
#include <thread>
std::mutex accounts, journal;
int total;
void transfer() { std::lock_guard a(accounts); std::lock_guard j(journal); ++total; }
void report() { std::lock_guard j(journal); std::lock_guard a(accounts); ++total; }
int main() {
  std::thread a(transfer), b(report);
  a.join(), b.join();
}
"""
ARGS = None


def deadlock(tools):
    """The folder in which a program that locks two mutexes in different orders was explored."""
    folder = tools.folder / "deadlock"
    if not folder.exists():
        folder.mkdir()
        (folder / "abba.cc").write_text(ABBA)
        run(tools.compiler, "-g", "-O1", "-std=c++20", "-pthread", "abba.cc", "-o", "abba", cwd=folder)
    run(tools.duress, "explore", "--runs", "300", "--html", "report.html", "--", "./abba", cwd=folder, code=66)
    return folder


def covered(tools):
    """The page and the document of a campaign with coverage, compared with an earlier one; with 60 pairs in one order."""
    folder = tools.folder / "coverage"
    if not folder.exists():
        folder.mkdir()
        source = ROOT / "tests/explore/coverage.cc"
        run(tools.compiler, "-g", "-O1", "-std=c++20", "-pthread", source, "-o", "flag", cwd=folder)
    shutil.rmtree(folder / ".duress", ignore_errors=True)
    for runs in ("1", "100"):
        words = ["--coverage", "--runs", runs, "--json=seen.json", "--html", "report.html", "--", "./flag", "ordered"]
        run(tools.duress, "explore", *words, cwd=folder)
    document = json.loads((folder / "seen.json").read_text())
    pairs = document["coverage"]["pairs"]
    first = next(pair for pair in pairs if not pair["both"])
    for line in range(1, 61):
        pairs.append(dict(first, first=dict(first["first"], line=line)))
    (folder / "many.json").write_text(json.dumps(document))
    run(tools.duress, "report", "--from", "many.json", "--html", "many.html", "--editor", "none", cwd=folder)
    return folder / "many.html", document


def compared(tools, demo, *words):
    """The page of the demo, compared with a document from before: nothing judged, and one race on another variable."""
    run(tools.duress, "run", "--dir", "before", "--json=before.json", "--", "./point", cwd=demo, code=66)
    document = json.loads((demo / "before.json").read_text())
    for race in document["races"]:
        if race["variable"] == "Point::y":
            race.update(id="R-9999", variable="Point::z", title="data race on Point::z")
    (demo / "before.json").write_text(json.dumps(document))
    run(tools.duress, "report", "--compare", "before.json", "--html", "compared.html", *words, cwd=demo)
    return demo / "compared.html"


class PagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tools = Tools(ARGS.build)
        cls.demo = cls.tools.demo()
        cls.out = cls.tools.folder / "out"
        cls.out.mkdir(exist_ok=True)

    def report(self, *words, cwd=None):
        return run(self.tools.duress, "report", *words, cwd=cwd or self.demo)

    def hostile(self, *words):
        path = self.out / "hostile.json"
        text = json.dumps(hostile_document(), ensure_ascii=False).encode("utf-8", "surrogatepass")
        path.write_bytes(text)
        return self.report("--from", path, "--no-replay", *words)

    def test_types(self):
        """The modules of the page, with the types of their comments."""
        config = json.loads((PAGE / "tsconfig.json").read_text())
        config["include"] = [str(ROOT / "src/report/html/*.js")]
        path = self.tools.folder / "tsconfig.json"
        path.write_text(json.dumps(config))
        run("node", self.tools.modules / "typescript/bin/tsc", "-p", path)

    def test_demo(self):
        page = self.out / "demo.html"
        self.report("--html", page)
        self.assertLess(page.stat().st_size, 1 << 20)
        copied = self.tools.node("demo.mjs", page)["copied"]
        self.assertRegex(copied, r"^duress replay R-[0-9a-f]+$")
        # What the button copied is what shows the failure again.
        env = dict(os.environ, PATH=f"{self.tools.duress.parent}:{os.environ['PATH']}")
        done = run("sh", "-c", copied, cwd=self.demo, env=env, code=66)
        self.assertIn("exit code 1", done.stderr.decode())

    def test_the_cycle_of_a_deadlock(self):
        folder = deadlock(self.tools)
        self.tools.node("deadlock.mjs", folder / "report.html", folder.resolve())

    def test_a_comparison(self):
        self.tools.node("comparison.mjs", compared(self.tools, self.demo, "--editor", "none"))

    def test_coverage(self):
        page, document = covered(self.tools)
        rows = [f"{one['name']}|{one['both']} of {one['pairs']}" for one in document["coverage"]["kinds"]]
        single = sum(not pair["both"] for pair in document["coverage"]["pairs"])
        self.tools.node("coverage.mjs", page, json.dumps({"kinds": rows, "single": single}))

    def test_accessibility(self):
        pages = [deadlock(self.tools) / "report.html", compared(self.tools, self.demo), covered(self.tools)[0]]
        # Three overviews, a failure, a destructive race and one without harm, each on two screens.
        self.assertEqual(self.tools.node("axe.mjs", *pages)["views"], 12)
        broken = self.out / "broken.html"
        broken.write_text(pages[0].read_text().replace('<html lang="en">', "<html>"))
        with self.assertRaisesRegex(AssertionError, "html-has-lang"):  # it can fail
            self.tools.node("axe.mjs", broken)

    def test_what_the_page_unpacks(self):
        page, document = self.out / "round.html", self.out / "round.json"
        self.report("--html", page, "--json", document)
        self.tools.node("roundtrip.mjs", page, document)
        # Events that do what most do, and events that do not.
        dice, events = random.Random(1), []
        operations = [
            "read",
            "write",
            "atomic read",
            "atomic write",
            "atomic update",
            "lock",
            "unlock",
            "acquire",
            "post",
            "yield",
        ]
        for i in range(2000):
            event = {"thread": dice.randrange(3), "operation": dice.choice(operations), "object": dice.choice("abc")}
            if dice.random() < 0.8:
                event["value"] = str(dice.randrange(5))
            if dice.random() < 0.2:
                event.update(how=dice.choice(["stale", "future"]), newest=str(dice.randrange(5)))
            if dice.random() < 0.5:
                event.update(file="a.cc", line=dice.randrange(1, 9))
            for arrow in ("from", "after"):
                other = dice.randrange(2000)
                if dice.random() < 0.6 and other != i:
                    event[arrow] = other
            events.append(event)
        threads = [{"id": t, "name": ""} for t in range(3)]
        made = {
            "schema": "duress/1",
            "command": "run",
            "seed": 1,
            "target": ["x"],
            "runs": 1,
            "failures": [],
            "races": [
                {
                    "id": "R-1111",
                    "variable": "v",
                    "kind": "write-read",
                    "found_by": [],
                    "sites": [],
                    "lanes": {"threads": threads, "events": events},
                }
            ],
        }
        source = self.out / "made.json"
        source.write_text(json.dumps(made))
        self.report("--from", source, "--html", page, "--json", document)
        self.assertEqual(json.loads(document.read_text())["races"][0]["lanes"]["events"], events)
        self.assertEqual(self.tools.node("roundtrip.mjs", page, document)["compared"], 2000)

    def test_500_races_of_10000_events(self):
        page = self.out / "big.html"
        run(ARGS.build / "tests/big_report", page)
        size = page.stat().st_size
        self.assertLess(size, MOST_BYTES)
        times = self.tools.node("big.mjs", page)
        print(
            f"500 races x 10,000 events: {size / 1e6:.1f} MB, first paint {times['paint']} ms, a race opened in {times['opened']} ms"
        )

    def test_hostile_names_in_a_page(self):
        page = self.out / "hostile.html"
        self.hostile("--html", page)
        self.tools.node("hostile.mjs", page)

    def test_a_program_that_attacks(self):
        """Its file, its threads and what it prints are named to break terminals and pages."""
        folder = self.tools.folder / "attack"
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        source = "ev\x1b[31mil <img src=x onerror=window.hacked=1>\u202e.cc"
        (folder / source).write_text(ATTACK)
        run(self.tools.compiler, "-g", "-O1", "-std=c++20", "-pthread", "./" + source, "-o", "attack", cwd=folder)
        for command in ("run", "classify", "explore", "verify"):
            options = {
                "run": ["--controlled"],
                "classify": ["--runs", "10"],
                "explore": ["--runs", "100"],
                "verify": ["--time", "20s"],
            }[command]
            done = run(
                self.tools.duress,
                command,
                *options,
                "--html",
                "a.html",
                "--sarif",
                "a.sarif",
                "--junit",
                "a.xml",
                "--",
                "./attack",
                cwd=folder,
                code=None,
            )
            self.assertIn(done.returncode, (66, 134), done.stderr[-2000:])
            lines = (done.stdout + done.stderr).split(b"\n")
            if command == "run":  # the program's own output is passed on as it is
                lines = [line for line in lines if b"owned" not in line]
            text = b"\n".join(lines).decode()
            self.assertIn("data race on counter" if command != "explore" else "assertion", text)
            self.assertNotRegex(text.replace("\n", "").replace("\t", ""), "[\x00-\x1f\x7f-\x9f\u202a-\u202e]", command)
            run("xmllint", "--nonet", "--noout", folder / "a.xml")
            run("node", PAGE / "sarif.mjs", folder / "a.sarif", env=self.tools.env)
            self.tools.node("quiet.mjs", folder / "a.html")

    def test_sarif_follows_the_published_schema(self):
        demo, hostile = self.out / "demo.sarif", self.out / "hostile.sarif"
        self.report("--sarif", demo)
        self.hostile("--sarif", hostile)
        empty = self.out / "empty.json"
        empty.write_text('{"schema": "duress/1", "command": "run", "seed": 1, "target": ["x"], "runs": 1, "races": []}')
        self.report("--from", empty, "--sarif", self.out / "empty.sarif")
        run("node", PAGE / "sarif.mjs", demo, hostile, self.out / "empty.sarif", env=self.tools.env)
        results = json.loads(demo.read_text())["runs"][0]["results"]
        self.assertEqual(
            sorted(result["ruleId"] for result in results), ["race/destructive", "race/destructive", "race/unconfirmed"]
        )
        for result in results:
            flows = result["codeFlows"][0]["threadFlows"]
            self.assertGreaterEqual(len(flows), 2)
            self.assertEqual(len({flow["id"] for flow in flows}), len(flows))
            self.assertTrue(all(flow["locations"] for flow in flows))
            self.assertIn("duressId/v1", result["partialFingerprints"])
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]
            self.assertEqual(uri, {"uri": "double_checked_locking.cc", "uriBaseId": "%SRCROOT%"})
        for text in strings_of(json.loads(hostile.read_text())):
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]")

    def test_a_schema_that_nothing_fails_is_no_test(self):
        path = self.out / "broken.sarif"
        path.write_text('{"version": "2.1.0", "runs": [{"results": 7}]}')
        run("node", PAGE / "sarif.mjs", path, env=self.tools.env, code=1)

    def test_junit_is_well_formed(self):
        for name, make in (("demo.xml", self.report), ("hostile-junit.xml", self.hostile)):
            path = self.out / name
            make("--junit", path)
            run("xmllint", "--nonet", "--noout", "--huge", path)
        counted = run("xmllint", "--xpath", "count(//testcase)", self.out / "demo.xml").stdout.decode().strip()
        failed = (
            run("xmllint", "--xpath", "count(//testcase/failure[@type='race/destructive'])", self.out / "demo.xml")
            .stdout.decode()
            .strip()
        )
        self.assertEqual((counted, failed), ("3", "2"))

    def test_perfetto(self):
        path = self.out / "demo.perfetto.json"
        self.report("--perfetto", path)
        events = json.loads(path.read_text())["traceEvents"]
        named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
        slices = [event for event in events if event["ph"] == "X"]
        self.assertTrue(slices)
        self.assertTrue(all((event["pid"], event["tid"]) in named for event in slices))
        self.assertTrue(any(event["args"].get("how") == "stale" for event in slices))
        starts = {event["id"] for event in events if event["ph"] == "s"}
        self.assertTrue(starts)
        self.assertEqual(starts, {event["id"] for event in events if event["ph"] == "f"})


def strings_of(json_value):
    if isinstance(json_value, str):
        yield json_value
    elif isinstance(json_value, dict):
        for value in json_value.values():
            yield from strings_of(value)
    elif isinstance(json_value, list):
        for value in json_value:
            yield from strings_of(value)


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--screens", type=pathlib.Path)
    ARGS, rest = parser.parse_known_args()
    ARGS.build = ARGS.build.resolve()
    if ARGS.screens:
        tools = Tools(ARGS.build)
        demo = tools.demo()
        run(tools.duress, "report", "--html", demo / "report.html", cwd=demo)
        ARGS.screens.mkdir(exist_ok=True)
        folder = ARGS.screens.resolve()
        run("node", PAGE / "screens.mjs", demo / "report.html", folder, "point::x", env=tools.env)
        for page, part, *first in (
            (compared(tools, demo), "comparison", "#comparison"),
            (deadlock(tools) / "report.html", "deadlock", "#waiting", "first"),
        ):
            run("node", PAGE / "picture.mjs", page, folder / f"report-{part}.png", *first, env=tools.env)
        return
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
