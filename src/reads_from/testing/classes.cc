// SPDX-License-Identifier: Apache-2.0
#include "reads_from/testing/classes.h"

#include <bit>

namespace duress::reads_from::testing {

using exhaustive::Mode;
using exhaustive::Step;
using exhaustive::testing::Machine;

namespace {

std::string line_of(const Step& step) {
  return std::to_string(int(step.kind)) + "/" + std::to_string(step.value);
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "--\n";
  return all;
}

}  // namespace

std::string class_of(const std::vector<Step>& history, size_t threads) {
  std::vector<std::string> text(threads);
  std::vector<int> count(threads, 0);
  std::map<u64, std::string> writer;
  for (const Step& step : history) {
    if (step.is(Step::kAfter) || step.is(Step::kPending)) continue;
    const std::string name = std::to_string(step.strand) + "." + std::to_string(++count[step.strand]);
    std::string line = line_of(step);
    const bool atomic = step.kind >= OpKind::kAtomicRead && step.kind <= OpKind::kAtomicRmw;
    for (u32 i = 0; i < (atomic ? 1 : step.touches); ++i) {
      const exhaustive::Touch& touch = step.touch[i];
      if (!touch.size) continue;
      line += " " + std::to_string(touch.object) + (touch.mode == Mode::kRead ? "r" : "w");
      if (step.kind != OpKind::kAtomicWrite) line += writer[touch.object];
      if (touch.mode == Mode::kWrite) writer[touch.object] = name;
    }
    text[step.strand] += line + "\n";
  }
  return joined(text);
}

std::string outcome_of(const std::vector<Step>& history, size_t threads) {
  std::vector<std::string> text(threads);
  for (const Step& step : history) {
    if (step.is(Step::kAfter)) continue;
    std::string line = line_of(step);
    // What is there before a store is seen by nobody.
    if (step.kind != OpKind::kAtomicWrite && step.touches && !step.is(Step::kPending))
      line += " " + std::to_string(step.touch[0].before);
    text[step.strand] += line + (step.is(Step::kPending) ? " waits\n" : "\n");
  }
  return joined(text);
}

bool brute_force(const Machine& machine, size_t threads, std::map<std::string, std::string>& classes,
                 u64& budget) {
  std::vector<u32> ready = machine.enabled_threads();
  if (ready.empty()) {
    const std::vector<Step> history = machine.history();
    if (machine.counts()) classes.emplace(class_of(history, threads), outcome_of(history, threads));
    return budget-- > 0;
  }
  for (u32 t : ready) {
    u64 choices = machine.choices(t);
    do {
      Machine copy = machine;
      copy.run(t, choices ? 1 + static_cast<u32>(std::countr_zero(choices)) : 0);
      if (!brute_force(copy, threads, classes, budget)) return false;
      choices &= choices - 1;
    } while (choices);
  }
  return true;
}

}  // namespace duress::reads_from::testing
