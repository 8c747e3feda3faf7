#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress classify` as a user meets it: wrong use, what is printed, exit codes, interruptions.

Most of it runs on a program that speaks the protocol of targets and simulates two threads, so that every verdict can be
had in a second (src/exec/testing/fake_target.cc).
"""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402


class UseTest(harness.ToolTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-classify-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fake_target = str(self.tool.build / "tests" / "exec_fake_target")

    def classify(self, *words, options=("--runs", "12"), env=None):
        code, out, err = self.tool.run([self.tool.duress, "classify", *options, "--", *words], self.folder, env=env)
        return code, out.decode(), err.decode()

    def fake(self, what, *options, env=None):
        return self.classify(self.fake_target, what, options=["--runs", "12", *options], env=env)

    def document(self, what, *options):
        code, out, err = self.fake(what, "--json", *options)
        self.assertTrue(out, err)
        document = json.loads(out)
        harness.valid(document)
        return code, document

    def one_line(self, result, code, *words):
        self.assertEqual(result[0], code, result)
        self.assertEqual(result[1], "", result)
        self.assertEqual(result[2].count("\n"), 1, result[2])
        for word in ("duress: ", *words):
            self.assertIn(word, result[2])

    # ---- wrong use -------------------------------------------------------------------------------

    def test_wrong_use(self):
        for options, words in (
            ([], ["no program"]),
            (["--model", "rc11"], ["explore --model rc11"]),
            (["--model", "stael"], ["'stael'", "nearest: stale"]),
            (["--heuristic", "Oldset"], ["'Oldset'", "nearest: Oldest"]),
            (["--model", "future", "--heuristic", "Oldest"], ["future", "Oldest"]),
            (["--time", "soon"], ["'soon'", "30s"]),
            (["--runs", "0"], ["--runs"]),
            (["--baseline", "nowhere.json"], ["nowhere.json", "No such file"]),
            (["--tear", "3"], ["--tear"]),
            (["--runns", "3"], ["--runs"]),
            (["--fail-on", "sometimes"], ["--fail-on"]),
            (["--json=."], ["folder"]),
        ):
            with self.subTest(options=options):
                target = [] if not options else [self.fake_target, "stale"]
                self.one_line(self.classify(*target, options=options), 2, *words)

    def test_files_that_are_not_there(self):
        self.one_line(self.fake("stale", "--suppressions", "nowhere"), 2, "nowhere")
        self.one_line(self.fake("stale", "--expect-output", "nowhere"), 2, "nowhere")
        path = pathlib.Path(self.folder, "text")
        path.write_text("no document\n")
        self.one_line(self.fake("stale", "--baseline", "text"), 2, "text", "not a document that --json wrote")

    def test_programs_that_cannot_be_controlled(self):
        self.one_line(self.classify("./nowhere"), 125, "nowhere")
        self.one_line(self.classify("/bin/true"), 125, "not instrumented")

    def test_help_teaches(self):
        code, out, err = self.tool.run([self.tool.duress, "classify", "--help"], self.folder)
        text = out.decode()
        self.assertEqual((code, err), (0, b""))
        for word in ("--only", "--time", "stale", "future", "no harm found", "66", "124", "duress classify -- ./cache"):
            self.assertIn(word, text)

    def test_a_name_that_matches_nothing(self):
        binary = str(self.tool.compile(harness.ROOT / "examples/jumble/double_checked_locking.cc"))
        result = self.classify(binary, options=["--only", "Point::z", "--runs", "2"])
        self.one_line(result, 2, "'Point::z'", "nearest: Point::", "Point::x", "Point::y", "Point::p")

    def test_a_damaged_record(self):
        os.makedirs(f"{self.folder}/.duress")
        pathlib.Path(self.folder, ".duress/campaign.sqlite").write_text("this is a text and no database " * 50)
        self.one_line(self.fake("stale"), 125, "campaign.sqlite", "remove it")

    # ---- what is printed -------------------------------------------------------------------------

    def test_the_text_of_a_destructive_race(self):
        code, out, err = self.fake("stale")
        self.assertEqual(code, 66, err)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"error: data race on 0x10 is DESTRUCTIVE \[R-[0-9a-f]{4}\]$")
        self.assertRegex(lines[1], r"^  T1 writes .* holds nothing$")
        self.assertRegex(lines[2], r"^  T2 reads .* holds nothing$")
        self.assertRegex(
            lines[3],
            r"^  witness: T2 reads stale 0 \(newest 1\) → assertion `legal' failed at "
            r"fake\.cc:34; \d+ of 12 runs, replayed 20 of 20$",
        )
        self.assertEqual(lines[4], "           with sequentially consistent memory the same 12 schedules pass")
        self.assertRegex(lines[5], r"^     T1 'worker' +│ T2 'worker'$")
        self.assertRegex(lines[6], r"^     0x10 = 1 +│$")
        self.assertRegex(lines[7], r"^ +│ 0x10 → 1$")
        self.assertRegex(lines[8], r"^ +│ 0x10 → 0  \(stale\)$")
        self.assertRegex(lines[9], r"^  replay: duress replay R-[0-9a-f]{4}$")
        self.assertEqual(len(lines), 10)
        self.assertRegex(err, r"^duress: 1 race, 1 destructive, in \d+ runs, seed 1\n$")

    def test_the_text_of_others(self):
        for what, words in (
            ("same", "same value: its writes wrote what was there in"),
            ("slower", "slower: "),
            ("broken-promise", "no harm found in"),
        ):
            with self.subTest(what=what):
                code, out, err = self.fake(what)
                self.assertEqual(code, 0, err)
                self.assertEqual(out.count("\n"), 1, out)
                self.assertRegex(out, rf"warning: data race on 0x10: {words}.* runs \[R-[0-9a-f]{{4}}\]\n$")
                self.assertNotIn("benign", out)

    def test_quiet_and_verbose(self):
        code, out, err = self.fake("future", "-q")
        self.assertEqual((code, out.count("\n"), err.count("\n")), (66, 1, 1))
        code, out, err = self.fake("future", "-v", "--stats")
        self.assertIn("failed: sc SequentiallyConsistent 0 of 12, sc racefuzzer 0 of 12", out)
        self.assertIn("needs ", out)
        self.assertRegex(out, r"variable +instances +writes +reads +largest +uncompressed\n  0x10 +1 +1 +2 +2 +2\n")

    def test_color(self):
        self.assertIn("\033[1;31m", self.fake("stale", "--color")[1])
        self.assertNotIn("\033", self.fake("stale")[1])

    def test_the_document(self):
        code, document = self.document("future", "--stats")
        self.assertEqual(code, 66)
        self.assertTrue(document["complete"])
        (race,) = document["races"]
        self.assertEqual((race["verdict"], race["confirmed"]), ("destructive", True))
        self.assertEqual(race["stats"]["instances"], 1)
        evidence = race["evidence"]
        self.assertEqual((evidence["model"], evidence["fair"]), ("future", True))
        self.assertEqual((evidence["read"], evidence["newest"]), ("1", "0"))
        self.assertEqual(evidence["counterfactual"], {"failed": 0, "runs": 12})
        self.assertEqual((evidence["replaced_values"], evidence["replayed"]), (1, 20))
        self.assertEqual(len(evidence["rates"]), 15)
        code, document = self.document("broken-promise")
        invalid = [rate for rate in document["races"][0]["evidence"]["rates"] if rate.get("invalid")]
        self.assertTrue(all(rate["model"] in ("future", "both") and rate["failed"] == 0 for rate in invalid))
        self.assertTrue(invalid)

    def test_results_do_not_depend_on_jobs(self):
        documents = []
        for jobs in ("1", "2", "3"):
            code, document = self.document("stale", "-j", jobs, "--dir", f"d{jobs}")
            del document["seconds"]
            documents.append(document)
        self.assertEqual(documents[0], documents[1])
        self.assertEqual(documents[0], documents[2])

    # ---- programs that fail by themselves, or print what they like -------------------------------

    def test_a_program_that_always_fails(self):
        code, out, err = self.fake("always")
        self.assertEqual(code, 0)
        self.assertIn("not judged", out)
        self.assertIn("fails in all 40 ordinary schedules: exit code 3", err)
        self.assertIn("duress explore -- ", err)

    def test_a_failure_that_is_not_the_races(self):
        code, out, err = self.fake("deadlock")
        self.assertEqual(code, 0, err)
        self.assertIn("not judged: the program also fails for other reasons (", out)
        self.assertIn("no race explains it", out)
        self.assertRegex(err, r"fails in \d+ of \d+ ordinary schedules, which no race is")
        self.assertIn("duress explore -- ", err)

    def test_output_that_differs_is_no_evidence(self):
        code, out, err = self.fake("noisy")
        self.assertEqual(code, 0, err)
        self.assertEqual(err.count("not used as evidence"), 1)
        self.assertIn("--check", err)

    def test_another_output(self):
        code, out, err = self.classify(self.fake_target, "prints", options=["--runs", "40"])
        self.assertEqual(code, 66, err)
        self.assertIn("→ another output; ", out)
        race = out.split("[")[1].split("]")[0]
        code, _, err = self.tool.run([self.tool.duress, "replay", race, "--times", "5"], self.folder)
        self.assertEqual(code, 66, err)
        self.assertIn(b"failed 5 of 5 times, in the same way 5 times", err)

    # ---- choosing --------------------------------------------------------------------------------

    def test_a_fix_is_looked_for_where_it_is_cheap(self):
        binary = str(self.tool.compile(harness.ROOT / "examples/jrf/unsafe_publication.cc", ["-DDURESS_ANY_ORDER"]))
        fix = r"(?m)^  fix: publish after Data::x is set: move .* — checked: 2 interleavings, no race, no failure\. Diff: duress fix R-"
        for number, (options, shown) in enumerate((([], True), (["--advice"], True), (["--no-advice"], False))):
            with self.subTest(options=options):
                code, out, err = self.classify(binary, options=["--runs", "30", "--dir", f"d{number}", *options])
                self.assertEqual(code, 66, err)
                self.assertIn("is DESTRUCTIVE", out)
                (self.assertRegex if shown else self.assertNotRegex)(out, fix)

    def test_some_attacks(self):
        code, document = self.document("stale", "--model", "future")
        self.assertEqual(code, 0)
        models = {rate["model"] for rate in document["races"][0]["evidence"]["rates"]}
        self.assertEqual(models, {"sc", "future"})
        code, document = self.document("stale", "--heuristic", "RandomButDifferent")
        self.assertEqual(code, 66)
        names = [rate.get("heuristic") for rate in document["races"][0]["evidence"]["rates"]]
        self.assertEqual(names, ["SequentiallyConsistent", "RandomButDifferent", "RandomButDifferent"])

    def test_only_and_suppressions_and_baseline(self):
        binary = str(self.tool.compile(harness.ROOT / "examples/jumble/double_checked_locking.cc"))
        few = ["--runs", "4"]
        code, out, err = self.classify(binary, options=[*few, "--only", "Point::x", "--json=x.json"])
        self.assertEqual(code, 66, err)
        self.assertIn("1 race", err)
        self.assertIn("Point::x is DESTRUCTIVE", out)
        code, out, err = self.classify(binary, options=[*few, "--only", "double_checked_locking.cc:28"])
        self.assertIn("Point::y is DESTRUCTIVE", out)
        self.assertIn("1 race", err)
        code, out, err = self.classify(binary, options=[*few, "--only", "Point::x", "--baseline", "x.json"])
        self.assertEqual(code, 0, out)
        self.assertIn("(in the baseline)", out)
        pathlib.Path(self.folder, "known").write_text("race_top:Point::slope\n")
        code, out, err = self.classify(binary, options=[*few, "--suppressions", "known"])
        self.assertEqual(code, 0, out)
        self.assertIn("1 race, 0 destructive, 2 suppressed", err)
        code, out, err = self.classify(binary, options=[*few, "--suppressions", "known", "--fail-on", "race"])
        self.assertEqual(code, 66)

    # ---- time and interruptions ------------------------------------------------------------------

    def test_out_of_time(self):
        code, out, err = self.classify(self.fake_target, "same", options=["--time", "1s"])
        self.assertEqual(code, 124, err)
        self.assertIn("out of time, the same command goes on", err)
        code, out, err = self.classify(self.fake_target, "stale", options=["--time", "1h"])  # ends with its verdict
        self.assertEqual(code, 66, err)
        self.assertNotIn("out of time", err)

    def test_interrupted_and_taken_up_again(self):
        words = [self.tool.duress, "classify", "--runs", "100000", "--", self.fake_target, "same"]
        record = f"{self.folder}/.duress/campaign.sqlite"
        rows = 0
        for part in range(2):
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=self.tool.env,
            )
            while self.rows(record) < rows + 100:
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
            self.assertEqual(process.returncode, 124, err)
            self.assertIn("interrupted, the same command goes on", err)
            if part == 1:
                self.assertIn(f"going on after {rows} recorded runs", err)
            rows = self.rows(record)

    @staticmethod
    def rows(record):
        try:
            with sqlite3.connect(f"file:{record}?mode=ro", uri=True) as database:
                return database.execute("SELECT count(*) FROM trial").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


if __name__ == "__main__":
    harness.unit_tests(__doc__)
