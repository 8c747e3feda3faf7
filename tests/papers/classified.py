# SPDX-License-Identifier: Apache-2.0
"""`duress classify` on examples, for tests and benches that compare with the papers' tables."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

ROOT = harness.ROOT


class Rate:
    """What one attack came to."""

    def __init__(self, rate):
        self.model, self.fair = rate["model"], rate.get("fair", True)
        self.heuristic = rate.get("heuristic") or rate.get("strategy")
        self.failed, self.runs = rate["failed"], rate["runs"]

    def percent(self):
        return 100 * self.failed / self.runs if self.runs else 0


class Variable:
    def __init__(self, race):
        evidence = race.get("evidence", {})
        self.verdict, self.failure = race.get("verdict"), evidence.get("failure")
        self.rates = [Rate(rate) for rate in evidence.get("rates", [])]
        self.stats = race.get("stats") or evidence.get("stats") or {}

    def percent(self, model, heuristic):
        """Of the fair runs of one heuristic, or None."""
        found = [r.percent() for r in self.rates if (r.model, r.heuristic, r.fair) == (model, heuristic, True)]
        return found[0] if found else None

    def best(self, model):
        found = [r.percent() for r in self.rates if r.model == model and r.fair]
        return max(found) if found else None

    def failed(self, model):
        """How often any attack of that model failed, fair or not; None: there was none."""
        found = [r.failed for r in self.rates if r.model == model]
        return sum(found) if found else None


class Classifier:
    """Compiles examples and classifies each once."""

    def __init__(self, build, runs, seed=1, options=()):
        self.build, self.runs, self.seed, self.options = build.resolve(), runs, seed, list(options)
        self.tool = harness.Tool(self.build)
        self.known = {}

    def compile(self, example):
        return self.tool.compile(ROOT / "examples" / f"{example}.cc")

    def variables(self, example):
        """name -> Variable, of all that race."""
        if example not in self.known:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [
                        self.build / "bin" / "duress",
                        "classify",
                        "--no-advice",
                        "--runs",
                        str(self.runs),
                        "--seed",
                        str(self.seed),
                        *self.options,
                        "--json",
                        "--dir",
                        folder,
                        "--",
                        self.compile(example),
                    ],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            if done.returncode not in (0, 66):
                raise RuntimeError(f"{example}: duress classify ended with {done.returncode}: {done.stderr[-500:]}")
            races = json.loads(done.stdout)["races"]
            self.known[example] = {race["variable"]: Variable(race) for race in races}
        return self.known[example]
