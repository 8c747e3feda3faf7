// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/testing/brute_force.h"

#include <algorithm>

namespace duress::exhaustive::testing {

std::string class_of(const std::vector<Step>& history, size_t threads) {
  std::vector<std::vector<int>> clocks;  // of entries
  std::vector<const Step*> entries;
  std::vector<std::string> text(threads);
  std::vector<int> last(threads, -1), count(threads, 0);
  for (const Step& s : history) {
    if (s.is(Step::kPending)) continue;
    std::vector<int> clock(threads, 0);
    auto join = [&](int e) {
      if (e < 0) return;
      for (size_t k = 0; k < threads; ++k) clock[k] = std::max(clock[k], clocks[size_t(e)][k]);
    };
    join(last[s.strand]);
    if (s.is(Step::kAfter)) {
      join(last[s.other]);
    } else {
      for (size_t e = 0; e < entries.size(); ++e) {
        if (!entries[e]->is(Step::kAfter) && conflict(*entries[e], s)) join(int(e));
      }
      clock[s.strand] = ++count[s.strand];
      std::string line = std::to_string(int(s.kind)) + "/" + std::to_string(s.value) + "/";
      for (u32 i = 0; i < s.touches; ++i) {
        if (!s.touch[i].size) continue;
        line += std::to_string(s.touch[i].object) + (s.touch[i].mode == Mode::kRead ? "r" : "w");
      }
      for (int k : clock) line += " " + std::to_string(k);
      text[s.strand] += line + "\n";
    }
    last[s.strand] = int(entries.size());
    entries.push_back(&s);
    clocks.push_back(clock);
  }
  std::string all;
  for (const std::string& t : text) all += t + "--\n";
  return all;
}

bool brute_force(const Machine& machine, size_t threads, std::set<std::string>& classes, u64& budget) {
  std::vector<u32> ready = machine.enabled_threads();
  if (ready.empty()) {
    if (machine.counts()) classes.insert(class_of(machine.history(), threads));
    return budget-- > 0;
  }
  for (u32 t : ready) {
    u64 choices = machine.choices(t);
    do {
      Machine copy = machine;
      copy.run(t, choices ? 1 + u32(__builtin_ctzll(choices)) : 0);
      if (!brute_force(copy, threads, classes, budget)) return false;
      choices &= choices - 1;
    } while (choices);
  }
  return true;
}

}  // namespace duress::exhaustive::testing
