// SPDX-License-Identifier: Apache-2.0
#include "report/race_text.h"

#include <fmt/format.h>

#include "finding/text.h"
#include "report/access_text.h"
#include "report/interleaving.h"
#include "report/words.h"

namespace duress::report {
namespace {

using finding::VerdictKind;

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
                       judgement.other_failure, cause);
  }
  return judgement.unexamined != 0
             ? fmt::format(": not judged yet; {} failed", count_text(judgement.unexamined, "run"))
             : ": not judged yet";
}

std::string what_happened(const WitnessEntry& witness) {
  std::string text = short_text(witness.failure);
  const finding::Frame& place = witness.failure.place;
  if (!place.file.empty()) text += " at " + short_place_text(place);
  return text;
}

std::string cause_text(const WitnessEntry& witness) {
  if (witness.by.by_schedule()) return "thread timing alone (no stale value needed)";
  std::string text = witness.replaced ? fmt::format("T{} reads {} {} (newest {})", witness.replaced->thread,
                                                    witness.replaced->future ? "future" : "stale",
                                                    witness.replaced->read, witness.replaced->newest)
                                      : fmt::format("{} values, {}", witness.by.model, witness.by.heuristic);
  return witness.by.fair ? text : text + ", again and again";
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

}  // namespace

void describe(RaceEntry& race, const Document& document) {
  const std::optional<Judgement>& judgement = race.judgement;
  race.title = race.another_pair
                   ? "another pair of accesses to " + race.variable
                   : "data race on " + race.variable + (judgement ? verdict_words(*judgement) : "");
  race.accesses = access_lines(race, /*thread_names=*/false);
  race.account.clear();
  if (judgement && judgement->destructive() && judgement->witness) {
    const WitnessEntry& witness = *judgement->witness;
    race.account.push_back(fmt::format(
        "witness: {} → {}; {} of {} runs, replayed {} of {}", cause_text(witness), what_happened(witness),
        grouped(judgement->rate.failed), grouped(judgement->rate.runs), witness.replayed, witness.replays));
    race.account.push_back(counterfactual_text(*judgement, witness));
  }
  if (race.executions != 0 && document.verification)
    race.account.push_back(fmt::format("in {} of {}; the shortest found needs {}", grouped(race.executions),
                                       count_text(document.verification->interleavings, "interleaving"),
                                       switches_text(race.switches)));
}

std::string heading_text(const RaceEntry& race, bool error, const FindingStyle& style) {
  FirstLine line{race.sites[race.headline()].site(), finding::base_name(race.exe),
                 error ? FirstLine::kError : FirstLine::kWarning, race.title, race.id};
  if (race.another_pair) line.severity = FirstLine::kNote;
  if (!race.test.empty()) line.tail = " in " + race.test;
  if (race.baseline) line.tail += " (in the baseline)";
  std::string text = first_line(line, style);
  if (style.quiet) return text;
  for (const std::string& access : race.accesses) text += "  " + access + "\n";
  return text;
}

}  // namespace duress::report
