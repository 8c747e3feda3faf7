#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A campaign with workers in other processes gives what it gives alone: with 1, 2 and 7 of them, killed, started again,
started twice, and with a coordinator that is killed. Also what is said when something is wrong.

No Slurm here (that is tests/slurm): the workers are started by the test, as GNU parallel would."""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import expect  # noqa: E402
from harness.campaign import Campaign, document  # noqa: E402

WORKERS = (1, 2, 7)


def compare(wanted, got, what):
    code, out, err = got
    expect(code == wanted[0], f"{what}: exit code {code}, not {wanted[0]}: {err}")
    expect(document(out) == wanted[1], f"{what}:\n{document(out)[-1500:]}\nwanted:\n{wanted[1][-1500:]}\n{err}")


class Cases:
    def __init__(self, tool):
        self.tool = tool
        self.fake = str(tool.build / "tests" / "exec_fake_target")

    def campaign(self, command, options, target):
        folder = tempfile.mkdtemp(prefix="duress-cluster-")
        return Campaign(self.tool, folder, command, options, target)

    def done(self, campaign):
        campaign.end()
        shutil.rmtree(campaign.folder, ignore_errors=True)

    def wanted(self, command, options, target):
        campaign = self.campaign(command, options, target)
        try:
            return campaign.local()
        finally:
            self.done(campaign)

    def equal(self, command, options, target, workers=WORKERS):
        wanted = self.wanted(command, options, target)
        for count in workers:
            campaign = self.campaign(command, options, target)
            try:
                process = campaign.start(count)
                for shard in range(1, count + 1):
                    campaign.work(shard, count)
                compare(wanted, campaign.finish(process), f"{count} workers")
                for worker in campaign.workers:
                    code, _, err = campaign.finish(worker)
                    expect(code == 0 and "the campaign is finished" in err, f"worker ended with {code}: {err}")
            finally:
                self.done(campaign)

    def killed(self, command, options, target):
        """Workers are killed at several moments and started again; one runs twice; the coordinator is killed too."""
        wanted = self.wanted(command, options, target)
        campaign = self.campaign(command, options, target)
        try:
            process = campaign.start(2)
            for moment in range(4):
                victim = campaign.work(1, 2)
                before = campaign.records()
                while process.poll() is None and campaign.records() < before + 2000 * (moment + 1):
                    pass
                victim.send_signal(signal.SIGKILL)
                expect(victim.wait() == -signal.SIGKILL, "it had ended before it was killed")
            campaign.work(1, 2)
            campaign.work(1, 2)
            compare(wanted, campaign.finish(process), "killed workers")
        finally:
            self.done(campaign)

        for kill_at in (1, 60):
            campaign = self.campaign(command, options, target)
            try:
                process = campaign.start(2, env={"DURESS_TEST_KILL_AT": str(kill_at)})
                campaign.work(2, 2)  # the second does not take over
                code, _, err = campaign.finish(process)
                expect(code == -signal.SIGKILL, f"coordinator: {code} {err}")
                code, out, err = campaign.finish(
                    subprocess.Popen(
                        [self.tool.duress, "merge", campaign.dir],
                        env=self.tool.env,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                    )
                )
                expect(code in (66, 124), f"merge of a part: {code} {err}")
                compare(wanted, campaign.finish(campaign.start(2)), f"coordinator killed at {kill_at}")
            finally:
                self.done(campaign)

    def abandoned(self, command, options, target):
        """Nobody drives the campaign any more: the first worker does, and the command then only has to read."""
        wanted = self.wanted(command, options, target)
        campaign = self.campaign(command, options, target)
        try:
            process = campaign.start(1, env={"DURESS_TEST_KILL_AT": "20"})
            worker = campaign.work(1, 1)
            expect(campaign.finish(process)[0] == -signal.SIGKILL, "the coordinator was not killed")
            code, _, err = campaign.finish(worker)
            expect(code == 0 and "no process drives the campaign" in err, f"worker: {code} {err}")
            code, out, err = campaign.finish(
                subprocess.Popen(
                    [self.tool.duress, "merge", campaign.dir],
                    env=self.tool.env,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            )
            compare(wanted, (code, out, err), "merge")
            compare(wanted, campaign.finish(campaign.start(1)), "the command again, without workers")
        finally:
            self.done(campaign)

    def status(self, command, options, target):
        campaign = self.campaign(command, options, target)
        words = [self.tool.duress, "status", "--dir", campaign.dir]
        try:
            code, _, err = self.tool.run(words, campaign.folder)
            expect(code == 2 and b"no campaign" in err, f"without one: {code} {err}")
            process = campaign.start(2)
            code, out, _ = self.tool.run(words, campaign.folder)
            expect(code == 0 and b"running" in out, f"without workers: {out}")
            campaign.work(2, 2)
            while process.poll() is None and campaign.records() < 4000:
                pass
            campaign.finish(process)
            campaign.finish(campaign.workers[0])
            code, out, _ = self.tool.run([*words, "--json"], campaign.folder)
            found = json.loads(out)
            harness.valid(found)
            worker = found["campaign"]["workers"][0]
            expect(
                found["campaign"]["state"] == "finished"
                and worker["shard"] == 2
                and worker["state"] == "ended"
                and worker["runs"] > 0,
                f"at the end: {out}",
            )
            code, out, _ = self.tool.run([*words, "--watch"], campaign.folder)
            expect(code == 0 and b"worker 2/2" in out, f"--watch: {out}")
        finally:
            self.done(campaign)

    def wrong(self):
        """One clear line each."""
        campaign = self.campaign("classify", ["--runs", "3"], [self.fake, "stale"])
        try:
            empty = f"{campaign.folder}/bin"
            pathlib.Path(empty).mkdir()
            code, _, err = self.tool.run(
                campaign.words(["--executor", "slurm", "--workers", "2"]), campaign.folder, env={"PATH": empty}
            )
            expect(code == 125 and b"apt-get install slurm-client" in err and err.count(b"\n") == 1, f"no Slurm: {err}")
            code, _, err = self.tool.run(campaign.words(["--workers", "2"]), campaign.folder)
            expect(code == 2 and b"--executor slurm" in err, f"--workers alone: {err}")
            for words, text in (
                ([], "--shard"),
                (["--shard", "3/2"], "invalid shard"),
                (["--shard", "x"], "invalid shard"),
                (["--shard", "1/1", "--time", "x"], "invalid time"),
                (["--shard", "1/1"], "every machine must see the folder"),
            ):
                code, _, err = self.tool.run([self.tool.duress, "work", "--dir", campaign.dir, *words], campaign.folder)
                expect(
                    code in (2, 125) and text.encode() in err and err.count(b"\n") == 1, f"work {words}: {code} {err}"
                )
            code, _, err = self.tool.run([self.tool.duress, "merge", campaign.dir], campaign.folder)
            expect(code == 2 and b"no campaign" in err, f"merge of nothing: {err}")

            # A program that cannot be controlled is said as alone.
            campaign.target = ["/bin/true"]
            process = campaign.start(1)
            campaign.work(1, 1)
            code, _, err = campaign.finish(process)
            expect(code == 125 and "is not instrumented" in err, f"/bin/true: {code} {err}")
            self.tool.run([self.tool.duress, "status", "--dir", campaign.dir], campaign.folder)
        finally:
            self.done(campaign)

        # Another campaign in the same folder, not finished.
        campaign = self.campaign("classify", ["--runs", "3"], [self.fake, "stale"])
        try:
            process = campaign.start(1, env={"DURESS_TEST_KILL_AT": "2"})
            campaign.work(2, 2)
            campaign.finish(process)
            campaign.target = [self.fake, "future"]
            code, _, err = campaign.finish(campaign.start(1))
            expect(code == 125 and "has another campaign that is not finished" in err, f"another: {code} {err}")
        finally:
            self.done(campaign)

    def full(self):
        """A record that cannot be written any more: the worker says so, and another one goes on where it stopped. (A full disk
        itself is tried in shard_log_test.)"""
        wanted = self.wanted("classify", ["--runs", "5"], [self.fake, "stale"])
        campaign = self.campaign("classify", ["--runs", "5"], [self.fake, "stale"])
        try:
            process = campaign.start(1)
            worker = campaign.work(1, 1)
            while campaign.records() < 4000:
                pass
            shards = pathlib.Path(campaign.dir, "cluster/1/shards")
            shards.rename(shards.with_name("away"))
            code, _, err = campaign.finish(worker)
            expect(
                code == 125 and "results so far are kept: make room" in err and err.count("\n") == 1,
                f"full: {code} {err}",
            )
            shards.with_name("away").rename(shards)
            campaign.work(1, 1)
            compare(wanted, campaign.finish(process), "after a full disk")
        finally:
            self.done(campaign)

    def stops(self):
        """SIGTERM and --time end a worker cleanly, and nothing is lost."""
        wanted = self.wanted("classify", ["--runs", "5"], [self.fake, "stale"])
        campaign = self.campaign("classify", ["--runs", "5"], [self.fake, "stale"])
        try:
            process = campaign.start(1)
            worker = campaign.work(2, 2)
            while campaign.records() < 4000:
                pass
            worker.send_signal(signal.SIGTERM)
            code, _, err = campaign.finish(worker)
            expect(code == 0 and "asked to stop" in err, f"SIGTERM: {code} {err}")
            timed = subprocess.Popen(
                [self.tool.duress, "work", "--dir", campaign.dir, "--shard", "2/2", "--time", "1ms"],
                stderr=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=self.tool.env,
            )
            code, _, err = campaign.finish(timed)
            expect(code == 0 and "time is up" in err, f"--time: {code} {err}")
            campaign.work(1, 2)
            compare(wanted, campaign.finish(process), "after workers that ended")
        finally:
            self.done(campaign)


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    cases = Cases(harness.Tool(options.build, options.duress))
    fake = cases.fake
    runs = [
        ("equal classify stale", cases.equal, ("classify", ["--runs", "5"], [fake, "stale"])),
        ("equal explore counter", cases.equal, ("explore", [], [fake, "counter"])),
        ("killed", cases.killed, ("classify", ["--runs", "5"], [fake, "stale"])),
        ("abandoned", cases.abandoned, ("classify", ["--runs", "5"], [fake, "stale"])),
        ("status", cases.status, ("classify", ["--runs", "5"], [fake, "stale"])),
        ("wrong", cases.wrong, ()),
        ("full", cases.full, ()),
        ("stops", cases.stops, ()),
    ]
    if options.suite == "all":
        example = str(cases.tool.compile(harness.ROOT / "examples/jumble/double_checked_locking.cc"))
        runs += [
            ("equal classify future", cases.equal, ("classify", ["--runs", "12"], [fake, "future"])),
            ("equal explore, on and on", cases.equal, ("explore", ["--keep-going", "--runs", "300"], [fake, "two"])),
            ("equal explore deadlock", cases.equal, ("explore", [], [fake, "deadlock"])),
            ("equal classify", cases.equal, ("classify", ["--runs", "10"], [example])),
            ("equal verify", cases.equal, ("verify", [], [example])),
            ("killed example", cases.killed, ("classify", ["--runs", "5"], [example])),
        ]
    harness.report((name, lambda case=case, arguments=arguments: case(*arguments)) for name, case, arguments in runs)


if __name__ == "__main__":
    main()
