#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds an analysis as docs/analyses/README.md says, a source file and a line in the table, in a copy of the two
places, and finds it in chains and in the list of names."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

ANALYSIS = """
#include "analysis/analysis.h"
namespace duress {
namespace {
class Writes final : public Analysis {
 public:
  const char* name() const override { return "Writes"; }
  Pass access(AnalysisThread&, const Access& access) override {
    return is_write(access.kind) ? Pass::kForward : Pass::kKeep;
  }
};
}  // namespace
DURESS_DEFINE_ANALYSIS(Writes);
}  // namespace duress
"""

DRIVER = """
#include <cstdio>
#include <memory>
#include <string>
#include "analysis/player.h"
#include "catalog/lookup.h"
using namespace duress;
struct Sink final : RaceSink, LineSink {
  virtual ~Sink() = default;
  void race(const Race&) override {}
  void line(const char* text, size_t size) override { std::printf("%s\\n", std::string(text, size).c_str()); }
};
int main() {
  Arena arena;
  ShadowMap shadow;
  Sink sink;
  if (!shadow.open(0)) return 1;
  auto player = std::make_unique<Player>(arena, shadow, sink, sink);
  const char* bad;
  if (!player->build("Writes:Count", &bad)) return 2;
  for (AccessKind kind : {AccessKind::kRead, AccessKind::kWrite, AccessKind::kWrite})
    player->play(Event::of(Tid{0}, Access{0x1000, 4, kind, {}}));
  player->finish();
  std::printf("%s\\n", catalog::check_chain("Writes:FastTrack").empty() ? "known" : "unknown");
}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "catalog").mkdir()
        table = (ROOT / "src/catalog/analyses.h").read_text()
        head, tail = table.split("\n\nnamespace duress", 1)
        line = ' \\\n  DURESS_ANALYSIS(Writes, "Writes", "passes on what is written")'
        (scratch / "catalog/analyses.h").write_text(head.rstrip() + line + "\n\nnamespace duress" + tail)
        (scratch / "writes.cc").write_text(ANALYSIS)
        (scratch / "driver.cc").write_text(DRIVER)
        libraries = [str(options.build / "lib" / f"libduress_{part}.a") for part in ("analysis", "shadow", "clock", "base")]
        sources = [scratch / "writes.cc", scratch / "driver.cc", ROOT / "src/analysis/factory.cc", ROOT / "src/catalog/lookup.cc"]
        subprocess.run(["clang++-19", "-std=c++20", "-fno-rtti", "-I", scratch, "-I", ROOT / "src", "-I", ROOT / "include",
                        *sources, *libraries, "-o", scratch / "driver"], check=True)
        printed = subprocess.run([scratch / "driver"], capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = ["Count: 2 writes", "known"]
    if printed != wanted:
        print(f"printed {printed}, expected {wanted}")
        return 1
    print("one file and one line: the analysis is in chains and in the list")
    return 0


if __name__ == "__main__":
    sys.exit(main())
