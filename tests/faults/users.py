#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other users and raised privileges (docs/design/security.md).

privileged  setuid programs, and programs with file capabilities, ignore DURESS_OPTIONS
planted     links and FIFOs where the runtime makes its files are neither followed nor opened
attach      duress collide -p on a process that its user may not trace: refused, and the process does not notice
folders     folders that belong to somebody else are not used: log folders, work folders, campaigns, --dir"""
import contextlib
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness.cases import Failure, expect, parser, report  # noqa: E402
from harness.tool import Tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
HANG = 60  # seconds
OTHER = 65534  # an ordinary user
CAP_CHOWN_BIT = 1 << 0
THEMES = ("privileged", "planted", "attach", "folders")


@contextlib.contextmanager
def scratch_folder():
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="duress-users-") as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


class Users:
    def __init__(self, options):
        self.tool = Tool(options.build, options.duress)
        self.racing = self.tool.compile(HERE / "racing.cc", level="-O1")

    def start(self, program, options, as_other=False, before=None):
        """The program by itself, as `duress` would start it; `before` is called in the process before exec."""

        def prepare():
            if before:
                before()
            if as_other:
                os.setgroups([])
                os.setgid(OTHER)
                os.setuid(OTHER)

        env = {**self.tool.env, "DURESS_OPTIONS": options}
        words = [str(program)]
        try:
            return subprocess.run(
                words, env=env, preexec_fn=prepare, capture_output=True, text=True, timeout=HANG, check=False
            )
        except subprocess.TimeoutExpired:
            raise Failure(f"no end within {HANG} s") from None

    # ---- privileged

    def privileged(self, raise_privileges, options):
        """An ordinary user starts a program that gets more rights than that user has."""

        def check():
            with scratch_folder() as scratch:
                program = scratch / "program"
                shutil.copy(self.racing, program)
                logs = scratch / "logs"
                logs.mkdir()
                logs.chmod(0o777)
                text = options.format(logs=logs)
                plain = self.start(program, text, as_other=True)
                awake = bool(list(logs.iterdir())) or bool(plain.stderr)
                expect(awake, "the runtime sleeps in an ordinary program too: the test shows nothing")
                for log in logs.iterdir():
                    log.unlink()
                raise_privileges(program)
                raised = self.start(program, text, as_other=True)
                expect(raised.returncode in (0, 3), f"exit code {raised.returncode}:\n{raised.stderr}")
                expect(not raised.stderr, f"it says something:\n{raised.stderr}")
                made = [f"{log.name} of user {log.stat().st_uid}" for log in logs.iterdir()]
                expect(not made, f"the runtime has made files: {made}")

        return check

    def children(self):
        """A setuid program becomes root and starts another: that does not see the user's options either."""
        with scratch_folder() as scratch:
            program = scratch / "program"
            shutil.copy(self.tool.compile(HERE / "raised.cc"), program)
            setuid(program)
            logs = scratch / "logs"
            logs.mkdir()
            done = self.start(program, f"log_dir={logs}", as_other=True)
            expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
            expect(not list(logs.iterdir()), "the runtime woke in what the setuid program started")

    # ---- planted

    def planted(self, plant):
        """Something lies where the log is to be made: the victim keeps its content, and the program says why."""

        def check():
            with scratch_folder() as scratch:
                victim = scratch / "victim"
                victim.write_text("precious\n", encoding="utf-8")
                logs = scratch / "logs"
                logs.mkdir()
                done = self.start(
                    self.racing, f"log_dir={logs}", before=lambda: plant(victim, logs / f"{os.getpid()}.jsonl")
                )
                text = victim.read_text(encoding="utf-8")
                expect(text == "precious\n", f"the victim was written to:\n{text}")
                expect(done.returncode == 125 and "log folder" in done.stderr, f"{done.returncode}: {done.stderr}")

        return check

    def planted_trace(self):
        with scratch_folder() as scratch:
            victim = scratch / "victim"
            victim.write_text("precious\n", encoding="utf-8")
            done = self.start(
                self.racing,
                f"log_dir={scratch}:chain=Record",
                before=lambda: os.symlink(victim, scratch / f"{os.getpid()}.trace"),
            )
            expect(victim.read_text(encoding="utf-8") == "precious\n", "the victim was overwritten")
            expect(done.returncode == 125, f"exit code {done.returncode}: {done.stderr}")

    def mode(self):
        with scratch_folder() as scratch:
            old = os.umask(0)
            try:
                self.start(self.racing, f"log_dir={scratch}:chain=Record")
            finally:
                os.umask(old)
            modes = {file.suffix: oct(stat.S_IMODE(file.stat().st_mode)) for file in scratch.iterdir()}
            expect(modes == {".jsonl": "0o600", ".trace": "0o600"}, f"files with other modes: {modes}")

    # ---- attach

    def attach(self, raised):
        """A process of root, or one with the user's own number that a setuid program became."""

        def check():
            with scratch_folder() as scratch:
                command, program = scratch / "duress", scratch / "program"
                shutil.copy(self.tool.build / "lib/duress/duress", command)  # the commands, without the launcher
                shutil.copy(self.racing, program)
                fifo = scratch / "fifo"
                os.mkfifo(fifo, 0o600)
                os.chmod(fifo, 0o666)
                held = os.open(fifo, os.O_RDWR)
                count = scratch / "count"
                count.touch(0o666)
                count.chmod(0o666)
                env = {"FAULT_COUNT": str(count), "FAULT_RUN": "1", "FAULT_BLOCK": str(fifo)}
                if raised:
                    setuid(program)
                with subprocess.Popen(
                    [str(program)], env={**self.tool.env, **env}, user=OTHER if raised else None, extra_groups=[]
                ) as target:
                    os.read(held, 8)  # it is in main(), with a second thread
                    words = [str(command), "collide", "-p", str(target.pid)]
                    done = subprocess.run(
                        words,
                        cwd="/",
                        user=OTHER,
                        group=OTHER,
                        extra_groups=[],
                        capture_output=True,
                        text=True,
                        timeout=HANG,
                    )
                    status = pathlib.Path(f"/proc/{target.pid}/status").read_text(encoding="utf-8")
                    alive = target.poll() is None
                    target.kill()
                os.close(held)
                expect(alive, f"the process has ended with {target.returncode}")
                state = re.search(r"State:\s*(\S)", status)[1]
                tracer = re.search(r"TracerPid:\s*(\d+)", status)[1]
                expect(state in "RS" and tracer == "0", f"the process is in state {state}, traced by {tracer}")
                lines = done.stderr.splitlines()
                expect(done.returncode == 125 and len(lines) == 1, f"exit code {done.returncode}:\n{done.stderr}")
                expect("not permitted to attach" in lines[0], f"it does not say why:\n{done.stderr}")

        return check

    # ---- folders

    def foreign_logs(self):
        with scratch_folder() as scratch:
            logs = foreign(scratch / "logs")
            done = self.start(self.racing, f"log_dir={logs}")
            expect(done.returncode == 125 and "log folder" in done.stderr, f"{done.returncode}: {done.stderr}")
            expect(not list(logs.iterdir()), "files in the folder of another user")

    def foreign_work(self):
        """Somebody has made the folder in /dev/shm beforehand. The test has a /dev/shm of its own."""
        with scratch_folder() as scratch:
            planted = f"/dev/shm/duress-work-{os.getuid()}"
            script = (
                f"mount -t tmpfs -o size=4g none /dev/shm || exit {SKIPPED}; mkdir -m 777 {planted}; "
                f'chown {OTHER} {planted}; "$@"; code=$?; ls -A {planted}; exit $code'
            )
            work = [self.tool.duress, "work", "--dir", scratch / "d", "--shard", "1/1", "--time", "100ms"]
            code, out, err = self.tool.run(["unshare", "-m", "sh", "-c", script, "sh", *work], scratch)
            if code == SKIPPED:
                print("skipped: this machine permits no mount")
                return
            expect(code == 125 and b"no campaign" in err, f"exit code {code}: {err.decode()}")
            expect(not out, f"the folder of another user has been used, it has: {out.decode()}")

    def refused(self, *words, folder):
        """A folder of another user: one line, 2 or 125, and nothing is made in it."""

        def check():
            with scratch_folder() as scratch:
                owned = foreign(scratch / folder)
                for file in ("cluster/current", "cluster/1/campaign.json", "findings/F-1234.json", "fixes/R-1234.json"):
                    (owned / file).parent.mkdir(parents=True, exist_ok=True)
                    (owned / file).write_text("1\n", encoding="utf-8")
                for file in owned.rglob("*"):
                    os.chown(file, OTHER, OTHER)
                before = sorted(owned.rglob("*"))
                code, _, err = self.tool.run([self.tool.duress, *words], scratch)
                text = err.decode(errors="replace")
                lines = [line for line in text.splitlines() if line.startswith("duress: ")]
                expect(code in (2, 125), f"exit code {code}:\n{text}")
                expect(len(lines) == 1 and "belongs to" in lines[0], f"not one line that names the owner:\n{text}")
                expect(sorted(owned.rglob("*")) == before, "it has made files there")

        return check

    # ---- what belongs to which test

    def cases(self, theme):
        if theme == "privileged":
            for name, raised in {"setuid": setuid, "setgid": setgid, "file capability": capability}.items():
                yield f"{name}: log_dir", self.privileged(raised, "log_dir={logs}")
                yield f"{name}: help", self.privileged(raised, "help=1")
            yield "what a setuid program starts", self.children
        if theme == "planted":
            yield "symlink", self.planted(lambda victim, at: os.symlink(victim, at))
            yield "hard link", self.planted(lambda victim, at: os.link(victim, at))
            yield "FIFO", self.planted(lambda victim, at: os.mkfifo(at))
            yield "symlink instead of a trace", self.planted_trace
            yield "files are for their owner alone", self.mode
        if theme == "attach":
            yield "a process of root", self.attach(raised=False)
            yield "a setuid program of the user", self.attach(raised=True)
        if theme == "folders":
            yield "log folder", self.foreign_logs
            yield "work folder in /dev/shm", self.foreign_work
            program = ["--", str(self.racing)]
            yield "run", self.refused("run", *program, folder=".duress")
            yield "explore --dir", self.refused("explore", "--runs", "2", "--dir", "d", *program, folder="d")
            yield "replay ID", self.refused("replay", "F-1234", folder=".duress")
            yield "fix ID", self.refused("fix", "R-1234", folder=".duress")
            yield "work", self.refused("work", "--dir", "d", "--shard", "1/1", folder="d")
            yield "merge", self.refused("merge", "d", folder="d")


def setuid(program):
    os.chmod(program, 0o4755)


def setgid(program):
    os.chmod(program, 0o2755)


def capability(program):
    """What `setcap cap_chown=ep` writes."""
    effective = 1
    revision = 0x02000000
    os.setxattr(program, "security.capability", struct.pack("<5I", revision | effective, CAP_CHOWN_BIT, 0, 0, 0))


def foreign(folder):
    folder.mkdir()
    folder.chmod(0o777)
    os.chown(folder, OTHER, OTHER)
    return folder


def main():
    options = parser(__doc__).parse_args()
    themes = options.programs or THEMES
    if os.getuid() != 0 and set(themes) - {"planted"}:
        print("skipped: only root can make programs and folders of other users")
        sys.exit(SKIPPED)
    users = Users(options)
    report(case for theme in themes for case in users.cases(theme))


main()
