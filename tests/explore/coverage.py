#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--coverage` of explore, classify and test: which accesses, critical sections, waits and notifications of two threads were seen in both
orders; as text, as JSON that the schema allows, and as a delta to the last campaign."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

PROJECT = """cmake_minimum_required(VERSION 3.20)
project(coverage NONE)
enable_testing()
add_test(NAME free COMMAND {0})
add_test(NAME ordered COMMAND {0} ordered)
"""
PROGRAM = pathlib.Path(__file__).resolve().parent / "coverage.cc"


def orders(document):
    """{(kind, what first, what second): (first before second, second before first)}, by operations."""
    result = {}
    for pair in document["coverage"]["pairs"]:
        names = [place["operation"] + " " + place["function"] for place in (pair["first"], pair["second"])]
        seen = (pair["first_before_second"] > 0, pair["second_before_first"] > 0)
        before = result.get((pair["kind"], *names), (False, False))  # a function may lock twice, as a wait does
        result[(pair["kind"], *names)] = (seen[0] or before[0], seen[1] or before[1])
    return result


class CoverageTest(harness.ToolTest):
    def explore(self, folder, *args, runs=100, jobs=2):
        options = ["--coverage", "--runs", str(runs)]
        code, document, errors = self.tool.explore(
            self.tool.compile(PROGRAM), args, options=options, jobs=jobs, folder=folder
        )
        self.assertEqual(code, 0, errors)
        harness.valid(document)
        return document

    def test_both_orders_and_one(self):
        free, ordered = (orders(self.explore(None, *args)) for args in ([], ["ordered"]))
        both = (True, True)
        self.assertEqual(free[("access", "atomic write store", "atomic read load")], both)
        self.assertEqual(ordered[("access", "atomic write store", "atomic read load")], (True, False))
        for found in (free, ordered):
            self.assertEqual(found[("lock", "lock store", "lock load")], both)
            self.assertEqual(found[("condition", "broadcast store", "wait load")], (False, True))

    def test_does_not_depend_on_workers(self):
        one, two = (self.explore(None, jobs=jobs)["coverage"] for jobs in (1, 2))
        self.assertEqual(one, two)

    def test_delta(self):
        with tempfile.TemporaryDirectory() as folder:
            first = self.explore(folder, runs=1)["coverage"]
            self.assertNotIn("since_last", first)
            second = self.explore(folder)["coverage"]
            seen = sum((p["first_before_second"] > 0) + (p["second_before_first"] > 0) for p in first["pairs"])
            now = sum((p["first_before_second"] > 0) + (p["second_before_first"] > 0) for p in second["pairs"])
            self.assertEqual(second["since_last"], {"gained": now - seen, "lost": 0})
            self.assertGreater(now, seen)
            self.assertEqual(self.explore(folder)["coverage"]["since_last"], {"gained": 0, "lost": 0})

    def test_text(self):
        with tempfile.TemporaryDirectory() as folder:
            binary = self.tool.compile(PROGRAM)
            words = [
                self.tool.duress,
                "explore",
                "--coverage",
                "--runs",
                "100",
                "--dir",
                f"{folder}/d",
                "--",
                binary,
                "ordered",
            ]
            code, _, errors = self.tool.run([str(word) for word in words], folder)
            text = errors.decode()
            self.assertEqual(code, 0, text)
            self.assertRegex(text, r"coverage: \d+ of \d+ pairs seen in both orders, in 100 runs")
            self.assertRegex(
                text, r"coverage.cc:\d+ \(atomic write flag\)  before  \S*coverage.cc:\d+ \(atomic read flag\)"
            )

    def command(self, folder, *words):
        done = self.tool.run([str(self.tool.duress), *map(str, words)], folder)
        self.assertEqual(done[0], 0, done[2].decode())
        return done[2].decode()

    def test_classify(self):
        with tempfile.TemporaryDirectory() as folder:
            binary, path = self.tool.compile(PROGRAM), pathlib.Path(folder) / "seen.json"
            documents = []
            for jobs in (1, 2):
                options = ["--coverage", "--seed", "1", "-j", jobs, f"--json={path}", "--dir", f"{folder}/{jobs}"]
                self.command(folder, "classify", *options, "--", binary)
                documents.append(json.loads(path.read_text()))
                harness.valid(documents[-1])
            self.assertEqual(documents[0]["coverage"], documents[1]["coverage"])
            found = orders(documents[0])
            self.assertEqual(found[("access", "atomic write store", "atomic read load")], (True, True))
            self.assertEqual(found[("condition", "broadcast store", "wait load")], (False, True))

    def test_racing_accesses_are_pairs(self):
        """A plain variable that races, in classify: the same program would show none without its races."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "seen.json"
            options = ["--coverage", "--seed", "1", f"--json={path}", "--dir", f"{folder}/d"]
            self.command(
                folder,
                "classify",
                *options,
                "--fail-on",
                "never",
                "--",
                self.tool.compile(PROGRAM.with_name("coverage_plain.cc")),
            )
            found = orders(json.loads(path.read_text()))
            self.assertEqual(found[("access", "write store", "read load")], (True, True))

    def test_a_suite(self):
        """The sum over the cases, what each has seen, the delta, and the page, which has the document."""
        with tempfile.TemporaryDirectory() as folder:
            build, path = pathlib.Path(folder) / "build", pathlib.Path(folder) / "seen.json"
            (pathlib.Path(folder) / "CMakeLists.txt").write_text(PROJECT.format(self.tool.compile(PROGRAM)))
            subprocess.run(["cmake", "-S", folder, "-B", build], check=True, capture_output=True)
            options = ["--coverage", "--seed", "1", "--dir", f"{folder}/d", f"--json={path}"]
            text = self.command(folder, "test", build, *options[:-1])
            self.assertRegex(text, r"coverage: \d+ of \d+ pairs seen in both orders, in 200 runs")
            self.assertNotIn("since the last campaign", text)
            page = pathlib.Path(folder) / "page.html"
            self.command(folder, "test", build, *options, "--html", page)
            document = json.loads(path.read_text())
            harness.valid(document)
            coverage = document["coverage"]
            self.assertEqual(coverage["since_last"], {"gained": 0, "lost": 0})
            self.assertEqual(coverage["runs"], sum(case["coverage"]["runs"] for case in document["cases"]))
            found = orders(document)
            # Two places load, each in one case only; what the locks saw is of both.
            loads = [p for p in coverage["pairs"] if p["kind"] == "access"]
            self.assertEqual(sorted(p["both"] for p in loads), [False, True])
            self.assertEqual(found[("lock", "lock store", "lock load")], (True, True))
            data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)
            self.assertEqual(json.loads(data[1])["document"]["coverage"], coverage)
            report = self.command(folder, "test", build, *options[:-1], "-R", "free")
            self.assertNotIn("since the last campaign", report)  # other tests


if __name__ == "__main__":
    harness.unit_tests(__doc__)
