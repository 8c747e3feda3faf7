// SPDX-License-Identifier: Apache-2.0
#include "trace/analyze.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "trace/offline.h"
#include "trace/sync_p.h"

namespace duress::trace {
namespace {

std::string thread_name(const RapidNames& names, std::size_t thread) {
  return thread < names.threads.size() ? names.threads[thread] : fmt::format("T{}", thread);
}

std::string object_name(const RapidNames& names, uptr address) {
  auto it = names.objects.find(address);
  return it == names.objects.end() ? fmt::format("{:#x}", address) : it->second;
}

/// Names of a text trace, for analyses that tell their steps.
class TextNamer final : public Namer {
 public:
  explicit TextNamer(const RapidNames& names) : names_(names) {}
  virtual ~TextNamer() = default;
  void thread(Tid tid, Text& into) const override { into.put(thread_name(names_, raw(tid)).c_str()); }
  void location(uptr address, Text& into) const override { into.put(object_name(names_, address).c_str()); }

 private:
  const RapidNames& names_;
};

/// What comes goes to the analyses, accesses many at a time.
struct Played {
  Offline& offline;
  std::uint64_t& events;
  void operator()(const Event& event) const {
    ++events;
    offline.play(event);
  }
  void operator()(Tid thread, const Access* accesses, std::size_t count) const {
    events += count;
    offline.play(thread, accesses, count);
  }
  void soon(uptr address) const { offline.soon(address); }
};

const char* verb_of(finding::Access access) {
  switch (access) {
    case finding::Access::kRead:
      return "reads";
    case finding::Access::kAtomicRead:
      return "atomically reads";
    case finding::Access::kAtomicWrite:
    case finding::Access::kAtomicRmw:
      return "atomically writes";
    case finding::Access::kFree:
      return "frees";
    default:
      return "writes";
  }
}

auto line_of(const finding::AccessRecord& access) {
  return access.site ? access.site->index : 0;
}

std::string race_text(const finding::RaceRecord& race, const char* what, const TraceInput& input) {
  const RapidNames& names = input.names();
  auto who = [&](const finding::AccessRecord& side) {
    return thread_name(names, static_cast<std::size_t>(side.thread));
  };
  return fmt::format("{}:{}: warning: {} on {} [{}]: {} {} it, {} {} it at {}\n", input.path(),
                     line_of(race.cur), what, object_name(names, race.address), race.analysis, who(race.cur),
                     verb_of(race.cur.access), who(race.prev), verb_of(race.prev.access), line_of(race.prev));
}

std::string warning_text(const finding::WarningRecord& warning, const TraceInput& input) {
  const RapidNames& names = input.names();
  std::string places;
  for (const finding::AccessRecord& site : warning.sites)
    places += fmt::format("{}{} at {}", places.empty() ? "" : ", ",
                          thread_name(names, static_cast<std::size_t>(site.thread)), line_of(site));
  return fmt::format("{}:{}: warning: {}{} [{}]: {}\n", input.path(),
                     warning.sites.empty() ? 0 : line_of(warning.sites[0]), warning.what,
                     warning.address ? " (" + object_name(names, warning.address) + ")" : "",
                     warning.analysis, places);
}

}  // namespace

Analyzed analyze(TraceInput& input, const AnalyzeOptions& options,
                 const std::function<void(const std::string&)>& print) {
  Analyzed result;
  Offline offline;
  offline.on_line = print;
  TextNamer namer(input.names());
  if (options.steps) offline.show_steps(namer);
  result.problem = offline.build(options.chain);
  if (!result.problem.empty()) return result;
  std::clock_t begin = std::clock();
  auto start = std::chrono::steady_clock::now();
  SyncP sync_p(offline);
  if (options.predict) {
    input.each([&](const Event& event) {
      ++result.events;
      offline.play(event);
      sync_p.play(event);
    });
    sync_p.finish();
    result.complete = sync_p.complete();
  } else {
    input.each_pipelined(Played{offline, result.events});
  }
  result.processor_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.log = offline.finish(input.log_text(), input.stacks(), options.stats);
  return result;
}

std::string findings_text(const finding::RunLog& log, const TraceInput& input) {
  std::string text;
  for (const finding::ProcessLog& process : log.processes) {
    for (const finding::RaceRecord& race : process.races) text += race_text(race, "data race", input);
    for (const finding::RaceRecord& race : process.potentials)
      text += race_text(race, "potential data race", input);
    for (const finding::WarningRecord& warning : process.warnings) text += warning_text(warning, input);
  }
  return text;
}

}  // namespace duress::trace
