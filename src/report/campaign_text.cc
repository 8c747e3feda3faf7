// SPDX-License-Identifier: Apache-2.0
#include "report/campaign_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/stored_document.h"
#include "report/words.h"

namespace duress::report {
namespace {

/// How the program behaved from run to run.
void add_process_notes(const Document& document, std::vector<std::string>& lines) {
  const CampaignSummary& campaign = *document.campaign;
  const std::string& program = document.target[0];
  if (campaign.leftovers != 0)
    lines.push_back(fmt::format(
        "{} left {} running when it ended; what goes on in the background is not controlled, and was ended",
        program, campaign.leftovers == 1 ? "a process" : fmt::format("{} processes", campaign.leftovers)));
  if (campaign.restarts != 0)
    lines.push_back(fmt::format("{} had to be started again {}", program, plural(campaign.restarts, "time")));
}

std::vector<std::string> first_notes(const Document& document, const char* one_thread) {
  std::vector<std::string> lines;
  for (const std::string& what : document.incomplete) lines.push_back("incomplete: " + what);
  if (document.campaign->one_thread)
    lines.push_back(fmt::format("{} starts no thread: {}", document.target[0], one_thread));
  return lines;
}

std::string cut_text(const CampaignSummary& campaign) {
  return std::string(campaign.interrupted ? "; interrupted, the same command goes on" : "") +
         (campaign.out_of_time ? "; out of time, the same command goes on" : "");
}

/// After a search that found nothing: what it says nothing about, and the command that does.
std::string hidden_text(const Document& document) {
  const CampaignSummary& search = *document.campaign;
  std::string program = fmt::format("-- {}", fmt::join(document.target, " "));
  std::string untried;
  if (search.untried != 0)
    untried = fmt::format("{} that switch threads {} or more were planned and not tried; ",
                          plural(search.untried, "schedule"), plural(search.untried_switches, "time"));
  std::uint64_t apart = search.pairs - std::min(search.pairs, search.pairs_created);
  if (apart != 0)
    return untried +
           fmt::format("{} of {} never met in a run, and may fail when they do; next: duress classify {}",
                       apart, plural(search.pairs, "racing access pair"), program);
  return untried +
         fmt::format(
             "other schedules may fail; next: duress verify {} (every schedule, if it is small), or "
             "duress explore --model rc11 {} (weak memory)",
             program, program);
}

}  // namespace

std::string rate_text(std::uint64_t runs, double seconds) {
  return seconds > 0 ? fmt::format("{:.0f} runs/s", static_cast<double>(runs) / seconds) : "";
}

std::vector<std::string> search_notes(const Document& document) {
  const CampaignSummary& search = *document.campaign;
  std::vector<std::string> lines = first_notes(document, "there is only one schedule, and it passes");
  add_process_notes(document, lines);
  if (search.most_output > (std::uint64_t{16} << 20))
    lines.push_back(
        fmt::format("a run printed {} MiB, which takes most of its time; nothing of it is lost to --check",
                    search.most_output >> 20));
  if (!search.warning.empty()) lines.push_back(search.warning);
  bool nothing = document.failures->empty() && document.found_before.empty();
  if (nothing && !search.one_thread && !search.interrupted && !search.out_of_time)
    lines.push_back(hidden_text(document));
  return lines;
}

std::string search_summary(const Document& document) {
  const CampaignSummary& search = *document.campaign;
  std::uint64_t failures = document.failures->size() + document.found_before.size();
  std::string text =
      fmt::format("{} in {} ({}), seed {}", failures == 0 ? "no failure" : plural(failures, "failure"),
                  plural(static_cast<std::uint64_t>(document.runs), "run"),
                  rate_text(search.fresh_runs, search.run_seconds), document.seed);
  if (search.pairs != 0)
    text += fmt::format("; {} seen, {} brought together; list them with duress run",
                        plural(search.pairs, "racing access pair"), search.pairs_created);
  if (search.deadlocks != 0)
    text += fmt::format("; {} suspected, {} created, {} unconfirmed", plural(search.deadlocks, "deadlock"),
                        search.deadlocks_created, search.deadlocks - search.deadlocks_created);
  return text + cut_text(search);
}

std::vector<std::string> verdict_notes(const Document& document) {
  const std::string& program = document.target[0];
  std::vector<std::string> lines = first_notes(document, "nothing can race");
  std::uint64_t failed = 0, runs = 0;
  bool settled = true, charged = false;
  for (const RaceEntry& race : document.races) {
    if (!race.judgement || !race.judgement->attacked) continue;
    const Judgement& known = *race.judgement;
    settled = settled && known.output_settled;
    if (known.sc_failed != 0) failed = known.sc_failed, runs = known.sc_runs;
    charged = charged || known.charge != finding::ChargeReason::kNone;
  }
  if (!settled)
    lines.push_back(fmt::format(
        "the output of {} differs from schedule to schedule, so it is not used as evidence; --check CMD "
        "says what is right",
        program));
  if (failed != 0 && !charged)
    lines.push_back(
        fmt::format("{} fails in {} of {} ordinary schedules, which no race is charged with; duress explore "
                    "-- {} shows how",
                    program, failed, runs, shell_line(document.target)));
  add_process_notes(document, lines);
  return lines;
}

std::string verdict_summary(const Document& document, bool verbose) {
  const CampaignSummary& campaign = *document.campaign;
  std::string text =
      fmt::format("{}, {}", races_text(document.summary), verdict_counts_text(document.summary));
  if (document.suppressed != 0) text += fmt::format(", {} suppressed", document.suppressed);
  text += fmt::format(", in {}, seed {}", count_text(document.summary.runs, "run"), document.seed);
  if (verbose && campaign.run_seconds > 0)
    text += fmt::format(" ({})", rate_text(campaign.fresh_runs, campaign.run_seconds));
  return text + cut_text(campaign);
}

}  // namespace duress::report
