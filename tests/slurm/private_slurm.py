# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one's own: slurmctld, slurmd and munged from Debian's packages, on loopback, with ports, keys, sockets and
state in one folder. Nothing of the machine's own configuration is read or changed; systemd and cgroups are not
needed."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}


class NoSlurm(Exception):
    pass


def program(name):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise NoSlurm(f"no {name}: apt-get install {PROGRAMS[name]}")
    return found


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class PrivateSlurm:
    """with PrivateSlurm(folder) as slurm: subprocess.run([...], env=slurm.env)"""

    def __init__(self, folder, cpus=2):
        self.folder, self.cpus = pathlib.Path(folder), cpus
        self.processes = []
        self.env = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def spawn(self, words):
        with open(self.folder / "daemons.log", "ab") as log:
            self.processes.append(
                subprocess.Popen(
                    words, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            )

    def wait(self, what, ready, seconds=60):
        """Daemons have no other way to say that they are up; only one that never comes up takes this long."""
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end or any(p.poll() is not None for p in self.processes):
                log = (self.folder / "daemons.log").read_text(errors="replace")[-3000:]
                raise NoSlurm(f"{what} did not come up:\n{log}")
            time.sleep(0.05)

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        os.chmod(self.folder, 0o755)
        for part in ("state", "spool"):
            (self.folder / part).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        os.chmod(key, 0o600)
        sock = self.folder / "munge.sock"
        self.spawn(
            [
                program("munged"),
                "--foreground",
                "--force",
                f"--socket={sock}",
                f"--key-file={key}",
                f"--pid-file={self.folder}/munged.pid",
                f"--log-file={self.folder}/munged.log",
                f"--seed-file={self.folder}/munge.seed",
                "--num-threads=2",
            ]
        )
        self.wait("munged", sock.exists)
        user = pwd.getpwuid(os.getuid()).pw_name
        host = socket.gethostname().split(".")[0]
        controller, node = free_ports(2)
        (self.folder / "slurm.conf").write_text(
            f"""\
ClusterName=duress
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={sock},cred_expire=2
SlurmctldPort={controller}
SlurmdPort={node}
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={self.cpus} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
        )
        self.spawn([program("slurmctld"), "-D", "-f", self.env["SLURM_CONF"]])
        self.spawn([program("slurmd"), "-D", "-f", self.env["SLURM_CONF"]])
        self.wait("slurmd", lambda: "idle" in self.run("sinfo", "-h", "-o", "%T").stdout)

    def run(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True, check=False)

    def stop(self):
        if len(self.processes) > 1:
            self.run("scancel", "--full", "--signal=KILL", f"--user={os.getuid()}")
            self.run("scancel", f"--user={os.getuid()}")
        # The others first: munged is what they talk with.
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []
