// SPDX-License-Identifier: Apache-2.0
//
// Everything one command found, typed, with every number and sentence that a format shows. A command fills
// one document; writers render it and compute nothing. `duress report` reads what was written: that is a
// StoredDocument.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"
#include "report/coverage.h"
#include "report/failure_entry.h"
#include "report/judgement.h"
#include "report/summary.h"
#include "report/suppressions.h"

namespace duress::report {

/// A change that removes all races, checked by exploring or running the changed program.
struct Fix {
  std::string kind;  // "atomic", "lock", "publish-after-init", "join"
  std::string text;
  std::string diff;                 // "": it must be made by hand
  std::uint64_t interleavings = 0;  // of the changed program, all of them: none has a race or a failure
  std::uint64_t schedules = 0;      // or so many schedules of it: no proof
};

/// A race, and what the command learned about it.
struct RaceEntry : finding::Race {
  bool baseline = false;               // it is in the document that --baseline names
  std::string test;                    // the test case that it is charged to; "": none
  std::optional<Judgement> judgement;  // classify
  std::string replay;                  // verify: token of an execution that shows it
  std::uint64_t executions = 0;        // verify: how many have it
  std::uint64_t switches = 0;          // verify: of the execution that `replay` names
  std::optional<Fix> fix;

  // The same in every format; finish_document makes them of the rest.
  bool another_pair = false;            // of accesses to the variable of an earlier entry, which has its id
  std::string title;                    // "data race on Point::x is DESTRUCTIVE"
  std::array<std::string, 2> accesses;  // a line each, the write first
  std::vector<std::string> account;     // how often it is seen or does harm
};

/// Whether an atomic operation of the source needs its memory order (`verify --weaken`).
struct OrderEntry {
  finding::Frame place;
  std::string operation, order;
  std::string sufficient;        // the weakest order with which nothing was found
  std::string with_less;         // what was found with the next weaker one; "": there is none
  std::uint64_t executions = 0;  // with `sufficient`
  bool bounded = false;          // weaker orders have too many executions
};

/// What `duress verify` adds.
/// Which memory errors a verification would have seen.
enum class MemoryErrors : std::uint8_t { kNotLookedFor, kPartly, kLookedFor };

/// How many interleavings or executions there may be.
struct EstimatedTotal {
  double total = 0, low = 0, high = 0;
};

struct Verification {
  std::uint64_t interleavings = 0;  // of the last round
  std::uint64_t blocked = 0;        // executions that had to be begun, but do not count: see verify.md
  std::uint32_t rounds = 1;         // explorations: each after the first has more racing accesses as steps
  std::uint32_t racing_steps = 0;   // racing places of the source that were steps in the last round
  std::uint64_t first_finding = 0;  // number of the first interleaving with a race or a failure; 0: none
  std::uint32_t spurious = 0;       // spurious wake-ups in a row that were explored
  std::uint32_t timeouts = 0;       // the same of early timeouts
  bool rc11 = false;                // else sequentially consistent memory
  bool reads_from = false;          // one execution of each reads-from class, else of each trace
  std::string by_traces;            // reads-from classes were asked for, and why they were not explored
  double explore_seconds = 0;
  bool assumes_signals = false;  // the result holds if waits end only by signals
  bool assumes_alike = false;    // and if threads that start alike can be exchanged
  MemoryErrors memory = MemoryErrors::kNotLookedFor;
  std::optional<EstimatedTotal> estimate;  // of interleavings, if not all were explored
  std::vector<std::string> bounds;         // what was not explored, and why
  std::optional<Fix> advice;
  std::optional<std::vector<OrderEntry>> orders;
};

/// What `duress explore` and `duress classify` add: how their executions went.
struct CampaignSummary {
  std::uint64_t fresh_runs = 0;               // of this invocation
  double run_seconds = 0;                     // the time that they took
  std::uint64_t restarts = 0, leftovers = 0;  // of the program; processes that it left running
  bool one_thread = false;                    // no run had a second thread: there is nothing to schedule
  bool interrupted = false, out_of_time = false;
  // Of explore alone:
  std::uint64_t pairs = 0, pairs_created = 0;          // racing or suspected; brought together by racefuzzer
  std::uint64_t deadlocks = 0, deadlocks_created = 0;  // suspected; of these, seen
  std::uint64_t untried = 0, untried_switches = 0;     // planned schedules; the fewest switches of one
  std::uint64_t most_output = 0;                       // bytes, of one run
  std::string warning;                                 // the record could not be written
};

/// What `duress collide` adds: which categories are shown, and what came of the sampling.
struct CollideReport {
  std::set<finding::Category> hidden;
  std::array<std::uint64_t, finding::kCategories> found{};  // pairs of places, suppressed ones not counted
  std::uint64_t samples = 0, fired = 0, armed = 0, hits = 0;
  double asked = 0;  // overhead; 0: none was asked for
  double overhead = 0;
  bool watchpoints = true;
  int pid = 0;  // of the process that was attached to
};

struct Document {
  std::string command;
  std::string version;
  std::int64_t seed = 1;
  std::vector<std::string> target;
  int runs = 1;
  double seconds = 0;
  std::string cwd;      // paths below it are shown relative to it
  int root_pid = 0;     // findings of other processes say which
  bool checked = true;  // races were looked for
  std::vector<RaceEntry> races;
  std::vector<finding::Race> potential;  // suspected only; not among `races`
  std::vector<finding::Suspicion> suspicions;
  std::uint64_t suppressed = 0;  // groups hidden
  std::vector<finding::Crash> crashes;
  std::vector<std::string> incomplete;
  std::map<std::string, std::uint64_t> stats;  // summed over processes
  std::vector<std::string> warnings;           // about logs and binaries
  std::vector<Suppression> unused_suppressions;
  std::optional<CollideReport> collide;
  std::optional<bool> complete;  // all that was asked for was done; nothing: the command has no such notion
  std::string fails;  // how the program fails in every run, so that races cannot be judged; "": it does not
  std::optional<std::vector<FailureEntry>> failures;  // nothing: the command does not look for them
  std::vector<std::string> found_before;  // ids of failures that an earlier part of the search found
  std::optional<Verification> verification;
  std::optional<CampaignSummary> campaign;
  std::optional<Coverage> coverage;  // with --coverage
  Summary summary;                   // by finish_document
};

/// Resolves, groups, suppresses and names everything in `log`, and fills the fields of `document` from
/// `races` to `collide`. The races come out ordered by place. REQUIRES: `document.collide` is set if the log
/// is one of collisions.
void fill_document(const finding::RunLog& log, Suppressions& suppressions, Document& document);

/// Writes down what follows from the rest: the counts, and what is said of each race. To be called when the
/// document is complete and before anything is rendered; fill_document does so for what a log holds.
void finish_document(Document& document);

}  // namespace duress::report
