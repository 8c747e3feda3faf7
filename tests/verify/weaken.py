#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which memory orders Herlihy and Shavit's algorithms need: `duress verify --model rc11 --weaken` on examples.

Expected is, for each operation of the source, the weakest order that is enough while all others are seq_cst, and what is found with less. The reasons are
those of the textbooks: what leaves a critical section releases, what enters it acquires; Peterson's flags and victim must not pass each other.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Text of the line, operation, the weakest order that is enough, what is found with less.
EXPECTED = {
    "test_and_set": [
        ("while (held.exchange(true))", "update", "acquire", "data race on counter"),
        ("void unlock(int) { held = false; }", "store", "release", "data race on counter"),
    ],
    "peterson": [
        ("flag[me] = true;", "store", "seq_cst", "data race on counter"),
        ("victim = me;", "store", "seq_cst", "data race on counter"),
        ("while (flag[1 - me] && victim == me)", "load", "seq_cst", "data race on counter"),
        ("while (flag[1 - me] && victim == me)", "load", "relaxed", ""),
        ("void unlock(int me) { flag[me] = false; }", "store", "release", "data race on counter"),
    ],
    "treiber_stack": [
        ("Node* old = top_;", "load", "relaxed", ""),
        ("while (!top_.compare_exchange_strong(old, node));", "compare-exchange", "release", "data race on Node::next"),
        ("Node* old = top_;", "load", "acquire", "data race on Node::next"),
        ("if (top_.compare_exchange_strong(old, old->next)) return old->value;", "compare-exchange", "relaxed", ""),
    ],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    work = build / "tests/verify/weaken"
    work.mkdir(parents=True, exist_ok=True)
    schema = json.loads((ROOT / "docs/duress-1.schema.json").read_text())
    failed = 0
    for name, expected in EXPECTED.items():
        source, program = ROOT / f"examples/herlihy_shavit/{name}.cc", work / name
        newest = max(p.stat().st_mtime for p in [source, *(build / "lib").glob("*.a"), *(build / "lib").glob("*.so")])
        if not program.exists() or program.stat().st_mtime < newest:
            subprocess.run([build / "bin/duress-c++", "-std=c++20", "-g", "-O1", source, "-o", program, "-pthread"], check=True)
        command = [build / "bin/duress", "verify", "--json", "--model", "rc11", "--weaken", "-j", "2", "--dir", work / "dir", "--", program]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=250, check=False)
        document = json.loads(ended.stdout)
        jsonschema.validate(document, schema)
        lines = source.read_text().splitlines()
        orders = [one for one in document.get("orders", []) if pathlib.Path(one["file"]).name == source.name]
        found = [(lines[one["line"] - 1].strip(), one["operation"], one["sufficient"], one.get("with_less", "").partition(": ")[2]) for one in orders]
        wanted = [(text, kind, order, less) for text, kind, order, less in expected]
        same = len(found) == len(wanted) and all(f[0].startswith(w[0]) and f[1:] == w[1:] for f, w in zip(found, wanted))
        if ended.returncode != 0 or not document["complete"] or not same:
            failed += 1
            print(f"{name}: exit code {ended.returncode}, complete {document['complete']}\n  found {found}\n  expected {wanted}", flush=True)
    print(f"{len(EXPECTED)} programs, {failed} problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
