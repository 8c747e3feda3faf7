#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress report` as a user meets it: what is recorded, each form of it, wrong use, hostile names on the terminal.

Runs on a program that speaks the protocol of targets (src/exec/testing/fake_target.cc) and on documents made here. What
needs a browser or npm is in pages.py.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
import hostile  # noqa: E402

ARGS = None
FORMS = "--html a.html --sarif a.sarif --junit a.xml --perfetto a.perfetto --json a.json".split()
UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"


class DocumentsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-report-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def duress(self, *words, code=0):
        done = subprocess.run(
            [str(ARGS.build / "bin/duress"), *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        self.assertEqual(done.returncode, code, (words, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout.decode(), done.stderr.decode()

    def classify(self, *words):
        self.duress("classify", "--runs", "12", *words, "--", ARGS.build / "tests/exec_fake_target", "stale", code=66)

    def one_line(self, result, *words):
        self.assertEqual(result[0], "")
        self.assertEqual(result[1].count("\n"), 1, result)
        for word in ("duress: ", *words):
            self.assertIn(word, result[1])

    def test_wrong_use(self):
        self.one_line(self.duress("report", code=125), ".duress", "--dir")
        self.one_line(self.duress("report", "--from", "nowhere", code=2), "nowhere", "No such file")
        self.one_line(self.duress("report", "--html", ".", code=2), "folder")
        (self.folder / "text").write_text("no document")
        self.one_line(
            self.duress("report", "--from", "text", "--html", "x.html", code=2),
            "text",
            "not a document that --json wrote",
        )
        self.assertFalse((self.folder / "x.html").exists())
        self.one_line(self.duress("classify", "--sarif", ".", "--", "./x", code=2), "folder")

    def test_wrong_editors(self):
        for command in (["report"], ["run", "--html", "x.html"]):
            words = [*command, "--editor", "javascript:alert(1){file}"]
            self.one_line(
                self.duress(*words, *(["--", "./x"] if "run" in command else []), code=2), "javascript", "refused"
            )
        self.one_line(self.duress("report", "--editor", "vscod", code=2), "vscod", "nearest: vscode")
        (self.folder / ".duress.toml").write_text('editor = "x://{line}"\n')
        self.one_line(self.duress("report", code=2), "x://{line}", "{file}")

    def test_a_comparison(self):
        self.classify("--json=old.json")
        self.assertEqual(self.duress("report", "--compare", "old.json")[0], "")
        out, err = self.duress("report", "--compare", "old.json", "--json", "-")
        self.assertEqual(len(json.loads(out)["unchanged"]), 1)
        old = json.loads((self.folder / "old.json").read_text())
        race = old["races"][0]
        race["verdict"] = "no-harm-found"
        old["races"].append(dict(race, id="R-fade", variable="\x1b[2Jgone", title="data race on \x1b[2Jgone"))
        (self.folder / "old.json").write_text(json.dumps(old))
        out, err = self.duress("report", "--compare", "old.json")
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^changed: .*error: data race on 0x10 is DESTRUCTIVE \[R-")
        self.assertEqual(lines[1], "  verdict: no-harm-found -> destructive")
        self.assertRegex(lines[2], r"^gone: .*data race on \\x1b\[2Jgone \[R-fade\]$")
        self.assertIn("0 new, 1 changed, 1 gone, 0 unchanged: old.json and .duress/last.json", err)
        # The other way round; both named.
        self.duress("report", "--json", "new.json")
        out, err = self.duress("report", "--compare", "new.json", "old.json")
        self.assertTrue(out.startswith("new: "), out)
        self.one_line(self.duress("report", "--compare", "nowhere", code=2), "nowhere", "No such file")
        self.one_line(self.duress("report", "--compare", "old.json", "--sarif", "x", code=2), "--sarif", "--html")

    def test_a_damaged_record(self):
        (self.folder / ".duress").mkdir()
        (self.folder / ".duress/last.json").write_text('{"schema": "duress/1", "races": [')
        self.one_line(self.duress("report", code=125), "last.json", "not a document")

    def test_what_classify_found(self):
        self.classify("--html", "direct.html", "--sarif", "direct.sarif", "--junit", "direct.xml")
        out, err = self.duress("report")
        self.assertRegex(out, r"error: data race on 0x10 is DESTRUCTIVE \[R-[0-9a-f]{4}\]\n$")
        self.duress("report", *FORMS)
        # The same, whether asked for at once or later.
        for later, direct in (("a.html", "direct.html"), ("a.sarif", "direct.sarif"), ("a.xml", "direct.xml")):
            self.assertEqual((self.folder / later).read_bytes(), (self.folder / direct).read_bytes())
        document = json.loads((self.folder / "a.json").read_text())
        harness.valid(document)
        race = document["races"][0]
        events = race["lanes"]["events"]
        stale = [event for event in events if event.get("how") == "stale"]
        self.assertEqual(len(stale), 1)
        self.assertEqual(
            (stale[0]["value"], stale[0]["newest"]), (race["evidence"]["read"], race["evidence"]["newest"])
        )
        self.assertEqual(events[-1]["operation"], "failure")
        # From the document, without the program.
        self.duress("report", "--from", "a.json", "--no-replay", "--perfetto", "b.perfetto")
        self.assertEqual((self.folder / "a.perfetto").read_bytes(), (self.folder / "b.perfetto").read_bytes())

    def test_another_folder(self):
        self.classify("--dir", "my dir")
        self.duress("report", "--dir", "my dir", "--junit", "a.xml")
        self.assertIn("duress replay R-", (self.folder / "a.xml").read_text())
        self.assertIn("--dir &apos;my dir&apos;", (self.folder / "a.xml").read_text())

    def test_a_program_that_is_gone(self):
        self.classify("--json=a.json")
        document = json.loads((self.folder / "a.json").read_text())
        document["target"] = ["./gone"]
        for race in document["races"]:
            race["evidence"]["replay"] = race["evidence"]["replay"].replace("exec_fake_target", "gone")
        (self.folder / "gone.json").write_text(json.dumps(document))
        self.duress("report", "--from", "gone.json", "--dir", "other", "--html", "gone.html")
        self.assertIn("The interleaving is not there", (self.folder / "gone.html").read_text())

    def test_hostile_names(self):
        (self.folder / "in.json").write_text(json.dumps(hostile.hostile_document()))
        out, err = self.duress("report", "--from", "in.json")
        self.assertEqual(len(out.splitlines()), 2 * len(hostile.HOSTILE))
        self.assertNotRegex(out.replace("\n", "") + err, UNSAFE)
        self.duress("report", "--from", "in.json", "--no-replay", *FORMS)
        page = (self.folder / "a.html").read_text()
        self.assertNotIn("<script>window", page)
        self.assertNotIn("<img", page)
        json.loads((self.folder / "a.sarif").read_text())
        json.loads((self.folder / "a.perfetto").read_text())
        harness.valid(json.loads((self.folder / "a.json").read_text()))
        cases = list(xml.etree.ElementTree.parse(self.folder / "a.xml").iter("testcase"))
        self.assertEqual(len(cases), 2 * len(hostile.HOSTILE))
        self.assertIn(hostile.HOSTILE[0], cases[0].get("name"))

    def test_bytes_that_are_no_text(self):
        text = json.dumps(hostile.hostile_document()).encode().replace(b"{{7*7}}", b"\xff\xfe\xc0\x80")
        (self.folder / "in.json").write_bytes(text)
        self.one_line(self.duress("report", "--from", "in.json", "--html", "a.html", code=2), "not a document")

    def test_sources(self):
        document = {
            "schema": "duress/1",
            "command": "run",
            "seed": 1,
            "target": ["x"],
            "runs": 1,
            "folder": str(self.folder),
            "races": [
                {
                    "id": "R-1111",
                    "variable": "v",
                    "kind": "write-read",
                    "found_by": [],
                    "sites": [
                        {"file": name, "line": 2, "function": "f", "access": "write", "thread": 1, "stack": []}
                        for name in ("there.cc", "gone.cc")
                    ],
                }
            ],
        }
        (self.folder / "there.cc").write_bytes(b"one\n\xfftwo </script> " + b"y" * (1 << 20) + b"\nthree\n")
        (self.folder / "in.json").write_text(json.dumps(document))
        self.duress("report", "--from", "in.json", "--html", "a.html")
        page = (self.folder / "a.html").read_text()
        self.assertLess(len(page), 200000)
        data = json.loads(re.search(r'id="data">(.*?)</script>', page).group(1))
        self.assertEqual(data["sources"]["gone.cc"], {"missing": "No such file or directory"})
        self.assertTrue(data["sources"]["there.cc"]["lines"]["2"].startswith("\ufffdtwo </script> yyy"))
        self.assertEqual(data["sources"]["there.cc"]["lines"]["3"], "three")


def main():
    global ARGS
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    ARGS, rest = parser.parse_known_args()
    ARGS.build = ARGS.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
