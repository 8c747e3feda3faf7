#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`duress classify` on programs whose races were judged by hand: what does it get right?

README.md says what a label means. A program fails if a verdict is not that of its label, a labelled race is not found,
or a race without a label is. What Duress gets wrong today is stated in the head too (`// truth-missed:`), so that it is
counted, and so that the test fails when it gets better.

--matrix writes the table of docs/papers.md from the heads; --check-matrix says whether it is current."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import truth  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PAPERS = harness.ROOT / "docs" / "papers.md"


def programs():
    return sorted([*HERE.glob("*.c"), *HERE.glob("*.cc")])


def classify(program, tool, seed):
    """The races of the document. Labels are about the source: what the optimiser leaves out cannot be seen."""
    target = tool.compile(program, level="-O0")
    with tempfile.TemporaryDirectory(prefix="duress-truth-") as folder:
        words = [
            tool.duress,
            "classify",
            "-j",
            "1",
            "--seed",
            str(seed),
            "--json",
            "--no-advice",
            "--dir",
            f"{folder}/d",
        ]
        code, out, err = tool.run([*words, "--", target], folder)
        if code not in (0, 66):
            raise harness.Failure(f"exit code {code}: {err.decode(errors='replace')[-1000:]}")
        return harness.valid(json.loads(out))["races"]


def check(program, tool, seed):
    head = truth.Head(program.read_text())
    rows, unknown = truth.compare(head.labels, classify(program, tool, seed))
    problems = [f"{name}: a race without a label" for name in unknown]
    for label, result, said in rows:
        expected = head.missed.get(label.name, truth.RIGHT)
        if result != expected:
            problems.append(
                f"{label.name}: {result}: {said}, expected {expected}; it is {label.verdict}: {label.reason}"
            )
    return problems


def main():
    parser = harness.parser(__doc__)
    parser.add_argument("--matrix", action="store_true", help="write the table of docs/papers.md")
    parser.add_argument("--check-matrix", action="store_true", help="is the table of docs/papers.md current?")
    parser.add_argument("--seed", type=int, default=harness.SEED)
    options = parser.parse_args()
    if options.matrix or options.check_matrix:
        heads = {program.name: truth.Head(program.read_text()) for program in programs()}
        text = PAPERS.read_text()
        current = truth.with_matrix(text, heads)
        if options.matrix:
            PAPERS.write_text(current)
        print(truth.matrix(heads))
        sys.exit(
            "docs/papers.md is not current: run tests/truth/run.py --matrix" if current != PAPERS.read_text() else 0
        )
    tool = harness.Tool(options.build, options.duress)
    harness.report(
        (harness.case_of(p), lambda p=p: check(p, tool, options.seed))
        for p in harness.chosen(programs(), options.programs)
    )


if __name__ == "__main__":
    main()
