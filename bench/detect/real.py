# SPDX-License-Identifier: Apache-2.0
"""Programs from Debian's sources under their own workload: built by tests/real/run.sh with every tool."""
import random
import socket
import subprocess
import sys

from measurement import HERE, ROOT, Row

# Packages, the program in the source folder, how it compresses stdin with four threads, and how many MB.
COMPRESSORS = {
    "libzstd": ("programs/zstd", ["-q", "-T4", "-6", "-B512K", "-c"], 8),
    "pbzip2": ("pbzip2", ["-p4", "-b2", "-c"], 3),
    "pigz": ("pigz", ["-p", "4", "-c"], 8),
    "xz-utils": ("src/xz/xz", ["-T4", "-0", "--block-size=256KiB", "-c"], 4),
}
FOLDERS = {"native": "real-plain", "tsan": "real-tsan", "duress": "real"}
REQUESTS = 30000


def write_input(path, size):
    """A text that compresses somewhat, the same on every machine."""
    dice = random.Random(1)
    vocabulary = [bytes(dice.choices(b"abcdefgh ", k=dice.randint(2, 9))) for _ in range(3000)]
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(b" ".join(dice.choices(vocabulary, k=1000)) + dice.randbytes(40))


def build(runner, package):
    """The source folder by tool; None if the mirror does not have the package."""
    result = {}
    for tool, options in (("native", ["--plain"]), ("tsan", ["--tsan"]), ("duress", [])):
        command = [ROOT / "tests/real/run.sh", "--build", runner.build, *options, "--build-only", package]
        print(f"{package}: building, {tool}", file=sys.stderr, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 77:
            print(done.stdout.splitlines()[0], file=sys.stderr, flush=True)
            return None
        if done.returncode != 0:
            runner.failures.append(f"{package}: cannot be built ({tool}): {done.stdout[-600:]}")
            return None
        result[tool] = runner.build / FOLDERS[tool] / package / "source"
    result["inert"] = result["duress"]
    return result


def free_port():
    with socket.socket() as file:
        file.bind(("127.0.0.1", 0))
        return file.getsockname()[1]


def programs(runner, rows):
    for package, (program, options, size) in COMPRESSORS.items():
        folders = build(runner, package)
        if folders is not None:
            text = runner.out / "text"
            write_input(text, size << 20)
            commands = {tool: [folder / program, *options] for tool, folder in folders.items()}
            row = Row(program.rsplit("/", maxsplit=1)[-1], 4, f"{size} MB")
            rows.append(runner.fill(row, commands, whole=True, races=True, stdin=text))
    folders = build(runner, "memcached")
    if folders is not None:
        client, port = runner.compile(HERE / "programs" / "memcached_client.cc", "native"), free_port()
        options = ["-u", "root", "-A", "-t", "4", "-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "64"]
        commands = {tool: [folder / "memcached", *options] for tool, folder in folders.items()}
        row = Row("memcached", 4, f"{REQUESTS} requests")
        rows.append(runner.fill(row, commands, races=True, client=[client, port, 8, REQUESTS]))
    if len(rows) < 4:
        runner.failures.append(f"only {len(rows)} real programs were measured")
