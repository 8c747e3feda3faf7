# SPDX-License-Identifier: Apache-2.0
"""What the tests of pages need beside the build: node's packages, a browser, and a report to look at."""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests/report/page"


def run(*words, cwd=None, env=None, code=0):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True)
    if code is not None and done.returncode != code:
        raise AssertionError(
            f"{shlex.join(map(str, words))}: exit code {done.returncode}, not {code}\n"
            f"{done.stdout.decode(errors='replace')[-4000:]}\n{done.stderr.decode(errors='replace')[-4000:]}"
        )
    return done


class Tools:
    """What is needed beside the build: node's packages and a browser."""

    def __init__(self, build):
        self.folder = build / "tests/report-page"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.duress = build / "bin/duress"
        self.compiler = build / "bin/duress-c++"
        self.modules = self.folder / "node_modules"
        wanted = (PAGE / "package.json").read_text()
        stamp = self.modules / ".duress"
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.copy(PAGE / "package.json", self.folder)
            done = run(
                "npm",
                "install",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--no-package-lock",
                cwd=self.folder,
                code=None,
            )
            if done.returncode:
                sys.exit(
                    "npm cannot install what the tests of reports need (is its registry reachable?):\n"
                    + done.stderr.decode()[-2000:]
                )
            stamp.write_text(wanted)
        self.chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if not self.chromium:
            sys.exit("chromium is not installed; tools/install.sh tools/packages-test.txt")
        self.env = dict(os.environ, DURESS_NODE_MODULES=str(self.modules), DURESS_CHROMIUM=self.chromium)

    def node(self, script, *words):
        return json.loads(run("node", PAGE / script, *words, env=self.env).stdout or b"{}")

    def demo(self):
        """The folder in which the program of demo.sh was classified, made once."""
        folder = self.folder / "demo"
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        source = folder / "double_checked_locking.cc"
        shutil.copy(ROOT / "examples/jumble/double_checked_locking.cc", source)
        run(
            self.compiler,
            "-g",
            "-O1",
            "-std=c++20",
            f"-I{ROOT}/examples/support",
            "-pthread",
            source.name,
            "-o",
            "point",
            cwd=folder,
        )
        run(self.duress, "classify", "--", "./point", cwd=folder, code=66)
        return folder
