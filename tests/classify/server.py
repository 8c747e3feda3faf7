#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress classify` on a server whose clients are threads of the test, the recipe of docs/guide/explore.md."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

SOURCE = harness.ROOT / "tests" / "explore" / "programs" / "echo_server.cc"


class ServerTest(harness.ToolTest):
    def classify(self, *arguments):
        with tempfile.TemporaryDirectory(prefix="duress-server-") as folder:
            words = [self.tool.duress, "classify", "--runs", "10", "--no-advice", "--json", "--"]
            words += [str(self.tool.compile(SOURCE)), *arguments]
            code, out, err = self.tool.run(words, folder, b"", 120, None)
        document = json.loads(out)
        harness.valid(document)
        return code, document

    def test_the_race_is_destructive(self):
        code, document = self.classify()
        self.assertEqual(code, 66)
        verdicts = {(race["variable"], race["verdict"]) for race in document["races"]}
        self.assertEqual(verdicts, {("(anonymous)::Server::served_", "destructive")})
        self.assertEqual(document["races"][0]["evidence"]["failure"], "assertion")

    def test_with_a_lock_there_is_none(self):
        code, document = self.classify("locked")
        self.assertEqual((code, document["races"]), (0, []))


if __name__ == "__main__":
    harness.unit_tests(__doc__)
