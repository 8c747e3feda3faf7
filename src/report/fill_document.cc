// SPDX-License-Identifier: Apache-2.0
//
// From log to report. A detector reports each location once, so a racy loop over an array gives a record
// per element and a program that forks gives each record per child; people want one entry per pair of
// places in the source. Suppression comes after grouping and before ids are given, so that hiding one race
// does not rename another where short ids clash.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "report/document.h"
#include "report/race_text.h"
#include "report/resolver.h"

namespace duress::report {

namespace {

/// Races, with one entry for each pair of places.
struct RaceGroups {
  std::vector<finding::Race> races;
  std::unordered_map<std::string, std::size_t> by_key;

  void add(finding::Race race, const std::string& analysis) {
    auto [it, fresh] = by_key.try_emplace(finding::group_key(race), races.size());
    if (fresh) {
      races.push_back(std::move(race));
      return;
    }
    finding::Race& group = races[it->second];
    ++group.count;
    if (group.collision && race.collision)
      group.collision->category = std::min(group.collision->category, race.collision->category);
    if (std::find(group.found_by.begin(), group.found_by.end(), analysis) == group.found_by.end())
      group.found_by.push_back(analysis);
  }
};

/// Suspected races, without those that were seen to be real.
std::vector<finding::Race> suspected(const finding::RunLog& log, Resolver& resolver, const RaceGroups& real) {
  RaceGroups groups;
  for (const finding::ProcessLog& process : log.processes) {
    for (const finding::RaceRecord& record : process.potentials) {
      finding::Race race = resolver.race(process, record);
      if (real.by_key.count(finding::group_key(race)) == 0) groups.add(std::move(race), record.analysis);
    }
  }
  finding::assign_ids(groups.races);
  return std::move(groups.races);
}

std::vector<finding::Suspicion> suspicions_of(const finding::RunLog& log, Resolver& resolver) {
  std::vector<finding::Suspicion> all;
  std::set<std::string> known;
  for (const finding::ProcessLog& process : log.processes) {
    for (const finding::WarningRecord& record : process.warnings) {
      finding::Suspicion suspicion = resolver.suspicion(process, record);
      std::string key = suspicion.analysis + suspicion.what + suspicion.variable;
      for (const finding::AccessReport& access : suspicion.sites) {
        finding::Frame site = access.site();
        key += fmt::format("|{}:{}:{}:{}", site.file, site.line, site.column, site.function);
      }
      if (known.insert(key).second) all.push_back(std::move(suspicion));
    }
  }
  return all;
}

/// What is neither suppressed nor hidden.
std::vector<RaceEntry> shown_races(std::vector<finding::Race> races, Suppressions& suppressions,
                                   Document& document) {
  std::vector<RaceEntry> shown;
  for (finding::Race& race : races) {
    if (suppressions.hides(race, document.cwd)) {
      ++document.suppressed;
      continue;
    }
    if (race.collision && document.collide) {
      ++document.collide->found[static_cast<std::size_t>(race.collision->category)];
      if (document.collide->hidden.count(race.collision->category) != 0) continue;
    }
    static_cast<finding::Race&>(shown.emplace_back()) = std::move(race);
  }
  return shown;
}

bool by_place(const finding::Race& a, const finding::Race& b) {
  auto place = [](const finding::Race& race) {
    finding::Frame site = race.sites[race.headline()].site();
    return std::make_tuple(site.file, site.line, site.column, race.id);
  };
  return place(a) < place(b);
}

/// By place; the pairs of one variable come together, at its first place.
void sort_races(std::vector<RaceEntry>& races) {
  std::sort(races.begin(), races.end(), by_place);
  std::unordered_map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < races.size(); ++i) first.try_emplace(races[i].variable, i);
  std::stable_sort(races.begin(), races.end(), [&](const RaceEntry& a, const RaceEntry& b) {
    return first[a.variable] < first[b.variable];
  });
}

}  // namespace

void fill_document(const finding::RunLog& log, Suppressions& suppressions, Document& document) {
  Resolver resolver;
  RaceGroups groups;
  std::set<std::string> incomplete;
  for (const finding::ProcessLog& process : log.processes) {
    for (const finding::RaceRecord& record : process.races)
      groups.add(resolver.race(process, record), record.analysis);
    for (const finding::CrashRecord& record : process.crashes) {
      if (record.signal != "exit") document.crashes.push_back(resolver.crash(process, record));
    }
    for (const std::string& what : process.incomplete) {
      if (incomplete.insert(what).second) document.incomplete.push_back(what);
    }
    for (const auto& [name, value] : process.stats) document.stats[name] += value;
  }

  document.potential = suspected(log, resolver, groups);
  document.suspicions = suspicions_of(log, resolver);
  finding::assign_ids(groups.races);
  document.races = shown_races(std::move(groups.races), suppressions, document);
  sort_races(document.races);
  std::erase_if(document.potential,
                [&](const finding::Race& race) { return suppressions.hides(race, document.cwd); });
  std::sort(document.potential.begin(), document.potential.end(), by_place);

  for (const finding::LogProblem& problem : log.problems) {
    document.warnings.push_back(fmt::format("{}:{}: unreadable log line ({}); the rest is kept", problem.file,
                                            problem.line, problem.what));
  }
  const auto& more = resolver.warnings();
  document.warnings.insert(document.warnings.end(), more.begin(), more.end());
  for (const Suppression* entry : suppressions.unused()) document.unused_suppressions.push_back(*entry);
  finish_document(document);
}

void finish_document(Document& document) {
  std::vector<JudgedPair> pairs;
  std::set<std::string> seen;
  for (RaceEntry& race : document.races) {
    race.another_pair = !seen.insert(race.id + race.variable).second;
    describe(race, document);
    pairs.push_back({race.variable, race.judgement ? race.judgement->kind : finding::VerdictKind::kOpen});
  }
  document.summary = count_races(pairs);
  document.summary.judged = document.command == "classify";
  document.summary.failures = document.failures ? document.failures->size() : 0;
  document.summary.runs = document.verification ? document.verification->interleavings
                                                : static_cast<std::uint64_t>(document.runs);
}

}  // namespace duress::report
