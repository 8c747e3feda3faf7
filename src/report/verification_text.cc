// SPDX-License-Identifier: Apache-2.0
#include "report/verification_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/failure_text.h"
#include "report/path.h"
#include "report/race_text.h"
#include "report/words.h"

namespace duress::report {
namespace {

std::string interleavings_text(std::uint64_t count) {
  return count_text(count, "interleaving");
}

std::string race_text(const RaceEntry& race, const FindingStyle& style) {
  std::string text = heading_text(race, /*error=*/true, style);
  if (style.quiet) return text;
  for (const std::string& line : race.account) text += fmt::format("  {}\n", line);
  if (!race.replay.empty() && race.replay.size() < 400) text += fmt::format("  token: {}\n", race.replay);
  return text;
}

std::string failure_text(const FailureEntry& entry, const Document& document, const FindingStyle& style) {
  const Discovery& found = entry.found;
  std::uint64_t times = found.times.value_or(1);
  std::vector<std::string> remarks{
      fmt::format("needs {}{}; {} this way", switches_text(found.switches),
                  found.fewest ? "" : ", perhaps not the fewest",
                  times == 1 ? "one interleaving fails" : grouped(times) + " interleavings fail"),
      fmt::format("replay: duress replay {}{}", entry.failure.id, style.replay_options)};
  return to_text(entry, document.target[0], remarks, style);
}

/// The fix removes all findings, and goes by the id of any; races come first.
std::string advice_text(const Fix& advice, const Document& document, const FindingStyle& style) {
  std::string text = fmt::format("fix: {} — {}\n", printable(advice.text),
                                 checked_text(advice.interleavings, advice.schedules));
  std::string id = !document.races.empty() ? document.races[0].id : document.failures->at(0).failure.id;
  if (!advice.diff.empty())
    text += fmt::format("  as a diff: duress fix {}{}; with --apply it is made\n", id, style.replay_options);
  return text;
}

/// Which ends of waits were explored.
std::string ends_text(const Verification& verification) {
  std::string text;
  if (verification.spurious != 0)
    text += ", with at most " + plural(verification.spurious, "spurious wake-up");
  if (verification.timeouts != 0)
    text += (text.empty() ? ", with at most " : " and ") + plural(verification.timeouts, "early timeout");
  return text.empty() ? text : text + " in a row at a wait";
}

/// How racing accesses were explored. C++ leaves what they do undefined; under rc11 they are as weak as
/// atomics can be.
std::string racing_text(const Verification& verification) {
  if (verification.racing_steps == 0) return "";
  return fmt::format("accesses at {} are steps{}; {}", count_text(verification.racing_steps, "racing place"),
                     verification.rc11 ? ", as relaxed atomics" : "",
                     count_text(verification.rounds, "round"));
}

/// How many were explored, and which are taken to be one.
std::string executions_text(const Verification& verification) {
  if (verification.rc11) return count_text(verification.interleavings, "execution");
  return interleavings_text(verification.interleavings) +
         (verification.reads_from ? " up to what their reads read (reads-from equivalence)" : "");
}

/// Reads-from classes were asked for.
std::string by_traces_text(const Verification& verification) {
  if (verification.by_traces.empty()) return "";
  return "explored up to the order of conflicting steps (--equivalence trace): " + verification.by_traces;
}

/// The last line, which can be cited: what was proved, if it was; model, executions, time and assumptions.
std::string citable_text(const Verification& verification, bool proved) {
  bool memory = verification.memory != MemoryErrors::kNotLookedFor;
  std::string text;
  if (proved)
    text += fmt::format("no data race, crash, failed assertion, deadlock{} ",
                        memory ? ", livelock or memory error" : " or livelock");
  text += fmt::format("under {}: {}, {} blocked, {:.1f} s; ",
                      verification.rc11 ? "rc11" : "sequential consistency", executions_text(verification),
                      grouped(verification.blocked), verification.explore_seconds);
  if (!memory) text += "memory errors were not looked for: the heap is a sanitizer's; ";
  if (verification.memory == MemoryErrors::kPartly)
    text += "of freed memory the last 4 MiB were watched, older blocks were used again; ";
  std::string assumed = assumptions_text(verification);
  return text + (assumed.empty() ? "no assumptions" : "assumes that " + assumed);
}

}  // namespace

std::string verification_text(const Document& document, const FindingStyle& style) {
  std::string text;
  for (const RaceEntry& race : document.races) text += race_text(race, style);
  for (const FailureEntry& entry : *document.failures) text += failure_text(entry, document, style);
  if (const std::optional<Fix>& advice = document.verification->advice)
    text += advice_text(*advice, document, style);
  return text;
}

std::string estimate_text(const EstimatedTotal& estimate) {
  // Three digits of an estimate are more than enough.
  auto number = [](double value) {
    if (value >= 1e12) return fmt::format("{:.0e}", value);
    double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(value, 1.0))) - 2));
    return grouped(static_cast<std::uint64_t>(std::round(value / unit) * unit));
  };
  return fmt::format("about {} ({} to {})", number(estimate.total), number(estimate.low),
                     number(estimate.high));
}

