// SPDX-License-Identifier: Apache-2.0
#include "memory/testing/rc11_program.h"

#include <algorithm>

namespace duress::memory::testing {
namespace {

using Kind = ExecutionGraph::Kind;
using What = Instruction::What;

const char* order_text(MemoryOrder order) {
  constexpr const char* kTexts[] = {"rlx", "con", "acq", "rel", "ar", "sc"};
  return kTexts[raw(order)];
}

/// Tries every store for every read, then every order of the stores.
class Enumeration {
 public:
  Enumeration(const Program& program, const Counts& counts)
      : program_(program), counts_(counts), graph_(program.locations, program.events()) {
    for (u32 t = 0; t < program.threads.size(); ++t) {
      for (u32 i = 0; i < program.threads[t].size(); ++i) places_.push_back({t, i});
    }
  }

  Results run() {
    choose_read(0);
    return std::move(results_);
  }

 private:
  struct Place {
    u32 thread, index;
  };
  const Instruction& instruction(u32 event) const {
    Place place = places_[event - program_.locations];
    return program_.threads[place.thread][place.index];
  }

  void choose_read(u32 number) {
    if (number == places_.size()) return evaluate();
    u32 event = program_.locations + number;
    const Instruction& mine = instruction(event);
    if (!mine.reads()) return choose_read(number + 1);
    for (u32 from = 0; from < graph_.size(); ++from) {
      bool initial = from < program_.locations;
      if (from == event || (initial ? from : instruction(from).location) != mine.location) continue;
      if (!initial && (instruction(from).what == What::kLoad || instruction(from).what == What::kFence))
        continue;
      graph_[event].reads = from;
      choose_read(number + 1);
    }
  }

  /// Values, in an order in which each read comes after what it reads; none if they go in a circle.
  void evaluate() {
    read_.assign(graph_.size(), 0);
    written_.assign(graph_.size(), 0);
    std::vector<bool> done(graph_.size()), writes(graph_.size());
    for (u32 i = 0; i < program_.locations; ++i) done[i] = writes[i] = true;
    std::vector<u32> next(program_.threads.size(), 0);
    for (bool again = true; again;) {
      again = false;
      for (u32 t = 0; t < next.size(); ++t) {
        while (next[t] < program_.threads[t].size()) {
          u32 event = program_.event(t, next[t]);
          const Instruction& mine = instruction(event);
          u32 from = graph_[event].reads;
          if (mine.reads() && !done[from]) break;
          if (mine.reads() && !writes[from]) return;  // of a compare-and-exchange that failed
          if (mine.reads()) read_[event] = written_[from];
          std::optional<u64> stored = mine.stored(read_[event]);
          writes[event] = stored.has_value();
          written_[event] = stored.value_or(0);
          ExecutionGraph::Event made =
              mine.event(t, mine.reads() ? std::optional<u64>(read_[event]) : std::nullopt);
          made.reads = from;
          graph_[event] = made;
          done[event] = true;
          ++next[t];
          again = true;
        }
      }
    }
    if (std::find(done.begin(), done.end(), false) != done.end()) return;
    if (counts_ && !counts_(read_)) return;
    choose_order(0);
  }

  void choose_order(u32 location) {
    if (location == program_.locations) {
      ++results_.runs;
      if (!graph_.violated().empty()) return;
      results_.graphs.insert(graph_.text());
      results_.outcomes.insert(outcome_text(program_, graph_, read_, written_));
      return;
    }
    std::vector<u32> writes;
    for (u32 event = program_.locations; event < graph_.size(); ++event) {
      bool wrote = graph_[event].kind == Kind::kWrite || graph_[event].kind == Kind::kUpdate;
      if (wrote && graph_[event].location == location) writes.push_back(event);
    }
    do {
      std::vector<u32>& order = graph_.modifications(location);
      order = {location};
      order.insert(order.end(), writes.begin(), writes.end());
      choose_order(location + 1);
    } while (std::next_permutation(writes.begin(), writes.end()));
  }

  const Program& program_;
  const Counts& counts_;
  ExecutionGraph graph_;
  std::vector<Place> places_;
  std::vector<u64> read_, written_;
  Results results_;
};

}  // namespace

ExecutionGraph::Event Instruction::event(u32 thread, std::optional<u64> old) const {
  ExecutionGraph::Event result;
  result.thread = thread;
  result.location = location;
  result.order = order;
  switch (what) {
    case What::kLoad:
      result.kind = Kind::kRead;
      break;
    case What::kStore:
      result.kind = Kind::kWrite;
      break;
    case What::kFence:
      result.kind = Kind::kFence;
      break;
    case What::kRelease:
    case What::kAcquire:
      result.kind = Kind::kOther;
      break;
    default:
      result.kind = stored(*old) ? Kind::kUpdate : Kind::kRead;
      if (!stored(*old)) result.order = failure;
  }
  return result;
}

u32 Program::events() const {
  u32 count = 0;
  for (const auto& thread : threads) count += static_cast<u32>(thread.size());
  return count;
}

u32 Program::event(u32 thread, u32 index) const {
  u32 number = locations + index;
  for (u32 t = 0; t < thread; ++t) number += static_cast<u32>(threads[t].size());
  return number;
}

std::string Program::text() const {
  constexpr const char* kWords[] = {"load",    "store", "add",     "exchange",
                                    "compare", "fence", "release", "acquire"};
  std::string result;
  for (const auto& thread : threads) {
    for (const Instruction& i : thread) {
      result += std::string(kWords[raw(i.what)]) + " x" + std::to_string(i.location) + " " +
                order_text(i.order) + " " + std::to_string(i.value) + "; ";
    }
    result += "\n";
  }
  return result;
}

std::string outcome_text(const Program& program, const ExecutionGraph& graph, const std::vector<u64>& read,
                         const std::vector<u64>& written) {
  std::string result;
  for (u32 t = 0; t < program.threads.size(); ++t) {
    if (t) result += "| ";
    for (u32 i = 0; i < program.threads[t].size(); ++i) {
      if (program.threads[t][i].reads()) result += std::to_string(read[program.event(t, i)]) + " ";
    }
  }
  result += ";";
  for (u32 location = 0; location < program.locations; ++location)
    result += " " + std::to_string(written[graph.modifications(location).back()]);
  return result;
}

Results declared(const Program& program, const Counts& counts) {
  return Enumeration(program, counts).run();
}

}  // namespace duress::memory::testing
