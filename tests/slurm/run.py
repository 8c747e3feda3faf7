#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The campaign of ./demo.sh on a real Slurm that this test starts and ends: the same verdicts as alone, although a
worker is killed and requeued. Then what is said of wrong partitions, of tasks that fail, and how to attach and
cancel."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import manual  # noqa: E402
from private_slurm import PrivateSlurm  # noqa: E402

import harness  # noqa: E402
from harness import expect  # noqa: E402
from harness.campaign import Campaign, document  # noqa: E402


def until(what, ready, seconds=60):
    """Slurm tells nobody when something has happened."""
    end = time.monotonic() + seconds
    while not (found := ready()):
        expect(time.monotonic() < end, f"not within {seconds} s: {what}")
        time.sleep(0.05)
    return found


CASES = ("demo", "attach", "wrong", "test", "page")


class Cases:
    def __init__(self, tool, slurm, folder, target):
        self.tool, self.slurm, self.target = tool, slurm, target
        self.folder = pathlib.Path(folder)
        self.wanted = self.campaign("alone").local()

    def campaign(self, name, options=("--runs", "10")):
        folder = self.folder / name
        folder.mkdir()
        return Campaign(self.tool, folder, "classify", list(options), [self.target])

    def start(self, campaign, more=("--workers", "2")):
        return subprocess.Popen(
            campaign.words(["--executor", "slurm"], more),
            cwd=campaign.folder,
            env=self.tool.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def compare(self, campaign, process, what):
        code, out, err = campaign.finish(process)
        expect(code == self.wanted[0], f"{what}: exit code {code}, not {self.wanted[0]}: {err}")
        expect(
            document(out) == self.wanted[1],
            f"{what}:\n{document(out)[-1500:]}\nwanted:\n{self.wanted[1][-1500:]}\n{err}",
        )
        return err

    def hellos(self, campaign):
        """(shard, process) of every worker that ever said hello."""
        found = []
        for path in pathlib.Path(campaign.dir).glob("cluster/*/shards/*"):
            shard, process = path.name.split("-of-")[0], path.name.split(".")[2]
            found.append((int(shard), int(process)))
        return found

    def job(self, campaign):
        path = pathlib.Path(campaign.dir, "cluster/1/slurm/array")
        return until("a job array", lambda: path.exists() and path.read_text())

    def queue(self):
        return self.slurm.run("squeue", "-h", "-r", "-o", "%i %T").stdout.split("\n")[:-1]

    def demo(self):
        """A worker is ended by SIGKILL in the middle, its task requeued by hand."""
        short, self.wanted = self.wanted, self.campaign("demo alone", ()).local()
        campaign = self.campaign("demo", ())
        process = self.start(campaign)
        job = self.job(campaign)
        until("both workers", lambda: len(self.hellos(campaign)) >= 2 and campaign.records() > 20000)
        victim, other = dict(self.hellos(campaign))[1], dict(self.hellos(campaign))[2]
        os.kill(other, signal.SIGSTOP)  # or it is all done before the task comes again
        try:
            self.requeue(campaign, f"{job}_1", victim)
        finally:
            os.kill(other, signal.SIGCONT)
        self.compare(campaign, process, "demo")
        until("the end of the array", lambda: not any("RUNNING" in line for line in self.queue()))
        self.wanted = short

    def requeue(self, campaign, task, victim):
        os.kill(victim, signal.SIGKILL)

        def again():
            # What a task that is being cleaned up is told can be lost in the cleaning; and Slurm lets one that was
            # requeued wait for two minutes.
            state = self.slurm.run("squeue", "-h", "-r", "-t", "all", "-j", task, "-o", "%T").stdout.strip()
            if state == "FAILED":
                self.slurm.run("scontrol", "requeue", task)
            if state == "PENDING":
                self.slurm.run("scontrol", "update", f"JobId={task}", "StartTime=now")
            return any(shard == 1 and process != victim for shard, process in self.hellos(campaign))

        until("the task again", again)

    def attach(self):
        """Ctrl-C leaves the array running; the same command attaches; --cancel ends it."""
        campaign = self.campaign("attach")
        process = self.start(campaign)
        job = self.job(campaign)
        until("a worker", lambda: campaign.records() > 10000)
        process.send_signal(signal.SIGINT)
        code, _, err = campaign.finish(process)
        expect(code in (66, 124) and f"job array {job} continues" in err, f"Ctrl-C: {code} {err}")
        expect(any("RUNNING" in line for line in self.queue()), "the array does not run any more")
        code, out, err = self.tool.run([self.tool.duress, "status", "--json", "--dir", campaign.dir], campaign.folder)
        found = json.loads(out)["campaign"]
        expect(found["job"] == job and {t["state"] for t in found["tasks"]} == {"RUNNING"}, f"status: {out} {err}")
        err = self.compare(campaign, self.start(campaign), "attached")
        expect("submitted" not in err, f"it submitted a second array: {err}")

        campaign = self.campaign("cancel")
        process = self.start(campaign)
        job = self.job(campaign)
        until("a worker", lambda: campaign.records() > 10000)
        process.send_signal(signal.SIGINT)
        campaign.finish(process)
        code, _, err = campaign.finish(self.start(campaign, ["--cancel"]))
        expect(code == 0 and f"job array {job} is cancelled" in err, f"--cancel: {code} {err}")
        until("the end of the array", lambda: not any(f"{job}_" in line for line in self.queue()))
        code, _, err = campaign.finish(self.start(campaign, ["--cancel"]))
        expect(code == 125 and "no job array" in err, f"--cancel again: {code} {err}")
        self.compare(campaign, self.start(campaign, ["--workers", "1"]), "after --cancel")

    def wrong(self):
        campaign = self.campaign("partition")
        code, _, err = campaign.finish(self.start(campaign, ["--workers", "2", "--partition", "nope"]))
        expect(code == 125 and "invalid partition specified: nope (there are: main;" in err, f"partition: {code} {err}")
        self.compare(campaign, self.start(campaign), "with the right partition then")
        # Tasks that never come as far as duress: as on a node that does not see the folder.
        campaign = self.campaign("unseen")
        code, _, err = campaign.finish(
            self.start(
                campaign, ["--workers", "1", "--sbatch-args=--chdir=/", "--sbatch-args", "--output=/no/such/folder/%a"]
            )
        )
        expect(
            code == 125 and "task 1" in err and "failed on" in err and "nothing is lost" in err, f"unseen: {code} {err}"
        )
        self.compare(campaign, self.start(campaign, ["--workers", "1"]), "with a folder that is seen then")

    def test(self):
        """duress test: every case by an array of its own, with the findings of the local run."""
        folder = self.folder / "test"
        (folder / "out").mkdir(parents=True)
        lines = [f'add_test([=[Point.{name}]=] "{self.target}")\n' for name in ("First", "Second")]
        (folder / "out" / "CTestTestfile.cmake").write_text("".join(lines))
        findings = []
        for name, more in (("local", []), ("slurm", ["--executor", "slurm", "--workers", "2"])):
            code, out, err = self.tool.run(
                [self.tool.duress, "test", "out", "--runs", "10", "--json", "--dir", str(folder / name), *more], folder
            )
            expect(code == 66 and out, f"test, {name}: {code} {err}")
            races = [
                (race["id"], race["verdict"], race["tests"], race.get("evidence", {}).get("replay"))
                for race in json.loads(out)["races"]
            ]
            findings.append((code, races))
        expect(findings[0][1] and findings[0] == findings[1], f"test: {findings}")

    def page(self):
        """docs/guide/cluster.md, as printed."""
        manual.check(self.tool, self.folder / "page", self.target)


def main():
    parser = harness.parser(__doc__, programs=False)
    parser.add_argument("cases", nargs="*", default=list(CASES), help="only these of: " + " ".join(CASES))
    options = parser.parse_args()
    tool = harness.Tool(options.build, options.duress)
    target = str(tool.compile(harness.ROOT / "examples/jumble/double_checked_locking.cc", level="-O1"))
    folder = tempfile.mkdtemp(prefix="duress-slurm-")
    failed = 0
    try:
        with PrivateSlurm(f"{folder}/slurm") as slurm:
            tool.env = {**tool.env, "SLURM_CONF": slurm.env["SLURM_CONF"]}
            cases = Cases(tool, slurm, folder, target)
            for name in options.cases:
                problem, began = "", time.monotonic()
                try:
                    getattr(cases, name)()
                except harness.Failure as failure:
                    problem = str(failure)
                    for log in pathlib.Path(folder).glob("*/d/cluster/*/slurm/task-*.out"):
                        problem += f"\n{log}: {log.read_text(errors='replace')[-1000:]}"
                failed += bool(problem)
                print(f"{'FAIL' if problem else 'ok'} {name} ({time.monotonic() - began:.0f} s) {problem}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
