# SPDX-License-Identifier: Apache-2.0
"""Races that `duress collide` finds, and what is said of them."""
import json
import os
import subprocess

from case import ARGS, CollideTest, FAST, PROGRAMS, TIMEOUT


class RacesTest(CollideTest):
    def test_counter(self):
        race, result = self.first_race("--", self.program("counter.c"))
        self.assertEqual(race["variable"], "counter")
        self.assertEqual(race["kind"], "write-write")
        self.assertEqual(race["found_by"], ["Collide"])
        self.assertEqual(race["category"], "counter")
        for site in race["sites"]:
            self.assertEqual((os.path.basename(site["file"]), site["function"]), ("counter.c", "bump"))
            self.assertEqual([frame["function"] for frame in site["stack"][:2]], ["bump", "work"])
            self.assertRegex(site["instruction"], r"^add qword ptr \[0x[0-9A-F]+\], 0x1$")
        self.assertEqual({site["thread"] for site in race["sites"]}, {1, 2})
        self.assertRegex(result.stderr, r"counter\.c:\d+:\d+: warning: data race on counter \[R-[0-9a-f]{4}\]\n")
        self.assertIn("looks like a statistics counter (--hide=counters)", result.stderr)

    def test_the_same_id_as_an_instrumented_build(self):
        race, _ = self.first_race("--", self.program("counter.c"))
        compiler = os.path.join(os.path.dirname(ARGS.duress), "duress-cc")
        path = os.path.join(self.folder, "counter")
        subprocess.run([compiler, "-O2", "-g", "-pthread", str(PROGRAMS / "counter.c"), "-o", path], check=True)
        subprocess.run(
            [ARGS.duress, "run", "--halt", "--json=run.json", "--", path],
            cwd=self.folder,
            text=True,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        with open(os.path.join(self.folder, "run.json"), encoding="utf-8") as file:
            races = json.load(file)["races"]
        self.assertIn(
            (race["id"], "counter"),
            [(other["id"], other["variable"]) for other in races if other["kind"] == "write-write"] or races,
        )

    def test_field_of_a_heap_object(self):
        race, _ = self.first_race("--", self.program("cache.cc"))
        self.assertEqual(race["variable"], "Cache::size_")
        # What the other thread stored while the first was held may be what was there.
        self.assertIn(race["category"], ("race", "same-value"))

    def test_without_debug_information(self):
        # The symbol has a name; the instruction proves that no atomic is meant.
        race, _ = self.first_race("--", self.program("counter.c", "-g0"))
        self.assertEqual(race["variable"], "counter")
        self.assertEqual(race["sites"][0]["function"], "bump")

    def test_stripped_static_and_fixed(self):
        for flags in (["-g0"], ["-g0", "-static-pie"], ["-g0", "-static"], ["-g0", "-no-pie"]):
            with self.subTest(flags=flags):
                race, _ = self.first_race("--", self.program("counter.c", *flags, strip=True))
                self.assertRegex(race["variable"], "^0x[0-9a-f]+$")
                self.assertEqual(race["sites"][0]["file"], "")

    def test_kinds(self):
        program = self.program("kinds.c")
        # Which store is caught is a matter of the moment: one that changes nothing can be seen of any but the named one.
        for kind, categories in (
            ("flags", ("flag", "same-value")),
            ("names", ("special-name",)),
            ("state", ("race", "same-value")),
            ("same", ("same-value", "race")),
        ):
            with self.subTest(kind=kind):
                if kind == "same":
                    _, document = self.document("--rate=0/s", "--", "/bin/true")
                    self.needs_watchpoints(document)
                race, _ = self.first_race("--", program, kind)
                self.assertIn(race["category"], categories)

    def test_volatile_and_untyped_are_asked_for(self):
        race, _ = self.first_race("--volatile", "--", self.program("kinds.c"), "volatile")
        self.assertEqual((race["variable"], race["category"]), ("ready", "volatile"))
        race, _ = self.first_race("--untyped", "--", self.program("kinds.c", "-g0"), "state")
        self.assertEqual((race["variable"], race["category"]), ("state", "untyped"))

    def test_values_alone(self):
        race, result = self.first_race("--no-watchpoints", "--", self.program("counter.c"))
        self.assertEqual(result.stderr.count("no hardware watchpoints"), 1)
        self.assertEqual(race["variable"], "counter")
        self.assertIn(-1, [site["thread"] for site in race["sites"]])
        self.assertNotEqual(race["before"], race["after"])
        self.assertIn("only the value changed, the writer is not known", result.stderr)

    def test_suppressed(self):
        with open(os.path.join(self.folder, "known.txt"), "w", encoding="utf-8") as file:
            file.write("race:^counter$\n")
        result, document = self.document("--suppressions=known.txt", *FAST, "--", self.program("counter.c"), "0.5")
        self.assertEqual(result.returncode, 7, result)
        self.assertEqual(document["races"], [])

    def test_hidden(self):
        result, document = self.document("--hide=counters", *FAST, "--", self.program("counter.c"), "0.5")
        self.assertEqual(result.returncode, 7, result)
        self.assertEqual(document["races"], [])
        self.assertFalse(document["collide"]["categories"]["counter"]["shown"])

    def test_a_writer_that_ends_is_known(self):
        # A thread may write what is watched and be gone before anybody looks.
        _, document = self.document(*FAST, "--", self.program("brief.c"))
        self.needs_watchpoints(document)
        self.assertEqual([race for race in document["races"] if -1 in [site["thread"] for site in race["sites"]]], [])

    def test_quiet(self):
        result = self.collide("--halt", "-q", *FAST, "--", self.program("counter.c"))
        self.assertEqual(result.returncode, 66)
        self.assertRegex(
            result.stderr, r"^(\S+counter\.c:\d+:\d+: warning: data race on counter \[R-[0-9a-f]{4}\]\n)+$"
        )
