#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oneTBB's workers under control, though the library is not instrumented: `duress explore` finds the schedule of an update
that is lost, `duress replay` repeats it, and a correct twin has no failure. Without libtbb-dev the test is skipped."""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402
from harness import expect, halves  # noqa: E402

COUNT = """#include <atomic>
#include <cassert>
static std::atomic<int> count;
static void add() {
#ifdef WRONG
  int seen = count.load();
  count.store(seen + 1);
#else
  count++;
#endif
}
"""
PROGRAMS = {
    "parallel_for": "#include <tbb/parallel_for.h>\n"
    + COUNT
    + """int main() {
  tbb::parallel_for(0, 8, [](int) { add(); }, tbb::simple_partitioner());
  assert(count == 8);
}
""",
    "flow_graph": "#include <tbb/flow_graph.h>\n"
    + COUNT
    + """int main() {
  tbb::flow::graph graph;
  tbb::flow::function_node<int> node(graph, tbb::flow::unlimited, [](int) { add(); });
  for (int i = 0; i < 8; i++) node.try_put(i);
  graph.wait_for_all();
  assert(count == 8);
}
""",
    "std_execution": "#include <algorithm>\n#include <execution>\n#include <vector>\n"
    + COUNT
    + """int main() {
  std::vector<int> values(8);
  std::for_each(std::execution::par, values.begin(), values.end(), [](int&) { add(); });
  assert(count == 8);
}
""",
}
RUNS = 40


def check(source, wrong, tool):
    with tempfile.TemporaryDirectory(prefix="duress-tbb-") as scratch:
        path = pathlib.Path(scratch) / "count.cc"
        path.write_text(source)
        flags = ["-std=c++20", "-ltbb", *(["-DWRONG"] if wrong else [])]
        command = ["--dir", f"{scratch}/d", "--", tool.compile(path, flags, "-O1")]
        code, out, err = tool.run([tool.duress, "explore", "--runs", str(RUNS), "-j", "1", *command], scratch)
        text = (out + err).decode(errors="replace")
        expect(code == (66 if wrong else 0), f"explore ended with {code}\n{text}")
        if not wrong:
            return
        expect("assertion `count == 8' failed" in text, text)
        token = re.search(r"token: (\S+)", text)[1]
        for _ in range(3):
            code, out, err = tool.run([tool.duress, "replay", token, *command], scratch)
            again = (out + err).decode(errors="replace")
            expect(code == 66 and "count == 8" in again, f"replay ended with {code}\n{again}")


def has_tbb(tool):
    return halves.builds(tool, "c++", ["-ltbb"], "#include <tbb/version.h>\nint main() { return 0; }")


def main():
    options = harness.parser(__doc__, programs=False).parse_args()
    tool = harness.Tool(options.build, options.duress)
    if not has_tbb(tool):
        print("skipped: oneTBB is not installed (libtbb-dev)")
        sys.exit(halves.SKIPPED)
    harness.report(
        (f"{name} {'wrong' if wrong else 'right'}", lambda s=source, w=wrong: check(s, w, tool))
        for name, source in PROGRAMS.items()
        for wrong in (False, True)
    )


if __name__ == "__main__":
    main()
