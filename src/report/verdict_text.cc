// SPDX-License-Identifier: Apache-2.0
#include "report/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/path.h"
#include "report/race_text.h"
#include "report/words.h"

namespace duress::report {
namespace {

std::string needs_text(const WitnessEntry& witness) {
  std::string text = fmt::format("needs {}", switches_text(witness.switches));
  if (!witness.by.by_schedule()) text += " and " + count_text(witness.values, "replaced value");
  return text;
}

std::string rate_text(const AttackRate& rate) {
  std::string text = fmt::format("{} {} of {}", rate.attack.label, rate.failed, rate.runs);
  return rate.discarded != 0 ? text + fmt::format(" ({} discarded)", rate.discarded) : text;
}

std::string rates_text(const Judgement& judgement) {
  std::string rates;
  for (const AttackRate& one : judgement.rates) {
    if (one.runs + one.discarded != 0) rates += (rates.empty() ? "" : ", ") + rate_text(one);
  }
  return rates.empty() ? "" : fmt::format("  failed: {}\n", rates);
}

std::string witness_text(const RaceEntry& race, const FindingStyle& style) {
  const WitnessEntry& witness = *race.judgement->witness;
  std::string text;
  for (const std::string& line : race.account)
    text += fmt::format("{}{}\n", text.empty() ? "  " : "           ", printable(line));
  if (style.verbose) text += fmt::format("           {}\n", needs_text(witness));
  for (const std::string& line : witness.interleaving) text += "     " + line + "\n";
  return text;
}

std::string race_text(const RaceEntry& race, const FindingStyle& style) {
  const Judgement judgement = race.judgement.value_or(Judgement{});
  bool destructive = judgement.destructive();
  FindingStyle brief = style;
  brief.quiet = style.quiet || (!destructive && !style.verbose);
  if (race.another_pair) return brief.quiet ? "" : heading_text(race, destructive, brief);
  std::string text = heading_text(race, destructive, brief);
  if (brief.quiet || !judgement.attacked) return text;
  if (destructive && judgement.witness) text += witness_text(race, style);
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
  for (const RaceEntry& race : document.races) {
    text += race_text(race, style);
    if (race.fix && !race.another_pair && !style.quiet)
      text += fmt::format("  fix: {} — {}. {}: duress fix {}{}\n", race.fix->text,
                          checked_text(race.fix->interleavings, race.fix->schedules),
                          race.fix->diff.empty() ? "More" : "Diff", race.id, style.replay_options);
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
