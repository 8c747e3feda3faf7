// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_confirm.h"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <tuple>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "duress/hooks.h"
#include "exec/session.h"
#include "search/search.h"
#include "trail/site_key.h"

namespace duress::cli {
namespace {

bool has_key(const report::Site& site) {
  bool atomic = site.access >= kDuressAtomicRead && site.access <= kDuressFence;
  return site.access != kDuressFrame && (atomic || site.faithful);
}

/// A site of a module, and how people call it.
struct KeyedSite {
  u32 key = 0;
  std::string place;
};

class Modules {
 public:
  explicit Modules(const finding::ProcessLog& process) : process_(process) {}

  KeyedSite find(const std::optional<finding::SiteRecord>& site) {
    if (!site) return {};
    for (const finding::ModuleRecord& module : process_.modules) {
      if (module.id != site->module) continue;
      auto [it, fresh] = loaded_.try_emplace(module.id);
      if (fresh) {
        it->second.table = report::SiteTable::load(module.path);
        it->second.keys = keys_of_sites(it->second.table);
      }
      const report::Site* known = it->second.table.find(site->index);
      if (!known) return {};
      return {it->second.keys[site->index],
              fmt::format("{}:{}", std::filesystem::path(known->file).filename().string(), known->line)};
    }
    return {};
  }

 private:
  struct Loaded {
    report::SiteTable table;
    std::vector<u32> keys;
  };
  const finding::ProcessLog& process_;
  std::map<int, Loaded> loaded_;
};

}  // namespace

std::vector<u32> keys_of_sites(const report::SiteTable& table) {
  std::vector<u32> keys(table.entries());
  std::map<std::tuple<std::string, std::string, int>, u32> ordinals;
  std::map<std::tuple<std::string, std::string, u32, u32, int>, u32> at_place;
  auto place = [](const report::Site& s) {
    return std::tuple(s.file, s.function, s.line, u32{s.column}, int{s.access});
  };
  for (u32 i = 0; i < table.entries(); ++i) {
    const report::Site* site = table.find(i);
    if (!site || !has_key(*site)) continue;
    u32 ordinal = ordinals[{site->function, site->variable, site->access}]++;
    keys[i] = trail::site_key(site->function.c_str(), site->variable.c_str(), site->access, ordinal);
    at_place.emplace(place(*site), keys[i]);
  }
  for (u32 i = 0; i < table.entries(); ++i) {
    const report::Site* site = table.find(i);
    if (!site || keys[i] != 0) continue;
    auto it = at_place.find(place(*site));
    if (it != at_place.end()) keys[i] = it->second;
  }
  return keys;
}

int confirm(const ConfirmOptions& options, const finding::RunLog& log) {
  std::map<std::pair<u32, u32>, std::string> pairs;
  for (const finding::ProcessLog& process : log.processes) {
    Modules modules(process);
    for (const finding::RaceRecord& race : process.races) {
      KeyedSite first = modules.find(race.prev.site), second = modules.find(race.cur.site);
      if (first.key != 0 && second.key != 0)
        pairs.emplace(std::minmax(first.key, second.key),
                      fmt::format("{} and {}", first.place, second.place));
    }
  }
  if (pairs.empty()) {
    say("nothing to confirm: no predicted race has two places in instrumented code");
    return kExitOk;
  }
  search::SearchSetup setup;
  setup.dir = std::filesystem::absolute(options.dir).lexically_normal().string();
  exec::WorkFolder work(setup.dir);
  if (!work.error().empty()) {
    say(work.error());
    return kExitToolFailed;
  }
  setup.worker.folder = work.path();
  setup.worker.target = options.target;
  setup.worker.input = exec::keep_input(work.path() + "/stdin");
  setup.worker.run_seconds = 10;
  setup.search.strategy = "racefuzzer";
  setup.search.seed = static_cast<u64>(options.seed);
  setup.runs = options.runs;
  setup.keep_going = true;  // the other pairs are tried after a failure too
  setup.minimise = false;
  for (const auto& [pair, text] : pairs) setup.pairs.push_back({pair.first, pair.second});
  std::unique_ptr<finding::Names> names = make_names();
  search::SearchListener silent;
  std::atomic<bool> stop{false};
  search::SearchResult result = search::Search(setup, *names, silent).run(stop);
  if (result.problem.kind != exec::WorkerProblem::Kind::kNone) {
    say(worker_problem_text(options.target[0], result.problem));
    return kExitToolFailed;
  }
  u64 created = 0;
  for (const auto& [pair, text] : pairs) {
    bool together = result.created.count(pair) != 0;
    created += together ? 1 : 0;
    if (!options.quiet) say(fmt::format("{}: {}", together ? "created" : "unconfirmed", text));
  }
  say(fmt::format("{} of {} predicted pairs created by racefuzzer in {} runs, seed {}", created, pairs.size(),
                  result.runs, options.seed));
  return kExitOk;
}

}  // namespace duress::cli
