// SPDX-License-Identifier: Apache-2.0
#include "report/failure_entry.h"

#include <algorithm>

#include "report/trace_text.h"

namespace duress::report {
namespace {

constexpr std::size_t kMostStale = 8;  // a reader needs no more to understand

std::string thread_name(const finding::ProcessLog& process, int thread) {
  auto it = process.threads.find(thread);
  return it == process.threads.end() ? "" : it->second.name;
}

/// Without the runtime's own frames at the top: a fault inside a hook belongs to the code that called it.
std::vector<finding::Frame> of_the_program(std::vector<finding::Frame> stack) {
  auto outside = std::find_if_not(stack.begin(), stack.end(), [](const finding::Frame& frame) {
    return frame.function.starts_with("duress::") || frame.function.starts_with("__duress_");
  });
  if (outside != stack.end()) stack.erase(stack.begin(), outside);
  return stack;
}

WaitingThread waiting_thread(const finding::StuckStrand& strand, const finding::ProcessLog& process,
                             finding::Names& names) {
  WaitingThread waiting{strand.strand, strand.name, strand.state, strand.operation, "", strand.held_by, {}};
  if (strand.object != 0) waiting.object = names.object(process, strand.object);
  waiting.stack = names.stack(process, strand.stack);
  return waiting;
}

StaleValue stale_value(const finding::StaleRead& read, const finding::ProcessLog& process,
                       finding::Names& names) {
  finding::NamedSite site =
      read.site ? names.site_at(process, *read.site, read.object) : finding::NamedSite{};
  return {read.strand, site.variable, site.frame, value_text(read.value, read.size),
          value_text(read.newest, read.size)};
}

/// As the program would say it.
std::string wait_text(const std::string& operation) {
  if (operation == "system call") return "a wait for a descriptor";
  if (operation == "acquire") return "a wait for a semaphore";
  if (operation == "futex wait") return "a wait";
  return "a " + operation;
}

EarlyTimeout early_timeout(const finding::EarlyTimeout& timeout, const finding::ProcessLog& process,
                           finding::Names& names) {
  EarlyTimeout early;
  early.thread = timeout.strand;
  early.name = thread_name(process, timeout.strand);
  early.what = wait_text(timeout.operation);
  early.seconds = static_cast<double>(timeout.nanoseconds) / 1e9;
  std::vector<finding::Frame> stack = names.stack(process, timeout.stack);
  if (!stack.empty()) early.place = stack[finding::blamed_frame(stack)];
  return early;
}

}  // namespace

FailureEntry describe_failure(const finding::Failure& failure, const finding::RunLogs& logs,
                              finding::Names& names) {
  FailureEntry entry;
  entry.failure = failure;
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr) return entry;
  if (logs.stuck) {
    if (!logs.steps.empty()) names.learn_locks(*process, logs.steps);
    entry.stuck = true;
    entry.outcome = logs.stuck->outcome;
    for (const finding::StuckStrand& strand : logs.stuck->strands)
      entry.thread_names[strand.strand] = strand.name;
    for (const finding::StuckStrand* strand : finding::waiting_strands(*logs.stuck))
      entry.waiting.push_back(waiting_thread(*strand, *process, names));
  }
  if (logs.memory && logs.memory->what == failure.kind) {
    finding::Race race = names.race(*process, logs.memory->accesses);
    MemoryError& error = entry.memory.emplace();
    error.access = std::move(race.sites[1]);
    error.variable = std::move(race.variable);
    error.block = std::move(race.block);
    if (logs.memory->freed) error.freed = std::move(race.sites[0]);
  }
  for (const finding::CrashRecord& crash : process->crashes)
    entry.crashes.push_back({crash.thread, thread_name(*process, crash.thread),
                             of_the_program(names.stack(*process, crash.stack))});
  for (std::size_t i = 0; i < logs.stale.size() && i < kMostStale; ++i)
    entry.stale.push_back(stale_value(logs.stale[i], *process, names));
  entry.more_stale = logs.stale.size() > kMostStale;
  for (const finding::EarlyTimeout& timeout : logs.timeouts)
    entry.timeouts.push_back(early_timeout(timeout, *process, names));
  return entry;
}

std::string schema_failure(const std::string& kind) {
  if (kind.rfind("signal:", 0) != 0) return kind;
  return kind.substr(0, kind.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 7));
}

}  // namespace duress::report
