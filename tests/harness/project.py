# SPDX-License-Identifier: Apache-2.0
"""Projects with a build system of their own, built with the tool as it was built, and unit tests on them."""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from . import documents
from .tool import ROOT  # noqa: F401: project.ROOT

TIMEOUT = 600  # seconds: only a hang gets there
BUILD = None


def tool(name="duress"):
    return str(BUILD / "bin" / name)


def environment(extra=None):
    env = {k: v for k, v in os.environ.items() if k not in ("DURESS_OPTIONS", "CI", "CC", "CXX", "CMAKE_PREFIX_PATH")}
    env["PATH"] = f"{BUILD / 'bin'}:{env['PATH']}"
    return {**env, **(extra or {})}


def run(words, folder=None, env=None, code=None, text=""):
    """(exit code, stdout, stderr). With `code` another one is a failure."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment(env),
        input=text.encode(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if code is not None and done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, words))}\nended with {done.returncode}, not {code}\n{out}\n{err}")
    return done.returncode, out, err


def stamp():
    """Changes when what we build with has changed."""
    built = sorted((BUILD / "lib").rglob("*"))
    parts = [p for p in [BUILD / "bin/duress-c++", *built] if p.is_file() and p.name != "duress"]
    return [(str(p), p.stat().st_mtime_ns) for p in parts]


def built(source, name, *options):
    """A build folder of that project, made with duress' toolchain file. Built once for equal source and tool."""
    text = [(p.name, p.read_bytes()) for p in sorted(source.rglob("*")) if p.is_file()]
    key = hashlib.sha256(repr((stamp(), text, options)).encode()).hexdigest()[:12]
    folder = BUILD / "tests" / "integration" / name
    if (folder / "key").exists() and (folder / "key").read_text() == key:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    run(
        [
            "cmake",
            "-S",
            source,
            "-B",
            folder,
            f"-DCMAKE_TOOLCHAIN_FILE={run([tool(), 'cmake'], code=0)[1].strip()}",
            *options,
        ],
        code=0,
    )
    run(["cmake", "--build", folder], code=0)
    (folder / "key").write_text(key)
    return folder


class ProjectTest(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="duress-project-")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name).resolve()

    def document(self, text):
        return documents.valid(json.loads(text))

    def one_line(self, result, code, *words):
        self.assertEqual(result[0], code, result)
        self.assertEqual(result[1], "", result)
        self.assertEqual(result[2].count("\n"), 1, result[2])
        for word in ("duress: ", *words):
            self.assertIn(word, result[2])


def main():
    global BUILD
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    BUILD = options.build.resolve()
    (BUILD / "tests" / "integration").mkdir(parents=True, exist_ok=True)
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)
