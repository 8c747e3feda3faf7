# SPDX-License-Identifier: Apache-2.0
"""What the tests of faults share: racing.cc under a command, and what a command may say that could not do its work."""
import json
import os
import pathlib
import re
import select
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
LINGERING = 60  # seconds: a process that is still there then has been left behind
CLAIMS = ("complete", "proved", "no failure", "no data race", "no race", "no harm")
COMMANDS = {
    "verify": ["verify"],
    "verify rc11": ["verify", "--model", "rc11"],
    "explore": ["explore"],
    "classify": ["classify", "--runs", "5"],
    "run": ["run"],
    "run controlled": ["run", "--controlled"],
}


class Faults:
    def __init__(self, options):
        self.tool = Tool(options.build, options.duress)
        self.racing = self.tool.compile(HERE / "racing.cc", level="-O1")

    def words(self, command, folder, program=None, extra=()):
        return [
            self.tool.duress,
            *COMMANDS.get(command, [command]),
            *extra,
            "--dir",
            folder,
            "--",
            program or self.racing,
        ]

    def says_nothing(self, code, out, err, about):
        """One line on stderr that tells what to do, exit code 125, and no claim."""
        text = err.decode(errors="replace")
        lines = [line for line in text.splitlines() if line.startswith("duress: ")]
        expect(code == 125, f"exit code {code} instead of 125:\n{out.decode()}\n{text}")
        expect(len(lines) == 1 and about in lines[0], f"not one line on stderr that names '{about}':\n{text}")
        said = (out.decode(errors="replace") + text).lower()
        claims = [claim for claim in CLAIMS if claim in said]
        expect(not claims, f"it claims {claims}:\n{said}")

    def document(self, words, env=None, folder=None):
        """`folder`: where it is started; that is a part of the name under which a campaign is continued."""
        with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
            code, out, err = self.tool.run([*words[:-2], "--json", *words[-2:]], folder or scratch, env=env)
            expect(out, f"no document, exit code {code}:\n{err.decode()}")
            document = json.loads(out)
            for key in ("seconds", "time"):
                document.pop(key, None)
            return code, document


def parent_of(pid):
    return int(re.search(r"PPid:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))[1])


def watch(pid):
    return pid, os.pidfd_open(pid)


def expect_end(watched):
    """Each of these processes ends by itself."""
    for pid, process in watched:
        ended = select.select([process], [], [], LINGERING)[0]
        if not ended:
            signal.pidfd_send_signal(process, signal.SIGKILL)
        os.close(process)
        expect(ended, f"process {pid} is left behind")


def with_ids(document):
    """With the ids of its failures only, and no difference between those found now and found before."""
    found = [failure["id"] for failure in document.get("failures", [])]
    return {**document, "failures": sorted(found + document.get("found_before", [])), "found_before": []}


def counts_of(document):
    """What a document says, without what differs from run to run anyway."""
    kept = ("runs", "interleavings", "complete", "failures", "races", "found_before")
    return json.dumps({key: document[key] for key in kept if key in document}, indent=1, sort_keys=True)
