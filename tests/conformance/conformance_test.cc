// SPDX-License-Identifier: Apache-2.0
//
// Every value that a load was ever given must have been legal. The machine (machine.cc) runs under control
// with each memory model; here what it wrote down is held against the models' definitions, by brute force:
// all pairs of operations, happens-before as a table. Nothing of the runtime's clocks or histories is used.
//
//   conformance_test MACHINE FOLDER LOADS     until so many loads were checked
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/prng.h"
#include "exec/worker.h"
#include "finding/run_logs.h"
#include "journal.h"

namespace {

using namespace duress;
using namespace duress::exec;

constexpr std::size_t kMost = 1024;
using Before = std::vector<std::bitset<kMost>>;
using enum ModelId;

/// before[b] has a: a happens before b. By program order, from a release to the next acquire of the object,
/// and from each update of an atomic to all later ones; transitively.
Before happens_before(const std::vector<JournalEntry>& events) {
  Before before(events.size());
  std::map<unsigned, std::size_t> last_of_thread, last_release, last_update;
  for (std::size_t b = 0; b < events.size(); ++b) {
    auto join = [&](std::size_t a) {
      before[b] |= before[a];
      before[b].set(a);
    };
    const JournalEntry& e = events[b];
    if (auto it = last_of_thread.find(e.thread); it != last_of_thread.end()) join(it->second);
    if (e.kind == kJournalAcquire) {
      if (auto it = last_release.find(e.object); it != last_release.end()) join(it->second);
    }
    if (e.kind == kJournalUpdate) {
      if (auto it = last_update.find(e.object); it != last_update.end()) join(it->second);
      last_update[e.object] = b;
    }
    if (e.kind == kJournalRelease) last_release[e.object] = b;
    last_of_thread[e.thread] = b;
  }
  return before;
}

bool covers(const JournalEntry& store, unsigned byte) {
  return store.kind == kJournalStore && store.object <= byte && byte < store.object + store.size;
}

struct Verdict {
  bool legal = true;
  u64 loads = 0, replaced = 0;
  std::string problem;
};

/// Whether some store, or the initial 0, gives byte `at` its value in load `r` by the rule of `model`.
bool byte_is_legal(const std::vector<JournalEntry>& events, const Before& before, std::size_t r, unsigned at,
                   unsigned char value, bool future) {
  auto hidden = [&](std::size_t w, bool initial) {  // another store lies between it and the load
    for (std::size_t k = 0; k < events.size(); ++k) {
      if (covers(events[k], at) && before[r][k] && (initial || before[k][w])) return true;
    }
    return false;
  };
  if (value == 0 && !hidden(0, true)) return true;
  for (std::size_t w = 0; w < events.size(); ++w) {
    if (!covers(events[w], at) || events[w].bytes[at - events[w].object] != value) continue;
    bool in_reach = future ? !before[w][r] : w < r;
    if (in_reach && !hidden(w, false)) return true;
  }
  return false;
}

/// The same for a load as a whole, from one store of the same bytes.
bool whole_is_legal(const std::vector<JournalEntry>& events, const Before& before, std::size_t r,
                    bool future) {
  const JournalEntry& load = events[r];
  auto same = [&](const JournalEntry& e) { return e.object == load.object && e.size == load.size; };
  auto hidden = [&](std::size_t w, bool initial) {
    for (std::size_t k = 0; k < events.size(); ++k) {
      if (events[k].kind == kJournalStore && same(events[k]) && before[r][k] && (initial || before[k][w]))
        return true;
    }
    return false;
  };
  static const unsigned char zero[16] = {};
  if (std::memcmp(load.bytes, zero, load.size) == 0 && !hidden(0, true)) return true;
  for (std::size_t w = 0; w < events.size(); ++w) {
    if (events[w].kind != kJournalStore || !same(events[w])) continue;
    if (std::memcmp(events[w].bytes, load.bytes, load.size) != 0) continue;
    if ((future ? !before[w][r] : w < r) && !hidden(w, false)) return true;
  }
  return false;
}

Verdict check(const std::vector<JournalEntry>& events, ModelId model, const std::set<unsigned>& mixed) {
  Verdict verdict;
  Before before = happens_before(events);
  bool future = model == kFuture || model == kBoth;
  std::vector<unsigned char> memory(4096);
  for (std::size_t r = 0; r < events.size(); ++r) {
    const JournalEntry& e = events[r];
    if (e.kind == kJournalStore) std::memcpy(&memory[e.object], e.bytes, e.size);
    if (e.kind != kJournalLoad) continue;
    ++verdict.loads;
    if (std::memcmp(&memory[e.object], e.bytes, e.size) == 0) continue;  // the last write
    ++verdict.replaced;
    bool legal = model != kSc;
    for (unsigned i = 0; i < e.size && legal; ++i)
      legal = byte_is_legal(events, before, r, e.object + i, e.bytes[i], future);
    if (legal && e.size <= 8 && !mixed.count(e.object)) legal = whole_is_legal(events, before, r, future);
    if (legal) continue;
    verdict.legal = false;
    verdict.problem = "operation " + std::to_string(r) + ": thread " + std::to_string(e.thread) + " loaded " +
                      std::to_string(e.size) + " bytes at " + std::to_string(e.object);
    return verdict;
  }
  return verdict;
}

std::vector<JournalEntry> read_journal(const std::string& path) {
  std::string text = read_file(path, kMost * sizeof(JournalEntry)).value_or("");
  std::vector<JournalEntry> events(text.size() / sizeof(JournalEntry));
  std::memcpy(events.data(), text.data(), events.size() * sizeof(JournalEntry));
  return events;
}

/// Objects that are accessed with several sizes, or overlap.
std::set<unsigned> mixed_objects(const std::vector<JournalEntry>& events) {
  std::set<unsigned> mixed;
  for (const JournalEntry& a : events) {
    if (a.kind != kJournalLoad && a.kind != kJournalStore) continue;
    for (const JournalEntry& b : events) {
      if (b.kind != kJournalLoad && b.kind != kJournalStore) continue;
      bool overlap = a.object < b.object + b.size && b.object < a.object + a.size;
      if (overlap && (a.object != b.object || a.size != b.size)) mixed.insert({a.object, b.object});
    }
  }
  return mixed;
}

struct Machine {
  explicit Machine(WorkerOptions options) : worker(std::move(options)) {}