std::string assumptions_text(const Verification& verification) {
  std::string text = verification.assumes_signals ? "waits end only by signals" : "";
  if (!verification.assumes_alike) return text;
  return "threads that start alike can be exchanged" + (text.empty() ? "" : " and " + text);
}

std::vector<std::string> verification_summary(const Document& document) {
  const Verification& verification = *document.verification;
  std::string what;
  std::uint64_t races = document.summary.races, failures = document.summary.failures;
  if (races != 0) what += races_text(document.summary);
  if (failures != 0) what += (what.empty() ? "" : ", ") + count_text(failures, "failure");
  if (what.empty()) what = "no race and no failure";
  if (races != 0 && failures == 0 && document.complete.value_or(false)) what += " and no failure";
  double rate = verification.explore_seconds > 0
                    ? static_cast<double>(verification.interleavings) / verification.explore_seconds
                    : 0;
  std::string all = verification.rc11 ? count_text(verification.interleavings, "execution") +
                                            " of rc11, load buffering excluded"
                                      : interleavings_text(verification.interleavings);
  all += ends_text(verification);
  std::string racing = racing_text(verification), by_traces = by_traces_text(verification);
  if (document.complete.value_or(false)) {
    std::string proof;
    if (races == 0 && failures == 0) {
      proof = ": proved for this program and its input";
      if (std::string assumed = assumptions_text(verification); !assumed.empty()) proof += ", if " + assumed;
      if (verification.assumes_signals && !verification.rc11) proof += " (see --spurious)";
    }
    std::vector<std::string> lines{
        fmt::format("complete: {} in all {} ({:.0f}/s){}", what, all, rate, proof)};
    for (const std::string& line : {racing, by_traces}) {
      if (!line.empty()) lines.push_back("  " + line);
    }
    lines.push_back("  " + citable_text(verification, !proof.empty()));
    return lines;
  }
  std::vector<std::string> lines{
      fmt::format("bounded: {} in {} ({:.0f}/s); not everything was explored:", what, all, rate)};
  for (const std::string& bound : verification.bounds) lines.push_back("  " + bound);
  if (verification.estimate)
    lines.push_back(fmt::format("  {} of {} explored", grouped(verification.interleavings),
                                estimate_text(*verification.estimate)));
  for (const std::string& line : {racing, by_traces}) {
    if (!line.empty()) lines.push_back("  " + line);
  }
  lines.push_back("  " + citable_text(verification, /*proved=*/false));
  return lines;
}

std::string order_text(const OrderEntry& entry, const FindingStyle& style) {
  std::string verdict =
      entry.sufficient == entry.order
          ? fmt::format("{} is needed", entry.order)
          : fmt::format("{} is enough, not {} (no race and no failure in all {} executions)",
                        entry.sufficient, entry.order, grouped(entry.executions));
  if (!entry.with_less.empty()) verdict += fmt::format("; with {}", entry.with_less);
  if (entry.bounded) verdict += "; weaker ones have too many executions to say";
  return fmt::format("{}:{}:{}: {}: {}\n", shown_path(entry.place.file, style.cwd), entry.place.line,
                     entry.place.column, entry.operation, verdict);
}

}  // namespace duress::report
