// SPDX-License-Identifier: Apache-2.0
#include "repair/advice.h"

#include <algorithm>
#include <filesystem>

#include "exec/child.h"
#include "repair/proposal.h"

namespace duress::repair {

static std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string listed(const std::set<std::string>& names) {
  return joined({names.begin(), names.end()});
}

std::string place_text(const finding::Frame& frame) {
  return std::filesystem::path(frame.file).filename().string() + ":" + std::to_string(frame.line);
}

std::string program_of(const verify::VerifySetup& setup) {
  std::filesystem::path path = exec::program_path(setup.worker.target[0]);
  if (path.is_relative() && !setup.worker.start_in.empty()) path = setup.worker.start_in / path;
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

FileEdit* edit_of(Advice& advice, const std::string& path) {
  for (FileEdit& edit : advice.edits) {
    if (edit.path == path) return &edit;
  }
  std::optional<FileEdit> edit = open_for_edit(path);
  if (!edit) return nullptr;
  advice.edits.push_back(std::move(*edit));
  return &advice.edits.back();
}

RaceView view_of(const verify::RacyExecution& racy, finding::Names& names) {
  RaceView view;
  const finding::RaceRecord& record = racy.log.races[0];
  finding::Race race = names.race(racy.log, record);
  view.variable = race.variable;
  const finding::AccessRecord* records[] = {&record.prev, &record.cur};
  for (std::size_t i = 0; i < 2; ++i) {
    Side& side = view.sides[i];
    side.key = racy.site_keys[i];
    side.place = race.sites[i].site();
    side.writes = race.sites[i].access == finding::Access::kWrite;
    if (auto thread = racy.log.threads.find(records[i]->thread); thread != racy.log.threads.end()) {
      side.thread = thread->first;
      if (thread->first == 0 || thread->second.path != 0) side.path = thread->second.path;
      std::vector<finding::Frame> stack = names.stack(racy.log, thread->second.stack);
      if (!stack.empty()) side.created_at = stack[finding::blamed_frame(stack)];
    }
    for (std::size_t k = 0; k < records[i]->locks.size() && k < race.sites[i].locks.size(); ++k) {
      const finding::LockRecord& lock = records[i]->locks[k];
      if (lock.kind == "mutex" && !lock.shared) side.locks[lock.address] = race.sites[i].locks[k];
    }
  }
  return view;
}

namespace {

constexpr int kMostRounds = 8;
constexpr u32 kOrders[] = {0, 4, 5};  // relaxed, acq_rel, seq_cst, as the compiler numbers them

std::vector<RaceView> all_views(const verify::VerifyResult& result, finding::Names& names) {
  std::vector<RaceView> all;
  for (const verify::RacyExecution& racy : result.racy) all.push_back(view_of(racy, names));
  return all;
}

/// The sites that the proposal must cover for these races. False: it cannot do anything about one of them.
bool cover(Proposal& proposal, const std::vector<RaceView>& all, bool& more) {
  if (proposal.kind == Proposal::Kind::kJoin) return cover_join(proposal, all, more);
  more = false;
  for (const RaceView& race : all) {
    if (proposal.variables.count(race.variable) == 0) continue;
    for (const Side& side : race.sides) {
      if (proposal.kind == Proposal::Kind::kPublish) continue;
      if (proposal.kind == Proposal::Kind::kLock && side.locks.count(proposal.lock) != 0) continue;
      if (side.key == 0) return false;
      more = proposal.sites.emplace(side.key, side.place).second || more;
    }
  }
  return true;
}

verify::VerifySetup with_edits(const verify::VerifySetup& setup, const verify::VerifyResult& base,
                               const Proposal& proposal) {
  verify::VerifySetup tried = setup;
  tried.keeps = tried.minimise = false;
  tried.races_suffice = true;  // one race is enough to reject it
  tried.reads_from = false;    // edits change what plain accesses read
  tried.worker.folder += "/fix";
  // A higher limit than for the program itself: atomics are schedule points, plain accesses are not.
  tried.most_executions = base.interleavings * 20 + 2000;
  if (setup.most_executions < tried.most_executions / 4) tried.most_executions = setup.most_executions * 4;
  if (proposal.kind == Proposal::Kind::kJoin) {
    add_joins(proposal, tried.edits);
    return tried;
  }
  for (const auto& [key, place] : proposal.sites) {
    switch (proposal.kind) {
      case Proposal::Kind::kAtomic:
        tried.edits.push_back(trail::WhatIfEdit::atomic(key, static_cast<MemoryOrder>(proposal.order)));
        break;
      case Proposal::Kind::kLock:
        tried.edits.push_back(trail::WhatIfEdit::locked(key, proposal.lock));
        break;
      case Proposal::Kind::kPublish:
        tried.edits.push_back(trail::WhatIfEdit::published_after(key, proposal.lock));
        break;
      case Proposal::Kind::kJoin:
        break;
    }
  }
  return tried;
}

/// Explores the program with the proposal; it may have to cover more places than the original races showed.
/// Nothing: it does not help.
std::optional<verify::VerifyResult> try_out(const verify::VerifySetup& setup,
                                            const verify::VerifyResult& base, Proposal& proposal,
                                            finding::Names& names, const std::atomic<bool>& stop) {
  if (proposal.kind == Proposal::Kind::kJoin && !proposal.made_by_joiner) {
    // One execution shows whether it joins them at all.
    verify::VerifySetup once = with_edits(setup, base, proposal);
    once.most_executions = 1;
    verify::VerifyResult result = verify::Verifier(std::move(once), names, nullptr).run(stop);
    for (const auto& [path, joined] : proposal.joined) {
      if (std::none_of(result.joins.begin(), result.joins.end(),
                       [&](const verify::JoinPlace& place) { return place.joined == path; }))
        return std::nullopt;
    }
  }
  for (int round = 0; round < kMostRounds && !stop; ++round) {
    verify::VerifyResult result =
        verify::Verifier(with_edits(setup, base, proposal), names, nullptr).run(stop);
    if (result.problem.kind != exec::WorkerProblem::Kind::kNone) return std::nullopt;
    if (result.racy.empty()) {
      proposal.join_places = result.joins;
      return result.found.empty() && result.complete ? std::optional(std::move(result)) : std::nullopt;
    }
    if (proposal.kind == Proposal::Kind::kPublish) {
      // The first exploration only finds out which store comes too early.
      if (proposal.lock != 0 || result.publishing_store == 0) return std::nullopt;
      proposal.lock = result.publishing_store;
      std::vector<finding::Frame> stack = names.stack(result.racy[0].log, {proposal.lock - 1});
      if (!stack.empty()) proposal.store = stack[0];
      continue;
    }
    bool more = false;
    if (!cover(proposal, all_views(result, names), more) || !more) return std::nullopt;
  }
  return std::nullopt;
}

/// In the order in which they are tried: the smallest change first. Joins that make threads sequential are a
/// last resort.
std::vector<Proposal> proposals(const std::vector<RaceView>& all) {
  std::vector<Proposal> list;
  std::set<std::string> variables;
  for (const RaceView& race : all) {
    variables.insert(race.variable);
    for (const Side& side : race.sides) {
      if (!side.writes || side.key == 0) continue;
      Proposal publish;
      publish.kind = Proposal::Kind::kPublish;
      publish.variables = {race.variable};
      publish.sites.emplace(side.key, side.place);
      list.push_back(publish);
    }
  }
  std::set<std::pair<std::string, finding::Address>> seen;
  for (const RaceView& race : all) {
    for (const Side& side : race.sides) {
      for (const auto& [address, name] : side.locks) {
        if (!seen.emplace(race.variable, address).second) continue;
        Proposal lock;
        lock.kind = Proposal::Kind::kLock;
        lock.variables = {race.variable};
        lock.lock = address;
        lock.lock_name = name;
        list.push_back(lock);
      }
    }
  }
  std::vector<Proposal> joins = join_proposals(all, /*reads=*/true);
  list.insert(list.end(), joins.begin(), joins.end());
  auto atomic = [&](const std::set<std::string>& which) {
    for (u32 order : kOrders) {
      Proposal one;
      one.variables = which;
      one.order = order;
      list.push_back(one);
    }
  };
  for (const std::string& variable : variables) atomic({variable});
  if (variables.size() > 1) atomic(variables);
  return list;
}

std::string text_of(const Proposal& proposal) {
  switch (proposal.kind) {
    case Proposal::Kind::kPublish: {
      const finding::Frame& place = proposal.sites.begin()->second;
      return "publish after " + listed(proposal.variables) + " is set: move " + place_text(proposal.store) +
             " below " + place_text(place);
    }
    case Proposal::Kind::kLock: {
      std::set<std::string> places;
      for (const auto& [key, place] : proposal.sites) places.insert(place_text(place));
      return "hold " + proposal.lock_name + " at " + listed(places);
    }
    case Proposal::Kind::kJoin:
      return join_text(proposal);
    case Proposal::Kind::kAtomic:
      break;
  }
  std::vector<std::string> what;
  std::set<std::string> elements;
  for (const std::string& name : proposal.variables) {
    if (name.starts_with("heap block") || name.find("[]") != std::string::npos)
      elements.insert(name);
    else
      what.push_back(name);
  }
  if (!elements.empty()) what.push_back("the elements of " + listed(elements));
  return "make " + joined(what) + " atomic" +
         (proposal.order == 0   ? " (relaxed is enough to be free of races)"
          : proposal.order == 4 ? " (acquire and release are enough)"
                                : " (seq_cst)");
}

/// What `duress fix` needs to verify the fixed program once more.
void note_target(const verify::VerifySetup& setup, Advice& advice) {
  advice.target = setup.worker.target;
  advice.target[0] = program_of(setup);
  std::vector<std::string>& words = advice.options;
  auto add = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
  if (setup.model == ModelId::kRc11) add("--model", "rc11");
  if (setup.preemptions >= 0) add("--preemptions", std::to_string(setup.preemptions));
  if (setup.spurious != 0) words.push_back("--spurious=" + std::to_string(setup.spurious));
  if (setup.timeouts != 0) words.push_back("--timeouts=" + std::to_string(setup.timeouts));
  if (setup.oracle.expect_exit != 0) add("--expect-exit", std::to_string(setup.oracle.expect_exit));
  if (!setup.oracle.check.empty()) add("--check", setup.oracle.check);
  if (!setup.oracle.expected_output.empty()) add("--expect-output", setup.oracle.expected_output);
}

/// The change that clang makes of it.
SourceChange change_of(const Proposal& proposal, const std::vector<RaceView>& all) {
  SourceChange change;
  if (proposal.kind == Proposal::Kind::kJoin) return join_change(proposal, all[0].variable);
  std::set<SourceChange::Place> places;
  if (proposal.kind == Proposal::Kind::kAtomic) {
    change.kind = "atomic";
    for (const RaceView& race : all) {
      if (proposal.variables.count(race.variable) == 0) continue;
      for (const Side& side : race.sides) places.insert({side.place, race.variable});
    }
  } else {
    change.kind = proposal.kind == Proposal::Kind::kLock ? "lock" : "publish";
    change.mutex = proposal.lock_name;
    for (const auto& [key, place] : proposal.sites) places.insert({place, *proposal.variables.begin()});
    if (proposal.kind == Proposal::Kind::kPublish) change.threads.push_back({proposal.store, ""});
  }
  change.places.assign(places.begin(), places.end());
  return change;
}

void make_edits(const verify::VerifySetup& setup, Advice& advice, const Proposal& proposal,
                const std::vector<RaceView>& all) {
  // Joins that only move are statements as they stand.
  if (proposal.kind == Proposal::Kind::kJoin && make_join_edits(advice, proposal)) return;
  advice.edits = rewrite(program_of(setup), change_of(proposal, all), advice.problem);
}

/// The first that passes. A join that cannot be written as a diff gives way to what comes after it and can.
std::optional<Advice> advise_among(std::vector<Proposal> list, const verify::VerifySetup& setup,
                                   const verify::VerifyResult& result, const std::vector<RaceView>& all,
                                   finding::Names& names, const std::atomic<bool>& stop) {
  std::optional<Advice> without_diff;
  for (Proposal& proposal : list) {
    bool more = false;
    if (!cover(proposal, all, more) || proposal.sites.empty()) continue;
    std::optional<verify::VerifyResult> tried = try_out(setup, result, proposal, names, stop);
    if (!tried) continue;
    if (std::optional<Proposal> first;
        proposal.kind == Proposal::Kind::kJoin && (first = first_join(proposal))) {
      std::optional<verify::VerifyResult> enough = try_out(setup, result, *first, names, stop);
      if (enough && first->sites.size() == 1) {
        proposal = std::move(*first);
        tried = std::move(enough);
      }
    }
    Advice advice;
    advice.kind = proposal.kind == Proposal::Kind::kLock      ? "lock"
                  : proposal.kind == Proposal::Kind::kPublish ? "publish-after-init"
                  : proposal.kind == Proposal::Kind::kJoin    ? "join"
                                                              : "atomic";
    advice.text = text_of(proposal);
    advice.interleavings = tried->interleavings;
    make_edits(setup, advice, proposal, all);
    std::erase_if(advice.edits, [](const FileEdit& edit) { return edit.before == edit.after; });
    if (!advice.edits.empty()) return advice;
    if (proposal.kind != Proposal::Kind::kJoin) return without_diff ? std::move(without_diff) : advice;
    if (!without_diff) without_diff = std::move(advice);
  }
  return without_diff;
}

}  // namespace

std::optional<Advice> advise(const verify::VerifySetup& setup, const verify::VerifyResult& result,
                             bool may_build, finding::Names& names, const std::atomic<bool>& stop) {
  std::vector<RaceView> all = all_views(result, names);
  if (!result.complete) {
    // An exploration of the changed program would end no sooner than that of the program itself.
    std::optional<Advice> advice;
    if (may_build && !all.empty() && !setup.worker.remote && setup.model == ModelId::kSc)
      advice = advise_in_source(setup, result, all, names, stop);
    if (advice) note_target(setup, *advice);
    return advice;
  }
  std::optional<Advice> advice = advise_orders(setup, result, names, stop);
  if (!advice) advice = advise_among(proposals(all), setup, result, all, names, stop);
  if (!advice && may_build && !all.empty() && !setup.worker.remote)
    advice = advise_in_source(setup, result, all, names, stop);
  if (!advice) advice = advise_among(join_proposals(all, /*reads=*/false), setup, result, all, names, stop);
  if (advice) note_target(setup, *advice);
  return advice;
}

}  // namespace duress::repair
