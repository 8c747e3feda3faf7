#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of `duress work`, at moments that a seed chooses among all calls of the worker (injected.c): no memory, no
descriptors, no room, no processes, a clock that jumps, SIGKILL. The worker goes on, or ends with one line and 125; the
campaign gives what it gives alone, with the help of a second worker that nobody disturbs. Nothing is left behind.

--moments N   so many moments of each kind"""
import pathlib
import random
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.campaign import Campaign, document  # noqa: E402
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NEVER = 10**9
KINDS = ("memory", "files", "room", "processes", "clock", "kill")


class Workers:
    def __init__(self, options):
        self.tool = Tool(options.build, options.duress)
        self.library = self.tool.compile(HERE / "injected.c", compiler=["clang-19"], library=True)
        self.work = (
            "explore",
            ["--keep-going", "--runs", "300"],
            [str(self.tool.build / "tests/exec_fake_target"), "two"],
        )
        self.calls = {}
        with tempfile.TemporaryDirectory(prefix="duress-workers-") as scratch:
            self.wanted = Campaign(self.tool, scratch, *self.work).local()

    def campaign(self, kind, at, length, helped):
        """(exit code and stderr of the disturbed worker, its number of calls); the answer is the one of a campaign alone."""
        with tempfile.TemporaryDirectory(prefix="duress-workers-") as scratch:
            folder = pathlib.Path(scratch)
            (folder / "tmp").mkdir()
            env = {
                **self.tool.env,
                "TMPDIR": f"{folder}/tmp",
                "LD_PRELOAD": str(self.library),
                "INJECT_NAME": "duress",
                "INJECT_KIND": kind,
                "INJECT_AT": str(at),
                "INJECT_FOR": str(length),
                "INJECT_COUNT": f"{folder}/count",
            }
            campaign = Campaign(self.tool, scratch, *self.work)
            try:
                coordinator = campaign.start(2 if helped else 1)
                worker = campaign.work(1, 2 if helped else 1, env=env)
                if helped:
                    campaign.work(2, 2)
                code, out, err = campaign.finish(coordinator)
                expect(code == self.wanted[0], f"the campaign: exit code {code}:\n{err}")
                expect(document(out) == self.wanted[1], f"the campaign says something else:\n{out.decode()}\n{err}")
                code, _, err = campaign.finish(worker)
            finally:
                campaign.end()
            left = [path.name for path in (folder / "tmp").iterdir()]
            expect(not left, f"{left} is left in TMPDIR, exit code {code}:\n{err}")
            count = folder / "count"
            return code, err, int(count.read_text()) if count.exists() else 0

    def undisturbed(self, kind):
        if kind not in self.calls:
            code, err, calls = self.campaign(kind, NEVER, 1, helped=False)
            expect(code == 0 and calls > 0, f"{kind} without a fault: exit code {code}, {calls} calls:\n{err}")
            self.calls[kind] = calls
        return self.calls[kind]

    def at_moment(self, kind, part, length):
        def check():
            # The clock is wrong from the first call on: how often it is asked depends on how long the worker waits.
            at = 1 if kind == "clock" else 1 + int(part * self.undisturbed(kind))
            code, err, _ = self.campaign(kind, at, length, helped=True)
            said = f"at call {at}: exit code {code}\n{err}"
            if code == -signal.SIGKILL:
                expect(kind == "kill", f"killed {said}")
                return
            expect(code in (0, 125), f"not an end as it should be {said}")
            lines = [line for line in err.splitlines() if line.startswith("duress: ")]
            expect("internal error" not in err and len(lines) == 1, f"not one line that says why {said}")

        return check

    def cases(self, moments):
        for kind in KINDS:
            chosen = random.Random(f"{kind} work")
            for number in range(moments):
                length = chosen.choice((1, NEVER))  # a fault that passes, or one that stays
                part = chosen.random()
                yield f"{kind}, moment {number + 1}", self.at_moment(kind, part, length)


def main():
    made = parser(__doc__, programs=False)
    made.add_argument("--moments", type=int, default=1)
    options = made.parse_args()
    report(Workers(options).cases(options.moments))


main()
