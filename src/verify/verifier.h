// SPDX-License-Identifier: Apache-2.0
//
// `duress verify` without its options and text: every interleaving of a program up to equivalence, each
// checked for races and failures. The explorer (src/exhaustive) says which executions to run; workers run
// them.
//
// Results must not depend on the number of workers, so executions are learned in the explorer's own order.
// Every pending branch of its tree will be run sooner or later exactly as it stands there; so workers run the
// branch and its subtree ahead of time (speculation.h), and outcomes are kept until the explorer asks.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>

#include "catalog/orders.h"
#include "exec/campaign_setup.h"
#include "exhaustive/explorer.h"
#include "exhaustive/graph_explorer.h"
#include "exhaustive/graph_fingerprint.h"
#include "reads_from/reads_from_explorer.h"
#include "search/search.h"
#include "verify/execution_queue.h"

namespace duress::verify {

struct VerifySetup : exec::CampaignSetup {
  u64 seed = 1;
  u64 most_executions = ~u64{0};
  int preemptions = -1;          // -1: any number
  ModelId model = ModelId::kSc;  // or rc11
  u32 spurious = 0;              // explored spurious wake-ups in a row at a wait
  u32 timeouts = 0;              // the same for early timeouts
  ExplorationOrder order = ExplorationOrder::kRunOn;
  bool symmetry = false;    // of executions that differ in which of several alike threads does what, one
  bool reads_from = false;  // one execution of each reads-from class, not of each trace
  bool minimise = true;
  bool keeps = true;             // findings are stored
  bool stops_at_first = false;   // one finding is enough
  bool profile_atomics = false;  // the result lists the atomic operations that ran
  bool races_suffice = false;    // racing accesses do not become steps: failures that races cause are missed
  std::vector<trail::WhatIfEdit> edits;
};

inline constexpr char kOutOfTime[] = "the time was up (--time gives more)";

/// An atomic operation that ran.
struct AtomicUse {
  finding::Address pc = 0;  // where the user's call of it returns to
  trail::AtomicKind kind = trail::AtomicKind::kLoad;
  u32 success = 0, failure = 0;  // memory orders, as the compiler numbers them
  finding::Frame place;
  bool indirect = false;  // inside another part of the library than <atomic>: a shared pointer
};

/// Where a thread really joins one that a what-if edit joins earlier (trail::WhatIfEdit::kJoined).
struct JoinPlace {
  u64 joined = 0, joiner = 0;  // paths
  finding::Frame place;
};

/// A pair of accesses that raced, and an execution that shows it.
struct RacyExecution {
  std::string key;          // which two accesses
  finding::ProcessLog log;  // with this race
  exec::Plan plan;          // of the round that found it
  exec::Trail trail;
  u64 switches = 0;
  u64 executions = 0;  // in how many of the last round the pair raced
  std::string token;
  u32 site_keys[2] = {0, 0};  // previous, current; 0: not known
};

struct VerifyResult {
  exec::WorkerProblem problem;
  u64 interleavings = 0;  // of the last round
  u32 rounds = 1;         // explorations: each after the first has more racing accesses as steps
  u32 racing_sites = 0;   // that were steps in the last round
  bool complete = false;
  std::vector<std::string> bounds;  // what was not explored, and why
  bool interrupted = false, out_of_time = false;
  std::vector<search::Found> found;
  std::vector<RacyExecution> racy;  // in the order in which they were found
  finding::RunLog races;            // the same for a report
  u64 first_finding = 0;            // number of the first interleaving with a race or a failure; 0: none
  u64 redundant = 0, skipped = 0;
  // Executions that do not count: forbidden by rc11, a wait that never ends, a reads-from class again.
  u64 cut_off = 0;
  u32 spurious = 0, timeouts = 0;  // as asked for
  bool waited = false;             // on a condition
  bool reads_from = false;         // one execution of each reads-from class was explored
  std::string by_traces;           // that was asked for, and why it could not be done
  bool exchanged_alike = false;    // threads that are alike were taken to be exchangeable
  u32 memory_limits = 0;           // trail::Record::memory_limits of all executions
  u64 publishing_store = 0;        // trail::Record::publishing_store
  std::vector<AtomicUse> atomics;
  std::vector<JoinPlace> joins;
  u32 most_strands = 0;
  u64 most_steps = 0;
  exhaustive::Estimate estimate;  // of `interleavings`, if not everything was explored
  double seconds = 0, explore_seconds = 0;
  std::set<std::string> incomplete;
};

struct VerifyProgress {
  u64 interleavings = 0;        // of this round
  u64 races = 0, failures = 0;  // pairs of accesses and failures that this round or an earlier one found
  double seconds = 0;
  std::function<exhaustive::Estimate()> estimate;  // costs more than an execution should
};

class Verifier {
 public:
  using Progress = std::function<void(const VerifyProgress&)>;

