// SPDX-License-Identifier: Apache-2.0
#include "report/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/interleaving.h"
#include "report/path.h"
#include "report/words.h"

namespace duress::report {
namespace {

using finding::VerdictKind;

constexpr const char* kRed = "\033[1;31m";
constexpr const char* kMagenta = "\033[1;35m";
constexpr const char* kBold = "\033[1m";
constexpr const char* kReset = "\033[0m";

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

std::string verdict_words(const Judgement& judgement) {
  if (!judgement.attacked) return ": not judged";
  switch (judgement.kind) {
    case VerdictKind::kDestructive:
      return " is DESTRUCTIVE";
    case VerdictKind::kSlower:
      return fmt::format(": slower: {:.1f} times the work, no other harm found in {}",
                         judgement.slower->times, count_text(judgement.runs, "run"));
    case VerdictKind::kSameValue:
      return fmt::format(": same value: its writes wrote what was there in {}",
                         count_text(judgement.runs, "run"));
    case VerdictKind::kNoHarmFound:
      return fmt::format(": no harm found in {}", count_text(judgement.runs, "run"));
    case VerdictKind::kOpen:
      break;
  }
  if (!judgement.other_failure.empty()) {
    std::string cause = judgement.other_causes.empty() ? "no race explains it"
                                                       : fmt::format("the race on {} explains it",
                                                                     fmt::join(judgement.other_causes, ", "));
    return fmt::format(": not judged: the program also fails for other reasons ({}; {})",
                       judgement.other_failure, printable(cause));
  }
  return judgement.unexamined != 0
             ? fmt::format(": not judged yet; {} failed", count_text(judgement.unexamined, "run"))
             : ": not judged yet";
}

std::string what_happened(const WitnessEntry& witness) {
  std::string text = short_text(witness.failure);
  const finding::Frame& place = witness.failure.place;
  if (!place.file.empty()) text += fmt::format(" at {}:{}", base_name(place.file), place.line);
  return printable(text);
}

std::string cause_text(const WitnessEntry& witness) {
  if (witness.by.by_schedule()) return "thread timing alone (no stale value needed)";
  std::string text = witness.replaced ? fmt::format("T{} reads {} {} (newest {})", witness.replaced->thread,
                                                    witness.replaced->future ? "future" : "stale",
                                                    witness.replaced->read, witness.replaced->newest)
                                      : fmt::format("{} values, {}", witness.by.model, witness.by.heuristic);
  return witness.by.fair ? text : text + ", again and again";
}

std::string needs_text(const WitnessEntry& witness) {
  std::string text = fmt::format("needs {}", switches_text(witness.switches));
  if (!witness.by.by_schedule()) text += " and " + count_text(witness.values, "replaced value");
  return text;
}

std::string counterfactual_text(const Judgement& judgement, const WitnessEntry& witness) {
  const AttackRate& rate = judgement.counterfactual;
  if (witness.by.by_schedule()) {
    std::string fails =
        fmt::format("{} of {} ordinary schedules fail; {} of {} fail", grouped(judgement.charged.failed),
                    grouped(judgement.charged.runs), grouped(rate.failed), grouped(rate.runs));
    switch (judgement.charge) {
      case finding::ChargeReason::kSwitches:
        return fails + " when no thread is preempted at these accesses";
      case finding::ChargeReason::kValues:
        return fmt::format("{} with {} values for these loads", fails, rate.attack.model);
      default:
        return fails + " even when no thread is preempted at these accesses";
    }
  }
  if (rate.failed == 0)
    return fmt::format("with sequentially consistent memory the same {} schedules pass", grouped(rate.runs));
  return fmt::format("with sequentially consistent memory the same schedule passes; {} of {} others fail",
                     grouped(rate.failed), grouped(rate.runs));
}

std::string rate_text(const AttackRate& rate) {
  std::string text = fmt::format("{} {} of {}", rate.attack.label, rate.failed, rate.runs);
  return rate.discarded != 0 ? text + fmt::format(" ({} discarded)", rate.discarded) : text;
}

const AttackRate& rate_of(const Judgement& judgement, const AttackName& attack) {
  for (const AttackRate& rate : judgement.rates) {
    if (rate.attack.label == attack.label) return rate;
  }
  return judgement.rates.front();
}

std::string first_line(const RaceEntry& race, const Judgement& judgement, const FindingStyle& style) {
  auto colored = [&](const char* color, const std::string& text) {
    return style.color ? color + text + kReset : text;
  };
  finding::Frame place = race.sites[race.headline()].site();
  std::string where = fmt::format("{}:{}:{}:", shown_path(place.file, style.cwd), place.line, place.column);
  if (place.file.empty()) where = base_name(race.exe) + ":";
  std::string what = fmt::format(
      "data race on {}{} [{}]{}{}", printable(race.variable), verdict_words(judgement), race.id,
      race.test.empty() ? "" : " in " + printable(race.test), race.baseline ? " (in the baseline)" : "");
  return fmt::format("{} {} {}\n", colored(kBold, printable(where)),
                     judgement.destructive() ? colored(kRed, "error:") : colored(kMagenta, "warning:"),
                     colored(kBold, what));
}

std::string witness_text(const Judgement& judgement, const FindingStyle& style) {
  const WitnessEntry& witness = *judgement.witness;
  const AttackRate& rate = rate_of(judgement, witness.by);
  std::string text = fmt::format("  witness: {} → {}; {} of {} runs, replayed {} of {}\n",
                                 cause_text(witness), what_happened(witness), grouped(rate.failed),
                                 grouped(rate.runs), witness.replayed, witness.replays);
  text += fmt::format("           {}\n", counterfactual_text(judgement, witness));
  if (style.verbose) text += fmt::format("           {}\n", needs_text(witness));
  for (const std::string& line : witness.interleaving) text += "     " + line + "\n";
  return text;
}

std::string rates_text(const Judgement& judgement) {
  std::string rates;
  for (const AttackRate& one : judgement.rates) {
    if (one.runs + one.discarded != 0) rates += (rates.empty() ? "" : ", ") + rate_text(one);
  }
  return rates.empty() ? "" : fmt::format("  failed: {}\n", rates);
}

/// `shown_at`: id of a race of the same variable whose witness was shown; "": none.
std::string race_text(const RaceEntry& race, const std::string& shown_at, const FindingStyle& style) {
  const Judgement judgement = race.judgement.value_or(Judgement{});
  std::string text = first_line(race, judgement, style);
  bool destructive = judgement.destructive();
  if (style.quiet || (!destructive && !style.verbose)) return text;
  text += sides_text(race);
  if (!judgement.attacked) return text;
  if (!shown_at.empty()) return text + fmt::format("  same witness as {}\n", shown_at);
  if (destructive && judgement.witness) text += witness_text(judgement, style);
  if (style.verbose) {
    text += rates_text(judgement);
    if (!judgement.confirmed) text += "  its accesses were not brought together\n";
  }
  if (destructive) text += fmt::format("  replay: duress replay {}{}\n", race.id, style.replay_options);
  return text;
}

}  // namespace

std::string verdicts_text(const Document& document, const FindingStyle& style) {
  std::string text;
  std::map<std::string, std::string> shown_at;  // by variable: id of the race that showed its witness
  for (const RaceEntry& race : document.races) {
    bool witness = race.judgement && race.judgement->witness;
    std::string& shown = shown_at[race.variable];
    text += race_text(race, witness ? shown : "", style);
    if (race.fix && !style.quiet)
      text += fmt::format("  fix: {} — checked: {}, no race, no failure. {}: duress fix {}{}\n",
                          race.fix->text, count_text(race.fix->interleavings, "interleaving"),
                          race.fix->diff.empty() ? "More" : "Diff", race.id, style.replay_options);
    if (witness && shown.empty()) shown = race.id;
  }
  return text;
}

std::string figures_text(const Document& document) {
  std::map<std::string, finding::Figures> figures;
  for (const RaceEntry& race : document.races)
    figures[race.variable] =
        race.judgement && race.judgement->figures ? *race.judgement->figures : finding::Figures{};
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

}  // namespace duress::report
