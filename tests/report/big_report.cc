// SPDX-License-Identifier: Apache-2.0
//
// Writes a page of 500 races with 10,000 events each, which no program makes in a test's time.
#include <cstdio>
#include <fstream>

#include "base/prng.h"
#include "report/html_writer.h"

namespace {

using duress::finding::LaneEvent;
using duress::finding::Lanes;
using duress::report::Json;

constexpr int kRaces = 500, kEvents = 10000, kThreads = 8, kPlaces = 40, kVariables = 12;

Lanes lanes_of(duress::Prng& random) {
  Lanes lanes;
  for (int t = 0; t < kThreads; ++t) lanes.threads.push_back({t, t == 0 ? "main" : "worker"});
  for (const char* word : {"read", "write", "lock", "unlock"}) lanes.words.emplace_back(word);
  for (int v = 0; v < kVariables; ++v) lanes.words.push_back("Table::field_" + std::to_string(v));
  lanes.words.emplace_back("Table::mutex_");
  const auto mutex = static_cast<std::uint32_t>(lanes.words.size() - 1);
  const auto values = static_cast<std::uint32_t>(lanes.words.size());
  for (int v = 0; v < 1000; ++v) lanes.words.push_back(std::to_string(v));
  for (int p = 0; p < kPlaces; ++p)
    lanes.places.push_back({"src/table.cc", 20u + static_cast<unsigned>(p) * 7});
  std::vector<std::int32_t> stored(kVariables, -1);
  std::vector<std::uint32_t> value(kVariables, 0);
  std::int32_t unlocked = -1;
  std::uint32_t thread = 0;
  for (int i = 0; i < kEvents; ++i) {
    LaneEvent event;
    if (random.below(4) == 0) thread = static_cast<std::uint32_t>(random.below(kThreads));
    event.thread = thread;
    event.place = 1 + static_cast<std::uint32_t>(random.below(kPlaces));
    auto kind = event.place * 7 % 10;  // what a place does, and to what, is always the same
    if (kind == 0) {
      event.operation = 3, event.object = mutex;
      if (unlocked >= 0 && lanes.events[static_cast<std::size_t>(unlocked)].thread != thread)
        event.after = unlocked;
    } else if (kind == 1) {
      event.operation = 4, event.object = mutex;
      unlocked = i;
    } else {
      auto variable = event.place * 5 % kVariables;
      event.object = 5 + variable;
      event.operation = kind < 4 ? 2 : 1;
      if (kind < 4) {
        value[variable] = (value[variable] + 1) % 1000;
        stored[variable] = i;
      } else {
        event.from = stored[variable];
        if (random.below(200) == 0 && stored[variable] >= 0) {
          event.how = duress::finding::LaneValue::kStale;
          event.newest = values + value[variable];
        }
      }
      event.value = values + value[variable];
    }
    lanes.events.push_back(event);
  }
  return lanes;
}

Json race_of(int number) {
  Json stack = Json::array();
  for (int f = 0; f < 8; ++f)
    stack.push_back(
        {{"function", "Table::step_" + std::to_string(f)}, {"file", "src/table.cc"}, {"line", 20 + f}});
  Json site = {{"file", "src/table.cc"},      {"line", 20 + number}, {"column", 3},
               {"function", "Table::step_0"}, {"access", "write"},   {"thread", 1},
               {"locks", {"mutex_"}},         {"stack", stack}};
  Json other = site;
  other["access"] = "read";
  other["thread"] = 2;
  char id[16];
  std::snprintf(id, sizeof id, "R-%04x", number);
  const char* verdicts[] = {"destructive", "no-harm-found", "same-value", "slower"};
  Json rates = Json::array();
  for (int r = 0; r < 12; ++r)
    rates.push_back(
        {{"model", r < 6 ? "stale" : "future"}, {"heuristic", "Oldest"}, {"failed", r}, {"runs", 50}});
  return {{"id", id},
          {"variable", "Table::field_" + std::to_string(number)},
          {"kind", "write-read"},
          {"sites", {site, other}},
          {"found_by", {"FastTrack"}},
          {"confirmed", true},
          {"verdict", verdicts[number % 4]},
          {"evidence",
           {{"failure", "exit:1"},
            {"text", "exit code 1"},
            {"rates", rates},
            {"counterfactual", {{"failed", 0}, {"runs", 50}}},
            {"replay", "D1.table.AA"}}}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  duress::report::StoredDocument document;
  document.json = {{"schema", "duress/1"},  {"command", "classify"}, {"seed", 1},
                   {"target", {"./table"}}, {"runs", 25000},         {"failures", Json::array()}};
  document.json["races"] = Json::array();
  document.folder = "/nowhere";
  duress::Prng random(1);
  for (int r = 0; r < kRaces; ++r) {
    document.json["races"].push_back(race_of(r));
    document.lanes_of[document.json["races"].back()["id"]] = document.lanes.size();
    document.lanes.push_back(lanes_of(random));
  }
  std::ofstream file(argv[1], std::ios::binary);
  file << duress::report::to_html(document);
  return file.good() ? 0 : 1;
}
