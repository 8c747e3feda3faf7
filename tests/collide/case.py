# SPDX-License-Identifier: Apache-2.0
"""What the tests of `duress collide` share: programs that GCC built, and a run of the command on one."""
import argparse
import filecmp
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

ARGS = argparse.Namespace()  # what run.py was given
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FAST = ["--rate=2000/s", "--delay=0.2ms"]  # many samples, whatever they cost
TIMEOUT = 200  # seconds: only a hang gets there


class CollideTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="duress-collide-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, source, *flags, strip=False):
        """The path of a program built by GCC at -O2; -g unless `flags` say otherwise."""
        key = (source, flags, strip)
        if key not in self.built:
            work = pathlib.Path(ARGS.work)
            work.mkdir(parents=True, exist_ok=True)
            compiler = "g++" if source.endswith(".cc") else "gcc"
            words = [
                compiler,
                "-O2",
                "-pthread",
                *(["-std=c++20"] if compiler == "g++" else []),
                *(flags or ["-g"]),
                str(PROGRAMS / source),
            ]
            name = re.sub(r"[^\w.]", "", "".join([source, *flags])) + (".stripped" if strip else "")
            handle, path = tempfile.mkstemp(prefix=name + "-", dir=work)
            os.close(handle)
            subprocess.run([*words, "-o", path, "-ldl"], check=True)
            if strip:
                subprocess.run(["strip", path], check=True)
            final = str(work / name)
            # Classes run side by side: a program that another one runs must not be replaced below it.
            if os.path.exists(final) and filecmp.cmp(path, final, shallow=False):
                os.remove(path)
            else:
                os.replace(path, final)
            self.built[key] = final
        return self.built[key]

    def collide(self, *words, **more):
        return subprocess.run(
            [ARGS.duress, "collide", *words],
            cwd=self.folder,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            **more,
        )

    def document(self, *words):
        result = self.collide("--json=out.json", *words)
        with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as file:
            document = json.load(file)
        harness.valid(document)
        self.assertEqual(document["command"], "collide")
        return result, document

    def first_race(self, *words):
        """Until a race is found; it, and the output. Threads that are held together can be caught together."""
        result, document = self.document("--halt", *FAST, *words)
        self.assertEqual(result.returncode, 66, result)
        self.assertGreaterEqual(len(document["races"]), 1, result.stderr)
        return document["races"][0], result

    def no_race(self, result, document, code=0):
        """No race, and that is said only if something was sampled: on a busy machine the target may end before."""
        sampled = document["collide"]["samples"] > 0
        self.assertEqual(result.returncode, code or (0 if sampled else 125), result)
        self.assertEqual(document["races"], [], result.stderr)
        self.assertIn("no data race found" if sampled else "nothing was sampled", result.stderr)

    def wait_until_traced(self, process):
        """The tracer's id."""
        tracer = "0"
        while tracer == "0":
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                tracer = re.search(r"TracerPid:\s*(\d+)", file.read())[1]
        return tracer

    def needs_watchpoints(self, document):
        if not document["collide"]["watchpoints"]:
            self.skipTest("no hardware watchpoints here")
