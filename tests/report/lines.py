#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--json=lines`: every command that searches, one line at a time; a reader that goes away; keys of TSAN_OPTIONS."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ARGS = None
PROGRAM = """#include <cstdio>
#include <thread>
int hits, total;
void add() { hits = 1; total = total + 1; }
int main() {
  std::thread a(add), b(add);
  a.join(), b.join();
  return total == 2 ? 0 : 1;
}
"""
OPTIONS = {
    "run": ["--controlled"],
    "classify": ["--runs", "10", "--no-advice"],
    "explore": ["--runs", "200"],
    "verify": ["--no-advice"],
}


class LinesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="duress-lines-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "add.cc").write_text(PROGRAM)
        compiler = ARGS.build / "bin/duress-c++"
        subprocess.run(
            [compiler, "-g", "-O1", "-std=c++20", "-pthread", "add.cc", "-o", "add"], cwd=cls.folder, check=True
        )

    def duress(self, *words, code=66, env=None, **kinds):
        done = subprocess.run(
            [str(ARGS.build / "bin/duress"), *map(str, words)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            env=dict(os.environ, **(env or {})),
            **(kinds or {"capture_output": True}),
        )
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done

    def lines(self, text):
        lines = [json.loads(line) for line in text.decode().splitlines()]
        kinds = [line["kind"] for line in lines]
        self.assertEqual((kinds[0], kinds[-1]), ("start", "summary"), kinds)
        self.assertEqual((kinds.count("start"), kinds.count("summary")), (1, 1), kinds)
        self.assertEqual(lines[0]["schema"], "duress-lines/1")
        return lines

    def last_of(self, lines, kind):
        """The last line of each finding, in the order of the first ones."""
        known = {}
        for line in lines:
            if line["kind"] == kind:
                one = line[kind]
                places = [(site["access"], site["line"], site["column"]) for site in one.get("sites", [])]
                known[one["id"], str(places)] = one
        return list(known.values())

    def test_the_last_lines_are_the_document(self):
        for command, options in OPTIONS.items():
            with self.subTest(command):
                words = [command, *options, "--", "./add"]
                lines = self.lines(self.duress(*words[:1], "--json=lines", "--dir", f"l-{command}", *words[1:]).stdout)
                self.duress(*words[:1], f"--json={command}.json", "--dir", f"d-{command}", *words[1:])
                document = json.loads((self.folder / f"{command}.json").read_text())
                self.assertEqual(lines[0]["command"], command)
                self.assertEqual(lines[0]["target"], ["./add"])
                for kind in ("race", "failure"):
                    streamed = self.last_of(lines, kind)
                    wanted = document.get(kind + "s", [])
                    for one in streamed + wanted:  # which process it was is chance in a run of its own
                        one.pop("process", None)
                    self.assertCountEqual(map(json.dumps, streamed), map(json.dumps, wanted))
                self.assertEqual(lines[-1]["document"]["summary"], document["summary"])
                self.assertNotIn("races", lines[-1]["document"])
        self.assertTrue(any(line["kind"] == "failure" for line in lines))

    def test_a_race_comes_before_its_verdict(self):
        text = self.duress("classify", "--runs", "10", "--no-advice", "--json=lines:f", "--dir", "v", "--", "./add")
        self.assertIn(b"DESTRUCTIVE", text.stdout)  # a file leaves the text as it is
        lines = self.lines((self.folder / "f").read_bytes())
        races = [line["race"] for line in lines if line["kind"] == "race" and line["race"]["variable"] == "total"]
        self.assertNotIn("verdict", races[0])
        self.assertEqual(races[-1]["verdict"], "destructive")

    def test_verify_writes_findings_while_it_looks_for_more(self):
        # Written before they are made small, which gives them their token; the last line is what the document has.
        done = self.duress("verify", "--no-advice", "--json=lines", "--dir", "w", "--", "./add")
        lines = self.lines(done.stdout)
        races = [line["race"] for line in lines if line["kind"] == "race" and line["race"]["variable"] == "total"]
        failures = [line["failure"] for line in lines if line["kind"] == "failure"]
        for found in (races, failures):
            self.assertFalse(found[0].get("replay"), found[0])
            self.assertTrue(found[-1].get("replay"), found[-1])
        self.assertEqual({one["id"] for one in failures}, {failures[-1]["id"]})

    def test_cases(self):
        (self.folder / "tests").mkdir()
        program = self.folder / "add"
        (self.folder / "tests/CTestTestfile.cmake").write_text(
            f'add_test(one "{program}")\nadd_test(two "{program}")\n'
        )
        done = self.duress("test", "tests", "--runs", "10", "--json=lines", "--dir", "t")
        lines = self.lines(done.stdout)
        cases = [line["case"] for line in lines if line["kind"] == "case"]
        self.assertEqual([(case["name"], case["outcome"]) for case in cases], [("one", "passed"), ("two", "passed")])
        kinds = [line["kind"] for line in lines]
        self.assertLess(kinds.index("race"), kinds.index("case"))

    def test_nobody_reads(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.duress(
            "classify",
            "--runs",
            "10",
            "--no-advice",
            "--json=lines",
            "--dir",
            "gone",
            "--",
            "./add",
            stdout=writer,
            stderr=subprocess.PIPE,
        )
        os.close(writer)
        self.assertEqual(done.stderr.count(b"Broken pipe"), 1, done.stderr)
        document = json.loads((self.folder / "gone/last.json").read_text())
        self.assertIn("destructive", [race.get("verdict") for race in document["races"]])

    def test_wrong_place(self):
        done = self.duress("run", "--json=lines:nowhere/x", "--", "./add", code=2)
        self.assertIn(b"nowhere/x", done.stderr)

    def test_tsan_options(self):
        run = ["run", "--controlled", "--dir", "o", "--", "./add"]
        self.duress(*run, code=3, env={"TSAN_OPTIONS": "exitcode=3"})
        self.duress(*run, code=0, env={"TSAN_OPTIONS": "exitcode=0"})
        self.duress("run", "--fail-on=race", *run[1:], code=66, env={"TSAN_OPTIONS": "exitcode=0"})
        (self.folder / "known").write_text("race:add\n")
        env = {"TSAN_OPTIONS": "suppressions=known history_size=7"}
        quiet = self.duress(*run, code=0, env=env)
        self.assertNotIn(b"history_size", quiet.stderr)
        told = self.duress("run", "-v", *run[1:], code=0, env=env)
        self.assertIn(b"duress: TSAN_OPTIONS: history_size has no meaning here\n", told.stderr)
        self.duress("classify", "--runs", "10", "--dir", "o2", "--", "./add", code=0, env=env)
        wrong = self.duress(*run, code=2, env={"TSAN_OPTIONS": "halt_on_error=maybe"})
        self.assertIn(b"halt_on_error=maybe must be 0 or 1", wrong.stderr)


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    ARGS, rest = parser.parse_known_args()
    ARGS.build = ARGS.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