  Execution run(const Plan& plan) {
    std::optional<Execution> execution = worker.run(plan);
    if (!execution) {
      std::fprintf(stderr, "the machine does not run: %s\n", worker.problem().text.c_str());
      std::exit(1);
    }
    return *execution;
  }

  /// Races of some runs give the sites, as in a campaign.
  void find_sites() {
    for (u64 i = 0; i < 24; ++i) {
      Plan plan;
      plan.head.seed = mix(i + 1);
      plan.head.strategy = StrategyId::kRandom;
      plan.head.detect = trail::Detect::kRaces;
      Execution execution = run(plan);
      for (const trail::SitePair& pair : racing_pairs(worker.take_logs(execution)))
        sites.insert({pair.first, pair.second});
    }
  }

  Plan plan(u64 seed, ModelId model, HeuristicId heuristic) const {
    Plan plan;
    plan.head.seed = mix(seed * 0x9e3779b97f4a7c15u);
    plan.head.strategy = seed % 3 ? StrategyId::kRandom : StrategyId::kPct;
    plan.head.detect = seed % 5 ? trail::Detect::kClocks : trail::Detect::kRaces;
    plan.head.model = model;
    plan.head.heuristic = heuristic;
    plan.head.tear = seed % 2 ? 8 : 4;
    plan.sites.assign(sites.begin(), sites.end());
    return plan;
  }

