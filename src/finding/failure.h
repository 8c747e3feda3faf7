// SPDX-License-Identifier: Apache-2.0
//
// One way in which a target failed, and the name it keeps.
#pragma once

#include <cstdint>
#include <string>

#include "finding/names.h"
#include "finding/run_logs.h"

namespace duress::finding {

struct Failure {
  std::string kind;      // "signal:SIGSEGV", "exit:1", "exception:TYPE", "assertion", "deadlock", "no-end",
                         // "output", "check", "sanitizer:NAME": the spelling of --json
  std::string text;      // the same for people, one line
  std::string detail;    // what enters the identity beside the kind: an assertion's expression, what a
                         // sanitizer calls the error, how a run did not end
  finding::Frame place;  // where it happened; file "" if not known
  std::string identity;  // kind, detail and place without what changes from run to run
  std::string id;        // "F-12ab"; given by identify()
};

/// What it takes to see a failure again, as far as a search found out.
struct Reproduction {
  std::uint64_t switches = 0;
  std::uint64_t first_switches = 0;    // before it was minimised
  bool fewest = false;                 // no single switch can be left out
  bool replay_tried = true;            // false: there was no time left for it
  bool replayed = false;               // it failed again in the same way
  std::uint64_t diverged = 0;          // not replayed: 1 + the first choice where the replay diverged
  std::uint64_t stale = 0, early = 0;  // loads of older values; stores before others in modification order
  std::uint64_t without_model = 0;     // runs with sequentially consistent memory that were tried
  bool needs_model = false;            // none of them failed this way
  std::string token;                   // or "@FILE"
};

/// Completes a failure from the run's logs: where, and its id. The id is a hash of names without lines, so
/// that it survives edits elsewhere; two runs that fail in the same place for the same reason share it.
void identify(Failure& failure, const RunLogs& logs, Names& names);

/// "F-" and as many hex digits of the identity's hash.
std::string failure_id(const std::string& identity, int digits = 4);

/// The strands that wait in `stuck`, those of a cycle before those that only wait for it.
std::vector<const StuckStrand*> waiting_strands(const Stuck& stuck);

}  // namespace duress::finding
