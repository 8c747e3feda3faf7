// SPDX-License-Identifier: Apache-2.0
#include "cli/classify_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/command_line.h"
#include "report/failure_text.h"
#include "report/interleaving.h"
#include "report/path.h"
#include "report/trace_text.h"

namespace duress::cli {
namespace {

using classify::Attack;
using classify::Model;
using classify::Rate;
using classify::VerdictKind;
using classify::Witness;
using report::printable;

constexpr const char* kRed = "\033[1;31m";
constexpr const char* kMagenta = "\033[1;35m";
constexpr const char* kBold = "\033[1m";
constexpr const char* kReset = "\033[0m";

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string function_text(const finding::Frame& frame) {
  if (frame.function.empty()) return fmt::format("{}+{:#x}", base_name(frame.module), frame.module_offset);
  return printable(frame.function) + (frame.function.back() == ')' ? "" : "()");
}

std::string place_text(const finding::Frame& frame) {
  if (frame.file.empty()) return printable(base_name(frame.module));
  return fmt::format("{}:{}", printable(base_name(frame.file)), frame.line);
}

const char* verb(finding::Access access) {
  switch (access) {
    case finding::Access::kRead:
    case finding::Access::kAtomicRead:
      return "reads";
    case finding::Access::kFree:
      return "frees";
    default:
      return "writes";
  }
}

/// Both accesses, in columns.
std::string sides_text(const finding::Race& race) {
  std::size_t functions = 0, places = 0;
  for (const finding::AccessReport& side : race.sites) {
    functions = std::max(functions, function_text(side.site()).size());
    places = std::max(places, place_text(side.site()).size());
  }
  std::string text;
  for (std::size_t i : {race.headline(), 1 - race.headline()}) {
    const finding::AccessReport& side = race.sites[i];
    std::string locks = side.locks.empty() ? "nothing" : fmt::format("{}", fmt::join(side.locks, ", "));
    bool atomic = side.access == finding::Access::kAtomicRead ||
                  side.access == finding::Access::kAtomicWrite || side.access == finding::Access::kAtomicRmw;
    text += fmt::format("  T{} {:<6}  {:<{}}  {:<{}}  holds {}{}\n", side.thread, verb(side.access),
                        function_text(side.site()), functions, place_text(side.site()), places,
                        printable(locks), atomic ? ", atomic" : "");
  }
  return text;
}

std::string verdict_words(const classify::RaceVerdict& known) {
  const classify::Verdict& verdict = known.verdict;
  if (known.variable == nullptr) return ": not judged";
  switch (verdict.kind) {
    case VerdictKind::kDestructive:
      return " is DESTRUCTIVE";
    case VerdictKind::kSlower:
      return fmt::format(": slower: {:.1f} times the work, no other harm found in {}", verdict.slower->times,
                         count_text(verdict.runs, "run"));
    case VerdictKind::kSameValue:
      return fmt::format(": same value: its writes wrote what was there in {}",
                         count_text(verdict.runs, "run"));
    case VerdictKind::kNoHarmFound:
      return fmt::format(": no harm found in {}", count_text(verdict.runs, "run"));
    case VerdictKind::kOpen:
      break;
  }
  return verdict.evidence != 0
             ? fmt::format(": not judged yet; {} failed", count_text(verdict.evidence, "run"))
             : ": not judged yet";
}

std::string what_happened(const Witness& witness) {
  std::string text = report::short_text(witness.failure);
  const finding::Frame& place = witness.failure.place;
  if (!place.file.empty()) text += fmt::format(" at {}:{}", base_name(place.file), place.line);
  return printable(text);
}

std::string cause_text(const Witness& witness) {
  std::string text;
  if (witness.by.model == Model::kSc) return "the schedule alone";
  if (!witness.replaced.empty()) {
    const trail::Replaced& first = witness.replaced.front();
    text = fmt::format("T{} reads {} {} (newest {})", first.strand, first.future != 0 ? "future" : "stale",
                       report::value_text(first.value, first.size, first.type),
                       report::value_text(first.newest, first.size, first.type));
  } else {
    text = fmt::format("{} values, {}", classify::name_of(witness.by.model), witness.by.name());
  }
  return witness.by.fair ? text : text + ", again and again";
}

std::string needs_text(const Witness& witness) {
  std::string text = fmt::format("needs {}", report::switches_text(witness.switches));
  if (witness.by.model != Model::kSc) text += " and " + count_text(witness.values, "replaced value");
  return text;
}

std::string counterfactual_text(const classify::RaceVerdict& known, const Witness& witness) {
  const Rate& rate = known.verdict.counterfactual;
  if (witness.by.model == Model::kSc) {
    std::string fails = fmt::format("with sequentially consistent memory {} of {} schedules fail",
                                    grouped(known.verdict.sc_failed), grouped(known.verdict.sc_runs));
    switch (known.verdict.charge.reason) {
      case classify::Charge::Reason::kSwitches:
        return fmt::format("{}; without a switch at its accesses {} pass", fails, grouped(rate.runs));
      case classify::Charge::Reason::kValues:
        return fmt::format("{}; with {} values for it the same {} pass", fails,
                           classify::name_of(rate.attack.model), grouped(rate.runs));
      default:
        return fmt::format("{}, {} of {} even without a switch at its accesses", fails, grouped(rate.failed),
                           grouped(rate.runs));
    }
  }
  if (rate.failed == 0)
    return fmt::format("with sequentially consistent memory the same {} schedules pass", grouped(rate.runs));
  return fmt::format("with sequentially consistent memory the same schedule passes; {} of {} others fail",
                     grouped(rate.failed), grouped(rate.runs));
}

std::string rate_text(const Rate& rate) {
  std::string text = fmt::format("{} {} of {}", rate.attack.label(), rate.failed, rate.runs);
  return rate.discarded != 0 ? text + fmt::format(" ({} discarded)", rate.discarded) : text;
}

const Rate& rate_of(const classify::Verdict& verdict, const Attack& attack) {
  for (const Rate& rate : verdict.rates) {
    if (rate.attack.label() == attack.label()) return rate;
  }
  return verdict.rates.front();
}

}  // namespace

std::string grouped(u64 number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string count_text(u64 count, const char* word) {
  return fmt::format("{} {}{}", grouped(count), word, count == 1 ? "" : "s");
}

std::string race_text(const finding::Race& race, const classify::RaceVerdict& known,
                      const std::string& shown_at, const ClassifyStyle& style) {
  auto colored = [&](const char* color, const std::string& text) {
    return style.color ? color + text + kReset : text;
  };
  finding::Frame place = race.sites[race.headline()].site();
  bool destructive = known.verdict.kind == VerdictKind::kDestructive;
  std::string where = fmt::format("{}:{}:{}:", report_path(place.file), place.line, place.column);
  if (place.file.empty()) where = base_name(race.exe) + ":";
  std::string text = colored(kBold, printable(where));
  text += " " + (destructive ? colored(kRed, "error:") : colored(kMagenta, "warning:"));
  text += " " + colored(kBold, fmt::format("data race on {}{} [{}]{}{}", printable(race.variable),
                                           verdict_words(known), race.id,
                                           style.test.empty() ? "" : " in " + printable(style.test),
                                           known.baseline ? " (in the baseline)" : ""));
  text += "\n";
  if (style.quiet || (!destructive && !style.verbose)) return text;
  text += sides_text(race);
  if (known.variable == nullptr) return text;
  if (!shown_at.empty()) return text + fmt::format("  witness: as of {}\n", shown_at);
  if (const Witness* witness = known.variable->witness(); destructive && witness != nullptr) {
    const Rate& rate = rate_of(known.verdict, witness->by);
    text += fmt::format("  witness: {} → {}; {} of {} runs, replayed {} of {}\n", cause_text(*witness),
                        what_happened(*witness), grouped(rate.failed), grouped(rate.runs), witness->replayed,
                        witness->replays);
    text += fmt::format("           {}\n", counterfactual_text(known, *witness));
    if (style.verbose) text += fmt::format("           {}\n", needs_text(*witness));
    for (const std::string& line : witness->interleaving) text += "     " + line + "\n";
  }
  if (style.verbose) {
    std::string rates;
    for (const Rate& one : known.verdict.rates) {
      if (one.runs + one.discarded != 0) rates += (rates.empty() ? "" : ", ") + rate_text(one);
    }
    if (!rates.empty()) text += fmt::format("  failed: {}\n", rates);
    if (!known.confirmed) text += "  its accesses were not brought together\n";
  }
  if (destructive) text += fmt::format("  replay: duress replay {}{}\n", race.id, style.replay_options);
  return text;
}

std::string figures_text(const std::map<std::string, classify::Figures>& figures) {
  std::size_t width = 8;
  for (const auto& [name, one] : figures) width = std::max(width, name.size());
  std::string text = fmt::format("  {:<{}}  {:>9}  {:>9}  {:>9}  {:>7}  {:>12}\n", "variable", width,
                                 "instances", "writes", "reads", "largest", "uncompressed");
  for (const auto& [name, one] : figures)
    text += fmt::format("  {:<{}}  {:>9}  {:>9}  {:>9}  {:>7}  {:>12}\n", printable(name), width,
                        grouped(one.instances), grouped(one.writes), grouped(one.reads), grouped(one.largest),
                        grouped(one.largest_uncompressed));
  return figures.empty() ? "" : text;
}

}  // namespace duress::cli
