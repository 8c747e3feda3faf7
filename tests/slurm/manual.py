# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/guide/cluster.md, as they are printed there."""
import json
import os
import pathlib
import re
import subprocess

import harness
from harness.campaign import document

PAGE = harness.ROOT / "docs/guide/cluster.md"


def blocks():
    """{name: text} of every block after a comment `tested: name`."""
    found = re.findall(r"<!-- tested: (\w+) -->\n```\w*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    return dict(found)


def shell(script, folder, env):
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr


def expect(condition, text):
    if not condition:
        raise harness.Failure(text)


def check(tool, folder, target):
    """REQUIRES: SLURM_CONF in the tool's environment, and a partition `main`."""
    printed = blocks()
    expect(set(printed) == {"slurm", "parallel", "kubernetes", "status"}, f"blocks: {sorted(printed)}")
    folder = pathlib.Path(folder)
    (folder / "shared").mkdir(parents=True)
    os.symlink(target, folder / "point")
    env = {**tool.env, "PATH": f"{pathlib.Path(tool.duress).parent}:{tool.env['PATH']}"}

    _, wanted, _ = shell("duress classify --json --dir alone -- ./point", folder, env)
    for name in ("slurm", "parallel"):
        script = printed[name]
        expect("duress classify" in script, f"{name}: {script}")
        code, out, err = shell(script.replace("duress classify", "duress classify --json"), folder, env)
        expect(code == (66 if name == "slurm" else 0), f"{name}: {code} {err}")
        expect(
            document(out) == document(wanted),
            f"{name}:\n{document(out)[-1500:]}\nwanted:\n{document(wanted)[-1500:]}\n{err}",
        )
    for line in printed["status"].splitlines():
        code, out, err = shell(line + (" --json" if "merge" in line else ""), folder, env)
        expect(code == (66 if "merge" in line else 0), f"{line}: {code} {err}")
        if "--json" in line:
            expect(json.loads(out)["campaign"]["state"] == "finished", f"{line}: {out}")
        if "merge" in line:
            expect(document(out) == document(wanted), f"{line}: {out}")

    # No cluster of that kind here: its command runs as Kubernetes would start it.
    command = re.search(r"command: (\[.*\])", printed["kubernetes"])
    words = json.loads(command[1])
    expect("completions: 8" in printed["kubernetes"] and "/8" in words[-1], f"kubernetes: {words}")
    words[-1] = words[-1].replace("/shared/duress", f"{folder}/pods/duress")
    drive = subprocess.Popen(
        [
            "duress",
            "classify",
            "--json",
            "--executor",
            "shared",
            "--workers",
            "8",
            "--dir",
            "pods/duress",
            "--",
            "./point",
        ],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while drive.poll() is None and not (folder / "pods/duress/cluster/current").exists():
        pass
    pods = [
        subprocess.Popen(
            words,
            cwd="/",
            env={"PATH": env["PATH"], "JOB_COMPLETION_INDEX": str(i)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for i in range(8)
    ]
    out, err = drive.communicate(timeout=120)
    expect(
        drive.returncode == 66 and document(out) == document(wanted),
        f"kubernetes: {drive.returncode} {out[-1500:]} {err}",
    )
    for pod in pods:
        _, err = pod.communicate(timeout=120)
        expect(pod.returncode == 0, f"a pod: {pod.returncode} {err.decode()}")
