// SPDX-License-Identifier: Apache-2.0
//
// A failure with the names of all that explains it: who waits for whom, where it crashed, which values were
// stale, how it was found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "finding/failure.h"
#include "finding/names.h"
#include "finding/run_logs.h"

namespace duress::report {

/// A thread at the end of a run that got stuck.
struct WaitingThread {
  int thread = 0;
  std::string name, state, operation;
  std::string object;  // what it waits for; "": nothing with a name
  std::vector<int> held_by;
  std::vector<finding::Frame> stack;
};

struct CrashedThread {
  int thread = 0;
  std::string name;
  std::vector<finding::Frame> stack;
};

/// A load that did not return the newest value.
struct StaleValue {
  int thread = 0;
  std::string variable;  // "": not known
  finding::Frame place;
  std::string value, newest;
};

/// A wait, or a timer of the program, that timed out although threads could run.
struct EarlyTimeout {
  int thread = -1;   // -1: a timer
  std::string name;  // of the thread
  std::string what;  // "a sleep", "a wait for a semaphore", ...
  double seconds = 0;
  finding::Frame place;
};

/// How a search came to a failure.
struct Discovery : finding::Reproduction {
  std::string strategy, model, heuristic;
  bool weak_model = false;             // the model is not sc
  std::uint32_t depth = 0;             // of the strategy pct; 0: another strategy
  std::uint64_t run = 0;               // counted from 1
  std::optional<std::uint64_t> times;  // how many runs failed so; nothing: the search ended at the first
};

/// A memory error: what was done, to which block, and where that was freed.
struct MemoryError {
  finding::AccessReport access;
  std::string variable;
  finding::BlockReport block;
  std::optional<finding::AccessReport> freed;  // or destroyed
};

struct FailureEntry {
  finding::Failure failure;
  bool stuck = false;
  std::string outcome;  // how it got stuck: "deadlock", ...
  std::vector<WaitingThread> waiting;
  std::map<int, std::string> thread_names;  // of a run that got stuck
  std::vector<CrashedThread> crashes;
  std::optional<MemoryError> memory;
  std::vector<StaleValue> stale;  // the first of them
  bool more_stale = false;
  std::vector<EarlyTimeout> timeouts;
  std::string errors;  // the end of what the run wrote to stderr
  Discovery found;
  bool baseline = false;  // it is in the document that --baseline names
};

/// Names everything in `logs`, the logs of the run that failed.
FailureEntry describe_failure(const finding::Failure& failure, const finding::RunLogs& logs,
                              finding::Names& names);

/// A failure's kind as the schema has it: without what follows a signal's name.
std::string schema_failure(const std::string& kind);

}  // namespace duress::report
