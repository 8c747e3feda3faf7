#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that is freed while another thread may still use it is found by every seed, in freed.cc in seven ways; what is used
before it is freed is not reported."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

PROGRAM = pathlib.Path(__file__).resolve().parent / "freed.cc"
WAYS = ["thread_frees", "main_frees", "vector_grows", "string_destroyed", "raw_pointer", "end_of_block", "late"]


class FreedTest(harness.ToolTest):
    def explore(self, seed, runs, *args):
        options = ["--no-minimise", "--runs", str(runs)]
        code, document, errors = self.tool.explore(self.tool.compile(PROGRAM), args, options=options, jobs=2, seed=seed)
        self.assertIsNotNone(document, errors)
        return code, document

    def test_every_seed_finds_it(self):
        for way in WAYS:
            for seed in range(1, 6):
                with self.subTest(way=way, seed=seed):
                    code, document = self.explore(seed, 1000, way)
                    self.assertEqual(code, 66, document["summary"])
                    self.assertEqual(document["failures"][0]["failure"], "use-after-free")
                    self.assertTrue(document["failures"][0]["replayed"])

    def test_right_programs_are_silent(self):
        for way in WAYS:
            with self.subTest(way=way):
                code, document = self.explore(1, 200, way, "right")
                self.assertEqual((code, document["failures"], document["races"]), (0, [], []))


if __name__ == "__main__":
    harness.unit_tests(__doc__)