  Verifier(VerifySetup setup, finding::Names& names, Progress progress);
  ~Verifier();

  /// Is called with each finding as soon as an execution shows it, not made small yet: a race, or a failure
  /// and the id that it will have.
  struct Listener {
    std::function<void(const RacyExecution&)> race;
    std::function<void(const search::Found&, const std::string& id)> failure;
  };
  void listen(Listener listener) { listener_ = std::move(listener); }

  VerifyResult run(const std::atomic<bool>& stop);

  /// The plan of every execution, for replays.
  exec::Plan base_plan() const;

 private:
  template <typename Explorer>
  class Exploration;
  template <typename Explorer>
  class SpeculativeExplorers;

  /// One exploration. True: start over, a new await loop or a new racing access was found.
  bool explore(const std::atomic<bool>& stop);
  void reset();
  bool by_reads_from() const { return setup_.reads_from && result_.by_traces.empty(); }
  /// An execution that counts.
  void note(Outcome& outcome);
  bool is_new(const exec::Execution& execution, exhaustive::GraphFingerprint& fingerprint);
  void explore_by_traces(const std::string& why);
  void take_atomics(const Outcome& outcome);
  void take_side_events(const Outcome& outcome);
  void take_limits(const Outcome& outcome);
  std::string limit_place(const Outcome& outcome, const trail::SideEvent& event);
  void take_join(const Outcome& outcome, JoinPlace join, const std::vector<finding::Address>& calls);
  bool reads_clock_itself(const Outcome& outcome, const std::vector<finding::Address>& calls);
  void take(Outcome& outcome);
  // ---- racing_steps.cc
  void note_racing(const finding::RunLogs& logs, const finding::RaceRecord& race);
  bool note_racing(const finding::RunLogs& logs);
  void begin_round();
  void add_earlier_findings();
  bool within_bound(const exec::Execution& execution) const;
  /// Whether the exploration has used its share of the time.
  bool explored_long_enough(bool has_findings) const;
  /// Minimises and stores the findings, as far as time allows.
  void finish_findings(const std::atomic<bool>& stop);
  void minimise_found(search::Found& found);
  void minimise_race(RacyExecution& racy);
  void keep(search::Found& found);
  Outcome outcome_of(exec::Worker& worker, const exec::Plan& plan, const exec::Lookahead& lookahead = {});

  VerifySetup setup_;
  finding::Names& names_;
  Progress progress_;
  Listener listener_;
  exec::Oracle oracle_;
  exec::Store store_;
  std::unique_ptr<exec::WorkerPool> pool_;
  std::mutex names_lock_;
  std::vector<exhaustive::StepLog::Origin> origins_;
  std::vector<u64> spins_;
  std::vector<u32> racing_sites_;      // keys of sites that race, and are therefore steps
  std::vector<u32> new_racing_sites_;  // those of the next round
  bool races_in_library_ = false;      // an access that races has no site
  std::vector<RacyExecution> earlier_races_;
  std::vector<search::Found> earlier_failures_;
  u64 earlier_executions_ = 0, earlier_first_finding_ = 0;
  bool probes_long_runs_ = true;  // see exploration.cc
  double started_ = 0;
  std::map<std::string, std::size_t> known_races_;  // by sites: index of racy
  std::map<std::string, std::size_t> known_failures_;
  std::map<std::vector<finding::Address>, bool>
      known_clocks_;  // by stack: whether the program itself reads it
  u32 limits_ = 0;
  std::map<u32, std::string> limited_at_;  // by limit: where it was met first
  u64 diverged_ = 0;
  std::array<u8, exhaustive::kMostStrands> alike_ = {};  // alike.h
  reads_from::Ordered ordered_;                          // by reads-from classes
  u32 ordered_rounds_ = 0;                               // explorations that found more of them
  bool by_interleavings_ = false;         // rc11: threads meet at an operation that graphs do not cover
  u32 kept_limits_ = 0;                   // of the exploration by graphs before that
  std::unordered_set<u64> fingerprints_;  // then: executions that were counted
  bool uncontrolled_ = false;
  VerifyResult result_;
};

/// The key of a site that a log names; 0: it has none.
u32 key_of(const finding::RunLogs& logs, const std::optional<finding::SiteRecord>& site);
/// Which two accesses raced; the same in every run.
std::string race_key(const finding::RaceRecord& race);

}  // namespace duress::verify
