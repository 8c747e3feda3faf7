#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real faults while commands work: a full disk, targets that are killed, limits, streams that cannot be written. Whatever
happens, no command says anything that was not run: it repeats the execution, or ends with 125 and one line.

disk      the folder of --dir is on a disk without room, or one that is full in the middle of the work
killed    something outside kills the target's processes
limits    ulimit -f and ulimit -s
streams   standard output and documents on /dev/full
time      --time and SIGTERM end executions that do not end by themselves, and what was found is reported"""
import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import expect, parser, report  # noqa: E402
from harness.tool import TIMEOUT, Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
LINGERING = 60  # seconds: a process that is still there then has been left behind
THEMES = ("disk", "killed", "limits", "streams", "time")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT)
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
        self.deaths = self.tool.compile(HERE / "deaths.cc", level="-O1")

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

    # ---- disk

    def on_full_disk(self, command, env=None):
        """The command with its folder on a disk of 256 KiB; without `env` the disk is full from the beginning."""
        with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
            disk = pathlib.Path(scratch) / "disk"
            disk.mkdir()
            env = {name: value.format(disk=disk, scratch=scratch) for name, value in (env or {}).items()}
            fill = "" if env else f"head -c 300000 /dev/zero >{disk}/fill 2>{scratch}/said; "
            script = f'mount -t tmpfs -o size=256k none {disk} || exit {SKIPPED}; {fill}exec "$@"'
            words = ["unshare", *self.unshare, "sh", "-c", script, "sh", *self.words(command, f"{disk}/d")]
            return self.tool.run(words, scratch, env=env)

    def full_disk(self, command):
        return lambda: self.says_nothing(*self.on_full_disk(command), about="room")

    def filled_disk(self, command):
        env = {"FAULT_COUNT": "{scratch}/count", "FAULT_FILL": "{disk}/fill"}
        env["FAULT_RUN"] = "2" if command in ("explore", "classify") else "1"
        return lambda: self.says_nothing(*self.on_full_disk(command, env), about="")

    def says_nothing(self, code, out, err, about):
        """One line on stderr that tells what to do, exit code 125, and no claim."""
        text = err.decode(errors="replace")
        lines = [line for line in text.splitlines() if line.startswith("duress: ")]
        expect(code == 125, f"exit code {code} instead of 125:\n{out.decode()}\n{text}")
        expect(len(lines) == 1 and about in lines[0], f"not one line on stderr that names '{about}':\n{text}")
        said = (out.decode(errors="replace") + text).lower()
        claims = [claim for claim in CLAIMS if claim in said]
        expect(not claims, f"it claims {claims}:\n{said}")

    @property
    def unshare(self):
        return ["-m"] if os.getuid() == 0 else ["-rm"]

    def can_mount(self):
        script = "mount -t tmpfs -o size=64k none /tmp"
        words = ["unshare", *self.unshare, "sh", "-c", script]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    # ---- killed

    @contextlib.contextmanager
    def killer(self, scratch, every, signals=SIGNALS, parent=False):
        """Another process kills every n-th process of racing.cc, or the fork server that is its parent; yields its
        environment and the list of kills."""
        fifo = pathlib.Path(scratch) / "fifo"
        os.mkfifo(fifo)
        kills = []
        held = os.open(fifo, os.O_RDWR)

        def work():
            while True:
                pid = int(os.read(held, 8))
                if pid == 0:
                    return
                kills.append(pid)
                os.kill(parent_of(pid) if parent else pid, signals[len(kills) % len(signals)])

        thread = threading.Thread(target=work)
        thread.start()
        env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": str(every), "FAULT_FIFO": str(fifo)}
        try:
            yield env, kills
        finally:
            os.write(held, b"%8d" % 0)
            thread.join()
            os.close(held)

    def document(self, words, env=None, folder=None):
        """`folder`: where it is started; that is a part of the name under which a campaign is continued."""
        with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
            code, out, err = self.tool.run([*words[:-2], "--json", *words[-2:]], folder or scratch, env=env)
            expect(out, f"no document, exit code {code}:\n{err.decode()}")
            document = json.loads(out)
            for key in ("seconds", "time"):
                document.pop(key, None)
            return code, document

    def killed(self, command, extra=(), every=7):
        """The same document, whether processes are killed or not."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                with self.killer(scratch, every) as (env, kills):
                    never = {**env, "FAULT_RUN": "1000000"}
                    # One worker: an execution that is repeated is then not killed again, however fast others are.
                    alone = [*extra, "-j", "1"]
                    clean = self.document(self.words(command, f"{scratch}/clean", extra=alone), never)
                    expect(not kills, "the undisturbed campaign was disturbed")
                    disturbed = self.document(self.words(command, f"{scratch}/killed", extra=alone), env)
                expect(kills, "nothing was killed: the test shows nothing")
                expect(clean[0] == disturbed[0], f"exit code {disturbed[0]} instead of {clean[0]}")
                texts = [counts_of(document) for _, document in (clean, disturbed)]
                expect(texts[0] == texts[1], f"after {len(kills)} kills:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def paused(self, command, run, extra=()):
        """From that run on every process is killed: the command ends with one line, and what it has done is kept. The
        same command, undisturbed, then says what one says that never was disturbed."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                with self.killer(scratch, run, signals=(signal.SIGKILL,)) as (env, kills):
                    never = {**env, "FAULT_RUN": "1000000"}
                    clean = self.document(self.words(command, f"{scratch}/clean", extra=extra), never)
                    os.unlink(f"{scratch}/count")
                    words = self.words(command, f"{scratch}/killed", extra=extra)
                    code, out, err = self.tool.run(words, scratch, env={**env, "FAULT_TIMES": "1000000"})
                    expect(len(kills) >= 3, f"{len(kills)} kills")
                    self.says_nothing(code, out, err, about="something outside")
                    kept = self.document(words, never, scratch)
                expect(clean[0] == kept[0], f"exit code {kept[0]} instead of {clean[0]}")
                texts = [counts_of(with_ids(document)) for _, document in (clean, kept)]
                expect(texts[0] == texts[1], f"after {len(kills)} kills:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def server_killed(self, command, run, extra=()):
        """Its fork server is killed twice in the same execution."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                with self.killer(scratch, run, signals=(signal.SIGKILL,), parent=True) as (env, kills):
                    never = {**env, "FAULT_RUN": "1000000"}
                    clean = self.document(self.words(command, f"{scratch}/clean", extra=extra), never)
                    os.unlink(f"{scratch}/count")
                    words = self.words(command, f"{scratch}/killed", extra=extra)
                    disturbed = self.document(words, {**env, "FAULT_TIMES": "2"})
                    expect(len(kills) == 2, f"{len(kills)} kills")
                expect(clean[0] == disturbed[0], f"exit code {disturbed[0]} instead of {clean[0]}")
                texts = [counts_of(document) for _, document in (clean, disturbed)]
                expect(texts[0] == texts[1], f"after two kills:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def host_killed(self, run, extra):
        """The host itself is killed in that run; continued, it counts every race as one that was never killed."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1000000", "FAULT_BLOCK": str(fifo)}
                _, clean = self.document(self.words("explore", f"{scratch}/clean", extra=extra), env)
                os.unlink(f"{scratch}/count")
                words = self.words("explore", f"{scratch}/killed", extra=extra)
                with subprocess.Popen(
                    list(map(str, words)),
                    cwd=scratch,
                    env={**self.tool.env, **env, "FAULT_RUN": str(run)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                ) as process:
                    target = int(os.read(held, 8))
                    left = [watch(number) for number in (parent_of(target), target)]
                    process.kill()
                    process.wait()
                expect_end(left)
                os.close(held)
                _, continued = self.document(words, env, scratch)
                texts = [json.dumps(document["races"], indent=1) for document in (clean, continued)]
                expect(clean["races"][0]["count"] > 1, "one race is counted once: the test shows nothing")
                expect(clean["runs"] == continued["runs"], f"{continued['runs']} runs instead of {clean['runs']}")
                expect(texts[0] == texts[1], f"killed in run {run}:\n{texts[1]}\ninstead of\n{texts[0]}")

        return check

    def nothing_left(self, command):
        """The host is killed while an execution does not end: neither that nor its fork server outlives it."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1", "FAULT_BLOCK": str(fifo)}
                with subprocess.Popen(
                    list(map(str, self.words(command, f"{scratch}/d"))),
                    cwd=scratch,
                    env={**self.tool.env, **env},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                ) as process:
                    target = int(os.read(held, 8))
                    parent = parent_of(target)
                    left = [watch(number) for number in {parent, target} - {process.pid}]
                    process.kill()
                    process.wait()
                expect_end(left)
                os.close(held)

        return check

    def own_death(self, how, kind):
        def check():
            code, document, err = self.tool.explore(self.deaths, args=[how], options=["--runs", "60"])
            failures = [failure["failure"] for failure in (document or {}).get("failures", [])]
            expect(code == 66 and failures == [kind], f"exit code {code}, failures {failures}, not {kind}:\n{err}")

        return check

    # ---- limits and streams

    def limited(self, limit, command, good=()):
        """Under a limit of the shell: the exit code is one of `good`, or 125 with one line."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                words = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *self.words(command, f"{scratch}/d")]
                code, out, err = self.tool.run(words, scratch)
                if code not in good:
                    self.says_nothing(code, out, err, about="")

        return check

    def limited_trace(self):
        with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
            words = [self.tool.duress, "trace", "record", "--", self.racing]
            code, out, err = self.tool.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *words], scratch)
            self.says_nothing(code, out, err, about="ulimit -f")
            left = [entry.name for entry in pathlib.Path(scratch).iterdir()]
            expect(not left, f"it leaves {left}")

    def stdout_full(self, *words):
        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                self.tool.run(self.words("run", f"{scratch}/.duress"), scratch)
                script = ["sh", "-c", 'exec "$@" >/dev/full', "sh", self.tool.duress, *words]
                code, _, err = self.tool.run(script, scratch)
                text = err.decode(errors="replace")
                lines = [line for line in text.splitlines() if "cannot write" in line]
                expect(code == 125, f"exit code {code} instead of 125:\n{text}")
                expect(
                    len(lines) == 1 and "standard output" in lines[0], f"not one line about standard output:\n{text}"
                )

        return check

    def json_full(self, command):
        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                words = self.words(command, f"{scratch}/d", extra=["--json", "/dev/full"])
                code, _, err = self.tool.run(words, scratch)
                text = err.decode(errors="replace")
                expect(code == 125, f"exit code {code} instead of 125:\n{text}")
                expect("/dev/full" in text and "No space left" in text, f"it does not say what failed:\n{text}")

        return check

    # ---- time

    def blocked(self, command, run, codes, end):
        """From that run on no execution ends. `end`: "time", or the signals that are sent when the first has come there.
        The document tells what was found before; without a limit the test would not end."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": str(run), "FAULT_BLOCK": str(fifo)}
                limit = ["--time", "1s"] if end == "time" else []
                words = self.words(command, f"{scratch}/d", extra=["--json", "--run-timeout", "1h", "-j", "1", *limit])
                with subprocess.Popen(
                    list(map(str, words)),
                    cwd=scratch,
                    env={**self.tool.env, **env},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                ) as process:
                    if end != "time":
                        os.read(held, 8)
                        for number in end:
                            process.send_signal(number)
                    out, err = process.communicate(timeout=TIMEOUT)
                os.close(held)
                expect(process.returncode in codes, f"exit code {process.returncode}, not {codes}:\n{err.decode()}")
                expect(out, f"no document:\n{err.decode()}")
                document = json.loads(out)
                expect(not document["complete"] or document["races"], f"complete, and nothing found:\n{out.decode()}")
                if command != "classify":  # classify and explore do not fail because of a race alone
                    found = bool(document["failures"] or (command == "verify" and document["races"]))
                    expect(found == (process.returncode == 66), f"exit code {process.returncode}:\n{out.decode()}")
                if process.returncode == 124:
                    expect(not document["complete"], f"out of time, and complete:\n{out.decode()}")

        return check

    def passed_on(self, command, number):
        """`duress run` gives the signal to the program, and ends with it."""

        def check():
            with tempfile.TemporaryDirectory(prefix="duress-faults-") as scratch:
                fifo = pathlib.Path(scratch) / "fifo"
                os.mkfifo(fifo)
                held = os.open(fifo, os.O_RDWR)
                env = {"FAULT_COUNT": f"{scratch}/count", "FAULT_RUN": "1", "FAULT_BLOCK": str(fifo)}
                with subprocess.Popen(
                    list(map(str, self.words(command, f"{scratch}/d"))),
                    env={**self.tool.env, **env},
                    stdin=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                ) as process:
                    target = int(os.read(held, 8))
                    process.send_signal(number)
                    _, err = process.communicate(timeout=TIMEOUT)
                os.close(held)
                expect(process.returncode == 128 + number, f"exit code {process.returncode}:\n{err}")
                expect(f"ended by {number.name}" in err, f"it does not say what happened:\n{err}")
                expect(not pathlib.Path(f"/proc/{target}").exists(), "the program runs on")

        return check

    # ---- what belongs to which test

    def cases(self, theme):
        if theme == "disk":
            if not self.can_mount():
                print("skipped: this machine permits no mount")
                sys.exit(SKIPPED)
            for command in COMMANDS:
                yield f"full disk: {command}", self.full_disk(command)
                # The races of a free run fit into what its log has of the disk by then.
                if command != "run":
                    yield f"disk that gets full: {command}", self.filled_disk(command)
        if theme == "killed":
            many = ["--runs=400", "--keep-going", "--no-minimise"]
            yield "400 runs of explore", self.killed("explore", extra=many)
            yield "verify", self.killed("verify", every=3)
            yield "classify", self.killed("classify")
            few = ["-j", "1"]
            for command, extra in {"explore": [*many, *few], "verify": few, "classify": few}.items():
                yield f"fork server killed: {command}", self.server_killed(command, 2, extra)
            for run in (5, 40, 100, 300):
                yield f"host killed in run {run}: explore", self.host_killed(run, [*many, *few])
            for command in (*COMMANDS, "collide"):
                yield f"host killed, nothing left: {command}", self.nothing_left(command)
            yield "all killed from run 100 on: explore", self.paused("explore", 100, many)
            yield "all killed from run 3 on: explore", self.paused("explore", 3, many)
            for run in (2, 5, 40):
                yield f"all killed from run {run} on: classify", self.paused("classify", run)
            yield "all killed from run 2 on: verify", self.paused("verify", 2)
            for how, kind in {
                "abort": "signal:SIGABRT",
                "raise": "signal:SIGTERM",
                "kill": "signal:SIGKILL",
                "segv": "signal:SIGSEGV",
                "syscall": "signal:SIGKILL",
                "child": "signal:SIGKILL",
                "thread": "signal:SIGHUP",
            }.items():
                yield f"a program that ends itself: {how}", self.own_death(how, kind)
        if theme == "limits":
            for command in ("verify", "explore", "classify", "run"):
                yield f"ulimit -f 0: {command}", self.limited("-f 0", command)
                yield f"ulimit -f 8: {command}", self.limited("-f 8", command, good=(66,))
                yield f"ulimit -f 64: {command}", self.limited("-f 64", command, good=(66,))
                yield f"ulimit -s 64: {command}", self.limited("-s 64", command)
                yield f"ulimit -s 256: {command}", self.limited("-s 256", command)
            yield "ulimit -f 1: trace record", self.limited_trace
        if theme == "time":
            # In which run there is something already: a race or a failure, or nothing at all.
            twice = [signal.SIGTERM, signal.SIGTERM]  # as timeout(1) sends it
            for name, end in {"--time": "time", "SIGTERM": twice, "SIGINT": [signal.SIGINT]}.items():
                yield f"{name}: verify, nothing known", self.blocked("verify", 1, (124,), end)
                known = (66, 124) if end == "time" else (66,)  # a slow machine gets nowhere in a second
                yield f"{name}: verify", self.blocked("verify", 2, known, end)
                yield f"{name}: explore, nothing known", self.blocked("explore", 3, (124,), end)
                yield f"{name}: explore", self.blocked(
                    "explore", 21, known, end
                )  # two of these repeat an execution in a new process
                yield f"{name}: classify, nothing known", self.blocked("classify", 3, (124,), end)
                yield f"{name}: classify", self.blocked("classify", 100, (66, 124), end)
            for number in (signal.SIGTERM, signal.SIGINT):
                yield f"{number.name}: run", self.passed_on("run", number)
                yield f"{number.name}: run controlled", self.passed_on("run controlled", number)
        if theme == "streams":
            program = ["--dir", "d", "--", str(self.racing)]
            yield "verify", self.stdout_full("verify", *program)
            yield "explore --json", self.stdout_full("explore", "--runs", "60", "--json", *program)
            yield "classify", self.stdout_full("classify", "--runs", "5", *program)
            yield "run --json", self.stdout_full("run", "--json", *program)
            yield "report", self.stdout_full("report", "--json", "-")
            yield "list", self.stdout_full("list", "analyses")
            yield "doctor", self.stdout_full("doctor")
            yield "help", self.stdout_full("--help")
            for command in COMMANDS:
                yield f"--json /dev/full: {command}", self.json_full(command)


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


def main():
    options = parser(__doc__).parse_args()
    faults = Faults(options)
    report(case for theme in options.programs or THEMES for case in faults.cases(theme))


main()
