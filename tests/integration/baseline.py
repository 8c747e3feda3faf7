#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ids that stay, baselines and gates of every command, and findings that become regression tests."""
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import project as fit  # noqa: E402

COUNTER = """
#include <cstdio>
#include <cstdlib>
#include <thread>
// HEAD
int unrelated_one(int x) { return x + 1; }

static long total;
static int ready, value;

void add_many() {
  for (int i = 0; i < 3; ++i) total = total + 1;
}

int main() {
  auto unrelated = [](int x) { return unrelated_one(x); };
  std::thread first(add_many);
  std::thread second([] { value = 5; ready = 1; });
  add_many();
  int seen = value + ready;
  first.join();
  second.join();
  if (seen > 6) std::abort();
  return unrelated(1) == 2 && total == 6 ? 0 : 1;
}
"""
FAILS = """
#include <cstdlib>
#include <mutex>
#include <thread>
std::mutex first, second;
int main() {
  std::thread other([] { std::scoped_lock a(second); std::scoped_lock b(first); });
  { std::scoped_lock a(first); std::scoped_lock b(second); }
  other.join();
}
"""


class BaselineTest(fit.ProjectTest):
    def compile(self, text, name="counter", level="-O1"):
        source = self.folder / f"{name}.cc"
        source.write_text(text)
        fit.run(
            [fit.tool("duress-c++"), "-std=c++20", "-g", level, "-pthread", source, "-o", self.folder / name], code=0
        )
        return f"./{name}"

    def duress(self, command, *words):
        """Advice, which takes most of the time of classify, changes neither ids nor gates."""
        advice = ["--no-advice"] if command == "classify" else []
        return fit.run([fit.tool(), command, *advice, *words], self.folder)

    def ids(self, command, program, *options):
        _, out, err = self.duress(command, "--json", *options, "--", program)
        self.assertTrue(out, err)
        return {race["id"]: race["variable"] for race in self.document(out)["races"]}

    def test_a_variable_has_one_id_in_every_command_and_at_every_level(self):
        known = self.ids("classify", self.compile(COUNTER), "--runs", "5")
        self.assertEqual(len(known), 3)
        for level in ["-O0", "-O2", "-O3"]:
            program = self.compile(COUNTER, level=level)
            self.assertEqual(self.ids("classify", program, "--runs", "5"), known)
            found = self.ids("run", program)
            self.assertLessEqual(found.items(), known.items())

    def test_a_baseline_covers_every_pair_of_accesses_to_its_variables(self):
        program = self.compile(COUNTER)
        baseline = self.folder / "baseline.json"
        code, out, err = self.duress("classify", "--json", "--runs", "5", "--", program)
        baseline.write_text(out)
        for seed in range(6):  # which pair comes first differs
            code, out, err = self.duress("run", "--seed", str(seed), "--baseline", baseline, "--", program)
            self.assertNotEqual(code, 66, err)

    def test_ids_stay_when_lines_move_and_other_code_changes_its_name(self):
        before = self.ids("classify", self.compile(COUNTER), "--runs", "5")
        self.assertEqual(set(before.values()), {"total", "ready", "value"})
        moved = COUNTER.replace(
            "// HEAD",
            "// a line\\n// another\\nstatic int padding;\\n"
            "int more() { auto l = [] { return padding; }; return l(); }".replace("\\n", "\n"),
        )
        moved = moved.replace("unrelated_one", "renamed_function").replace("  add_many();\n", "\n\n  add_many();\n")
        moved = moved.replace(
            "auto unrelated =", "auto another = [](int x) { return more() + x; };\n  another(3);\n  auto unrelated ="
        )
        self.assertEqual(self.ids("classify", self.compile(moved), "--runs", "5"), before)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        shutil.copy(self.folder / "counter.cc", elsewhere)
        fit.run(
            [fit.tool("duress-c++"), "-std=c++20", "-g", "-O1", "-pthread", "counter.cc", "-o", "counter"],
            elsewhere,
            code=0,
        )
        self.assertEqual(self.ids("classify", elsewhere / "counter", "--runs", "5"), before)

    def test_gates_of_run(self):
        program = self.compile(COUNTER)
        code, _, err = self.duress("run", "--controlled", "--json=old.json", "--", program)
        self.assertEqual(code, 66, err)
        self.document((self.folder / "old.json").read_text())
        code, _, err = self.duress("run", "--controlled", "--baseline", "old.json", "--json=new.json", "--", program)
        self.assertNotEqual(code, 66, err)
        self.assertIn("duress: in the baseline: R-", err)
        self.assertTrue(
            all(race["baseline"] for race in self.document((self.folder / "new.json").read_text())["races"])
        )
        fewer = json.loads((self.folder / "old.json").read_text())
        dropped = fewer["races"][-1]
        fewer["races"] = [race for race in fewer["races"] if race["id"] != dropped["id"]]
        (self.folder / "fewer.json").write_text(json.dumps(fewer))
        code, _, err = self.duress("run", "--controlled", "--baseline", "fewer.json", "--", program)
        self.assertEqual(code, 66)
        self.assertIn(dropped["id"], err)
        self.assertNotEqual(self.duress("run", "--controlled", "--fail-on", "never", "--", program)[0], 66)
        self.assertNotEqual(self.duress("run", "--controlled", "--fail-on", "new-destructive", "--", program)[0], 66)

    def test_gates_of_classify(self):
        program = self.compile(COUNTER)
        classify = ["classify", "--runs", "10", "--only", "total"]
        self.assertEqual(self.duress(*classify, "--json=old.json", "--", program)[0], 66)
        self.assertEqual(self.duress(*classify, "--baseline", "old.json", "--", program)[0], 0)
        self.assertEqual(self.duress(*classify, "--baseline", "old.json", "--fail-on", "race", "--", program)[0], 0)
        self.assertEqual(self.duress(*classify, "--fail-on", "new-destructive", "--", program)[0], 66)
        old = json.loads((self.folder / "old.json").read_text())
        for race in old["races"]:
            race.update(verdict="no-harm-found")
        (self.folder / "old.json").write_text(json.dumps(old))
        self.assertEqual(self.duress(*classify, "--baseline", "old.json", "--", program)[0], 0)
        self.assertEqual(
            self.duress(*classify, "--baseline", "old.json", "--fail-on", "new-destructive", "--", program)[0], 66
        )

    def test_gates_of_explore_and_verify(self):
        program = self.compile(FAILS, "fails")
        for command in ("explore", "verify"):
            code, _, err = self.duress(command, "--json=old.json", "--", program)
            self.assertEqual(code, 66, err)
            self.document((self.folder / "old.json").read_text())
            code, _, err = self.duress(command, "--baseline", "old.json", "--json=new.json", "--", program)
            self.assertEqual(code, 0, err)
            new = self.document((self.folder / "new.json").read_text())
            self.assertTrue(new["failures"] and all(failure["baseline"] for failure in new["failures"]))
            self.assertEqual(self.duress(command, "--fail-on", "never", "--", program)[0], 0)
            self.assertEqual(self.duress(command, "--fail-on", "new-destructive", "--", program)[0], 66)

    def test_broken_baselines(self):
        program = self.compile(FAILS, "fails")
        (self.folder / "broken.json").write_text('{"schema": "duress/1", "races": [')
        for command in ("run", "classify", "explore", "verify"):
            self.one_line(
                self.duress(command, "--baseline", "nowhere.json", "--", program), 2, "nowhere.json", "No such file"
            )
            self.one_line(
                self.duress(command, "--baseline", "broken.json", "--", program), 2, "not a document that --json wrote"
            )

    # ---- duress pin ------------------------------------------------------------------------------

    def pin(self, identity, *options):
        code, out, err = self.duress("pin", identity, "pins", *options)
        self.assertEqual((code, out), (0, f"pins/{identity}.sh\n"), err)

    def ctest(self, folder="pins"):
        code, out, err = fit.run(["ctest", "--test-dir", folder, "--output-on-failure"], self.folder)
        return code, out + err

    def test_a_race_becomes_a_test(self):
        program = self.compile(COUNTER)
        _, out, _ = self.duress("classify", "--runs", "10", "--only", "total", "--json", "--", program)
        race = next(race for race in json.loads(out)["races"] if race["verdict"] == "destructive")
        self.pin(race["id"])
        code, out = self.ctest()
        self.assertNotEqual(code, 0)
        self.assertIn(f"duress.{race['id']}", out)
        self.assertIn(f"{race['id']} fails again", out)
        # An edit that is no fix: the schedule no longer fits, but the race is found anew.
        self.compile(COUNTER.replace("i < 3", "i < 4").replace("total == 6", "total == 8"))
        code, out = self.ctest()
        self.assertNotEqual(code, 0, out)
        # The fix.
        self.compile(
            COUNTER.replace("static long total;", "#include <atomic>\nstatic std::atomic<long> total;").replace(
                "total = total + 1", "++total"
            )
        )
        code, out = self.ctest()
        self.assertEqual(code, 0, out)
        # As part of a project.
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\nenable_testing()\n" "add_subdirectory(pins)\n"
        )
        fit.run(["cmake", "-S", ".", "-B", "out"], self.folder, code=0)
        code, out = self.ctest("out")
        self.assertEqual(code, 0, out)
        self.assertIn("100% tests passed, 0 tests failed out of 1", out)
        # The folder can be moved with the project.
        copy = self.folder / "copy"
        copy.mkdir()
        for name in ("pins", "counter", "counter.cc"):
            (self.folder / name).rename(copy / name)
        code, out, err = fit.run(["ctest", "--test-dir", copy / "pins"], self.folder)
        self.assertEqual(code, 0, out + err)

    def test_a_failure_becomes_a_test(self):
        program = self.compile(FAILS, "fails")
        _, out, _ = self.duress("explore", "--json", "--", program)
        identity = json.loads(out)["failures"][0]["id"]
        self.pin(identity, "--expect", "fails")
        code, out = self.ctest()
        self.assertEqual(code, 0, out)
        self.pin(identity)
        code, out = self.ctest()
        self.assertNotEqual(code, 0)
        self.assertIn("deadlock", out)
        self.compile(FAILS.replace("a(second); std::scoped_lock b(first)", "a(first, second)"), "fails")
        code, out = self.ctest()
        self.assertEqual(code, 0, out)
        self.pin(identity, "--expect", "fails")
        code, out = self.ctest()
        self.assertNotEqual(code, 0)
        self.assertIn("no longer fails", out)

    def test_wrong_use_of_pin(self):
        self.one_line(self.duress("pin"), 2, "no finding or folder given")
        self.one_line(self.duress("pin", "R-12ab"), 2, "no finding or folder given")
        self.one_line(self.duress("pin", "nonsense", "pins"), 2, "'nonsense' is not an id")
        self.one_line(self.duress("pin", "R-12ab", "pins"), 2, "no recording of R-12ab")
        self.one_line(self.duress("pin", "--run", "nowhere.json"), 2, "nowhere.json", "No such file")
        (self.folder / "broken.json").write_text("{}")
        self.one_line(self.duress("pin", "--run", "broken.json"), 2, "is not a file of duress pin")
        self.assertFalse((self.folder / "pins").exists())
        program = self.compile(FAILS, "fails")
        _, out, _ = self.duress("explore", "--json", "--", program)
        identity = json.loads(out)["failures"][0]["id"]
        self.pin(identity)
        (self.folder / "fails").unlink()
        self.one_line(self.duress("pin", "--run", f"pins/{identity}.json"), 125, "cannot start", "build it")


if __name__ == "__main__":
    fit.main()
