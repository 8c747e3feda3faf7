#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress test`: the cases of a build folder, each classified; races charged to their cases; baselines; wrong use."""
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import project as fit  # noqa: E402

SUITE = pathlib.Path(__file__).resolve().parent / "suite"
RACY = {"Store.PublishesTheTable": "table_value", "Store.KeepsItsSize": "store_size", "Counter.CountsBoth": "hits"}
RUNS = ["--runs", "10"]
# Those with a race and a few others, as GoogleTest lists them: for what does not depend on how many cases there are.
FEW = {"GTEST_FILTER": ":".join([*RACY, "Few/*"])}


class TestCommandTest(fit.ProjectTest):
    def setUp(self):
        super().setUp()
        self.suite = fit.built(SUITE, "suite")

    def duress_test(self, *options, build=None, env=None):
        return fit.run([fit.tool(), "test", build or self.suite, *RUNS, *options], self.folder, env)

    def races(self, document):
        self.assertTrue(all(race["test"] in race["tests"] for race in document["races"]))
        return {(race["test"], race["variable"].split("::")[-1]) for race in document["races"]}

    def test_a_suite_of_twenty_cases_with_three_races(self):
        code, out, err = self.duress_test("-R", "^store$", "--json=races.json")
        self.assertEqual(code, 66, out + err)
        document = self.document((self.folder / "races.json").read_text())
        self.assertEqual(self.races(document), set(RACY.items()))
        verdicts = {race["test"]: race["verdict"] for race in document["races"]}
        self.assertEqual(verdicts["Store.KeepsItsSize"], "destructive", document)
        self.assertEqual(verdicts["Store.PublishesTheTable"], "destructive")
        self.assertEqual(verdicts["Counter.CountsBoth"], "same-value")
        cases = {case["name"]: case for case in document["cases"]}
        self.assertEqual(len(cases), 20)
        self.assertEqual({name for name, case in cases.items() if case["races"]}, set(RACY))
        self.assertEqual({case["outcome"] for case in cases.values()}, {"passed"})
        self.assertEqual({case["test"] for case in cases.values()}, {"store"})
        self.assertTrue(document["complete"])
        for name, variable in RACY.items():
            lines = [line for line in out.splitlines() if "data race on " in line and variable in line]
            self.assertTrue(lines and all(line.endswith(f" in {name}") for line in lines), out)
        self.assertIn("duress: 3 races in 3 cases, 2 destructive, 1 same value; 20 cases, in ", err)

        last = self.document((self.folder / ".duress" / "last.json").read_text())
        self.assertEqual((last["races"], last["folder"]), (document["races"], str(self.folder)))

        # With the baseline nothing is new.
        code, out, err = self.duress_test("-R", "^store$", "--baseline", "races.json", "--json=again.json", env=FEW)
        self.assertEqual(code, 0, out + err)
        self.assertEqual(out.count("(in the baseline)"), 3, out)
        again = self.document((self.folder / "again.json").read_text())
        self.assertEqual([r["id"] for r in again["races"]], [r["id"] for r in document["races"]])
        code, _, _ = self.duress_test(
            "-R", "^store$", "--baseline", "races.json", "--fail-on", "new-destructive", env=FEW
        )
        self.assertEqual(code, 0)

        # One that the baseline has as harmless and that has become destructive is new.
        known = json.loads((self.folder / "races.json").read_text())
        for race in known["races"]:
            if race["test"] == "Store.KeepsItsSize":
                race["verdict"] = "no-harm-found"
        (self.folder / "known.json").write_text(json.dumps(known))
        code, _, _ = self.duress_test(
            "-R", "^store$", "--baseline", "known.json", "--fail-on", "new-destructive", env=FEW
        )
        self.assertEqual(code, 66)

        # A finding of a case is replayed by its id alone.
        race = next(race for race in document["races"] if race["test"] == "Store.KeepsItsSize")
        code, out, err = fit.run([fit.tool(), "replay", race["id"], "-q"], self.folder)
        self.assertEqual(code, 66, out + err)

    def test_every_case_a_ctest_test(self):
        discovered = fit.built(SUITE, "discovered", "-DDISCOVER=ON")
        code, out, _ = self.duress_test("-R", "Store.K|Counter.C|Atomic1", "--json", build=discovered)
        self.assertEqual(code, 66)
        document = self.document(out)
        self.assertEqual(self.races(document), {item for item in RACY.items() if item[0] != "Store.PublishesTheTable"})
        self.assertEqual([case["test"] for case in document["cases"]], [case["name"] for case in document["cases"]])

    def test_what_cannot_be_classified_is_named_and_counted(self):
        code, out, err = self.duress_test("-E", "^store$", "--json=races.json")
        self.assertEqual((code, out), (0, ""), err)
        document = self.document((self.folder / "races.json").read_text())
        outcomes = {case["name"]: case["outcome"] for case in document["cases"]}
        self.assertEqual(
            outcomes,
            {
                "needs.fixture": "passed",
                "script": "not-instrumented",
                "switched.off": "disabled",
                "not.built": "not-built",
                "will.fail": "expects-failure",
                "fails.anyway": "fails",
            },
        )
        self.assertFalse((self.suite / "work" / "data").exists(), "the fixture's clean-up has run")
        self.assertIn("script: not-instrumented: ", err)
        self.assertIn(
            "no race in 2 cases that ran; 6 cases, 1 fail anyway, 1 not instrumented, 1 not built, 1 disabled, "
            "1 WILL_FAIL, in ",
            err,
        )

    def test_nothing_instrumented(self):
        code, out, err = self.duress_test("-R", "^script$")
        self.assertEqual((code, out), (125, ""))
        self.assertIn("no test of ", err)
        self.assertIn("CXX=duress-c++", err)
        self.assertIn("no case was run; 1 case, 1 not instrumented, in ", err)
        self.assertNotIn("no race", err)

    def test_wrong_use(self):
        test = [fit.tool(), "test"]
        self.one_line(fit.run(test, self.folder), 2, "no build folder given")
        self.one_line(fit.run([*test, "nowhere"], self.folder), 2, "'nowhere' is not a folder")
        self.one_line(fit.run([*test, "."], self.folder), 2, "CTestTestfile.cmake")
        self.one_line(self.duress_test("-R", "nothing_like_it"), 2, "none of the 9 tests", "matches")
        (self.folder / "CTestTestfile.cmake").write_text("")
        self.one_line(fit.run([*test, "."], self.folder), 2, "has no tests", "add_test")
        (self.folder / "CTestTestfile.cmake").write_text("this is (no CMake\n")
        self.one_line(fit.run([*test, "."], self.folder), 2, "ctest cannot list")
        self.one_line(self.duress_test("--baseline", "nowhere.json"), 2, "nowhere.json", "No such file")
        (self.folder / "broken.json").write_text('{"schema": "duress/1"')
        self.one_line(
            self.duress_test("--baseline", "broken.json"), 2, "broken.json", "not a document that --json wrote"
        )
        self.one_line(self.duress_test("--suppressions", "nowhere"), 2, "nowhere")
        self.one_line(self.duress_test("--time", "soon"), 2, "'soon'")
        self.one_line(self.duress_test("--fail-on", "sometimes"), 2, "--fail-on")
        self.one_line(self.duress_test("--json=/nowhere/at/all.json"), 2, "/nowhere/at/all.json")
        self.one_line(self.duress_test("--no-such-option"), 2, "--no-such-option")

    def test_the_cases_can_be_listed(self):
        code, out, _ = self.duress_test("-R", "^store$", "-N")
        self.assertEqual(code, 0)
        self.assertEqual(len(out.split()), 20)
        self.assertIn("Few/Sizes.AreGuarded/2", out.split())
        self.assertNotIn("NeverRun", out)

    def test_ctrl_c_keeps_what_is_there_and_the_same_command_goes_on(self):
        words = [fit.tool(), "test", str(self.suite), "-R", "^store$", *RUNS, "-j", "1", "--json=races.json"]
        process = subprocess.Popen(
            words, cwd=self.folder, env=fit.environment(FEW), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        # Interrupted as soon as the first case has come to its end.
        while not list(self.folder.glob(".duress/tests/*/*.code")):
            self.assertIsNone(process.poll(), "it ended before it could be interrupted")
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=fit.TIMEOUT)
        self.assertIn(process.returncode, (66, 124), out + err)
        self.assertIn("interrupted, the same command goes on", err)
        first = self.document((self.folder / "races.json").read_text())
        self.assertFalse(first["complete"])
        code, out, err = fit.run(words, self.folder, FEW)
        self.assertEqual(code, 66, out + err)
        self.assertIn("going on after ", err)
        second = self.document((self.folder / "races.json").read_text())
        self.assertTrue(second["complete"], second)
        self.assertEqual(self.races(second), set(RACY.items()))
        # A third time it begins anew, and finds the same.
        code, out, err = fit.run(words, self.folder, FEW)
        self.assertNotIn("going on", err)
        third = self.document((self.folder / "races.json").read_text())
        for document in (second, third):
            document.pop("seconds")
            for case in document["cases"]:
                case.pop("seconds", None)
        self.assertEqual(third, second)

    def test_results_do_not_depend_on_how_many_run_side_by_side(self):
        documents = []
        for jobs in ("1", "3"):
            _, out, _ = self.duress_test("-R", "^store$", "--json", "-j", jobs, "--dir", f"dir{jobs}", env=FEW)
            document = json.loads(out)
            document.pop("seconds")
            for case in document["cases"]:
                case.pop("seconds")
            documents.append(json.dumps(document).replace(f"dir{jobs}", "dir"))
        self.assertEqual(documents[0], documents[1])


if __name__ == "__main__":
    fit.main()