  Worker worker;
  std::set<u32> sites;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  WorkerOptions options;
  options.target = {arguments[1]};
  options.folder = arguments[2];
  u64 wanted = std::strtoull(arguments[3], nullptr, 10);
  Machine machine(options);
  machine.find_sites();
  u64 runs = 0, discarded = 0, futures = 0, loads = 0;
  std::map<ModelId, u64> replaced;
  u64 all = 0;
  std::set<unsigned> mixed;
  for (u64 seed = 1; loads < wanted; ++seed) {
    auto model = static_cast<ModelId>(seed % 4);
    auto heuristic = static_cast<HeuristicId>(1 + seed / 4 % 4);
    Plan plan = machine.plan(seed, model, heuristic);
    if (model == kFuture || model == kBoth) {
      Plan profile = plan;
      profile.head.model = kFuture;
      profile.head.profile_futures = true;
      Execution execution = machine.run(profile);
      machine.worker.drop_logs(execution);
      // One load and its value, or a few: of all at once hardly any would be validated.
      Prng random(seed);
      if (execution.future_values.empty()) continue;
      u64 first = random.below(execution.future_values.size()), most = 1 + random.below(3);
      for (u64 i = first; i < execution.future_values.size() && plan.predictions.size() < most;
           i += 1 + random.below(9))
        plan.predictions.push_back(execution.future_values[i]);
    }
    Execution execution = machine.run(plan);
    machine.worker.drop_logs(execution);
    ++runs;
    if (execution.status != 0 && execution.record.unvalidated == 0) {
      std::fprintf(stderr, "seed %llu: the machine failed, status %x\n", (unsigned long long)seed,
                   (unsigned)execution.status);
      return 1;
    }
    if (execution.record.unvalidated) {
      ++discarded;
      continue;
    }
    std::vector<JournalEntry> events = read_journal(machine.worker.captured().output);
    if (events.size() >= kMost || events.empty()) {
      std::fprintf(stderr, "seed %llu: %zu operations\n", (unsigned long long)seed, events.size());
      return 1;
    }
    for (unsigned object : mixed_objects(events)) mixed.insert(object);
    Verdict verdict = check(events, model, mixed);
    if (!verdict.legal) {
      std::fprintf(stderr, "seed %llu, model %u, heuristic %u: %s, which is not legal\n",
                   (unsigned long long)seed, raw(model), raw(heuristic), verdict.problem.c_str());
      return 1;
    }
    if (seed % 8 == 1) {  // checking accesses must not change an execution
      Plan other = plan;
      other.head.detect =
          plan.head.detect == trail::Detect::kClocks ? trail::Detect::kRaces : trail::Detect::kClocks;
      Execution again = machine.run(other);
      machine.worker.drop_logs(again);
      std::string journal = read_file(machine.worker.captured().output).value_or("");
      if (again.trail != execution.trail ||
          std::memcmp(journal.data(), events.data(), events.size() * sizeof(JournalEntry)) != 0) {
        std::fprintf(stderr, "seed %llu: another execution when accesses are checked\n",
                     (unsigned long long)seed);
        return 1;
      }
    }
    loads += verdict.loads;
    replaced[model] += verdict.replaced;
    all += verdict.replaced;
    futures += execution.record.future_loads;
    if (verdict.replaced != execution.record.replaced) {
      std::fprintf(stderr, "seed %llu: %llu values were replaced, the record says %llu\n",
                   (unsigned long long)seed, (unsigned long long)verdict.replaced,
                   (unsigned long long)execution.record.replaced);
      return 1;
    }
  }
  std::printf(
      "%llu runs, %llu thrown away; %llu loads, %llu with another value than the last (sc %llu, stale %llu, "
      "future %llu, both %llu), %llu of the future: all legal\n",
      (unsigned long long)runs, (unsigned long long)discarded, (unsigned long long)loads,
      (unsigned long long)all, (unsigned long long)replaced[kSc], (unsigned long long)replaced[kStale],
      (unsigned long long)replaced[kFuture], (unsigned long long)replaced[kBoth],
      (unsigned long long)futures);
  return replaced[kSc] == 0 && replaced[kFuture] && replaced[kBoth] ? 0 : 1;
}
