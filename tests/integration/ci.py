#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What packaging/ci gives to continuous integration: the script that action.yml and gitlab.yml run, and their form."""
import json
import pathlib
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import project as fit  # noqa: E402

SUITE = pathlib.Path(__file__).resolve().parent / "suite"
SCRIPT = fit.ROOT / "packaging/ci/run.sh"


class CiTest(fit.ProjectTest):
    def test_a_project_is_built_tested_and_reported(self):
        outputs = self.folder / "outputs"
        settings = {
            "DURESS_CI_SOURCE": str(SUITE),
            "DURESS_CI_BUILD": "out",
            "DURESS_CI_OPTIONS": "-R ^store$ --runs 10",
            "GTEST_FILTER": "Store.KeepsItsSize:Few/*",
            "GITHUB_OUTPUT": str(outputs),
        }
        code, out, err = fit.run([SCRIPT], self.folder, settings)
        self.assertEqual(code, 66, out + err)
        self.assertEqual(outputs.read_text(), "sarif=duress.sarif\nhtml=duress.html\n")
        results = json.loads((self.folder / "duress.sarif").read_text())["runs"][0]["results"]
        self.assertTrue(all("primaryLocationLineHash" in one["partialFingerprints"] for one in results), results)
        suite = xml.etree.ElementTree.parse(self.folder / "duress.xml").getroot()[0]
        cases = {case.get("name"): [part.tag for part in case] for case in suite.findall("testcase")}
        self.assertTrue(any(tags == [] for name, tags in cases.items() if name.startswith("Few/")), cases)
        self.assertEqual(suite.get("failures"), "1", cases)

    def test_without_a_package_it_says_so(self):
        code, out, err = fit.run(["env", "PATH=/usr/bin:/bin", SCRIPT], self.folder)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("set DURESS_CI_PACKAGE", err)

    def test_shards_share_the_cases(self):
        suite = fit.built(SUITE, "suite")

        def listed(**env):
            return fit.run([fit.tool(), "test", suite, "-N"], self.folder, env, code=0)[1].split("\n")

        every = listed()[:-1]
        for prefix in ("GTEST", "TEST"):
            parts = [
                listed(**{f"{prefix}_TOTAL_SHARDS": "3", f"{prefix}_SHARD_INDEX": str(index)})[:-1]
                for index in range(3)
            ]
            self.assertEqual(sorted(sum(parts, [])), sorted(every))
            self.assertTrue(all(abs(len(part) - len(every) / 3) < 1 for part in parts))
        result = fit.run([fit.tool(), "test", suite], self.folder, {"TEST_TOTAL_SHARDS": "3", "TEST_SHARD_INDEX": "3"})
        self.one_line(result, 2, "TEST_TOTAL_SHARDS and TEST_SHARD_INDEX must be two numbers")

    def test_the_files_have_their_form(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is missing")
        action = yaml.safe_load((fit.ROOT / "action.yml").read_text())
        self.assertEqual(action["runs"]["using"], "composite")
        used = {word for step in action["runs"]["steps"] for word in step.get("env", {})}
        script = SCRIPT.read_text()
        self.assertTrue(all(word in script for word in used), used)
        template = yaml.safe_load((fit.ROOT / "packaging/ci/gitlab.yml").read_text())
        self.assertTrue(all(word in script for word in template[".duress"]["variables"]))


if __name__ == "__main__":
    fit.main()
