#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a search learns must not spoil it: failures that some seeds used to miss are found with each of five, within a thousand
runs. And ids of failures do not depend on the seed, nor on whether the run that found them also looked for races."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

PROGRAMS = harness.ROOT / "bench" / "search" / "programs"
HERE = pathlib.Path(__file__).resolve().parent


class SeedsTest(harness.ToolTest):
    def search(self, binary, seed, *options, args=()):
        options = ["--no-minimise", "--runs", "1000", "--max-steps", "500000", *options]
        code, document, err = self.tool.explore(binary, args, options=options, jobs=2, seed=seed)
        self.assertEqual(code, 66, err)
        return document["failures"][0]

    def every_seed_finds(self, name, *flags):
        binary = self.tool.compile(PROGRAMS / f"{name}.cc", flags)
        for seed in range(1, 6):
            with self.subTest(seed=seed):
                self.assertTrue(self.search(binary, seed)["replayed"])

    def test_many_racing_pairs(self):
        self.every_seed_finds("quicksort", "-DWORKERS=3")

    def test_threads_that_spin_beside_plain_variables(self):
        self.every_seed_finds("work_stealing", "-DFAST_LAST", "-DLATE_CLAIM", "-DSTATE", "-DITEMS=4", "-DTHIEVES=2")

    def test_two_switches_at_the_right_places(self):
        self.every_seed_finds("stack", "-DTHREADS=2")

    def test_four_switches_at_the_right_places(self):
        self.every_seed_finds("least_sum", "-DROUNDS=5")

    def test_ids_of_exit_codes_say_where(self):
        binary = self.tool.compile(HERE / "exits.cc")
        ids = {}
        for how in ("returns", "calls", "thread"):
            found = [self.search(binary, seed, args=[how]) for seed in (1, 2)]
            self.assertEqual([failure["failure"] for failure in found], ["exit:3", "exit:3"])
            self.assertEqual(found[0]["id"], found[1]["id"])
            ids[how] = found[0]["id"]
        self.assertEqual(len(set(ids.values())), 3, ids)


if __name__ == "__main__":
    harness.unit_tests(__doc__)
