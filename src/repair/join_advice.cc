// SPDX-License-Identifier: Apache-2.0
//
// "Join before": a thread that reads what another one writes, and joins it only later or never.
#include <algorithm>
#include <regex>

#include "repair/proposal.h"
#include "trail/strand_path.h"

namespace duress::repair {
namespace {

constexpr u64 kMain = 0;

/// Whether a loop begins there: it may wait for what is read.
bool in_loop(const finding::Frame& place) {
  static const std::regex loop(R"(\b(while|for|do)\b)");
  std::optional<FileEdit> file = open_for_edit(place.file);
  return file && place.line >= 1 && place.line <= file->before.size() &&
         std::regex_search(file->before[place.line - 1], loop);
}

/// Whether `one` is a thread of which `other` is made, directly or not.
bool is_ancestor(u64 one, u64 other) {
  for (; other != kMain; other = trail::creator_of(other)) {
    if (trail::creator_of(other) == one) return true;
  }
  return false;
}

const Side* side_of(const RaceView& race, u64 path) {
  for (const Side& side : race.sides) {
    if (side.path == path) return &side;
  }
  return nullptr;
}

/// Whom the side's thread would join.
const Side& other_of(const RaceView& race, const Side& side) {
  return &side == &race.sides[0] ? race.sides[1] : race.sides[0];
}

}  // namespace

std::vector<Proposal> join_proposals(const std::vector<RaceView>& all, bool reads) {
  std::vector<Proposal> list;
  std::set<u64> joiners;
  for (const RaceView& race : all) {
    for (const Side& side : race.sides) {
      const Side& other = other_of(race, side);
      if (!side.path || !other.path || side.key == 0 || *other.path == kMain || side.path == other.path ||
          is_ancestor(*other.path, *side.path))
        continue;
      if (!joiners.insert(*side.path).second) continue;
      Proposal join;
      join.kind = Proposal::Kind::kJoin;
      join.joiner = *side.path;
      bool more = false;
      if (!cover_join(join, all, more)) continue;
      bool wants_result = std::all_of(all.begin(), all.end(), [&](const RaceView& one) {
        const Side* mine = side_of(one, join.joiner);
        return mine != nullptr && !mine->writes && !in_loop(mine->place);
      });
      if (wants_result != reads) continue;
      for (const auto& [path, joined] : join.joined)
        join.made_by_joiner = join.made_by_joiner && trail::creator_of(path) == join.joiner;
      list.push_back(std::move(join));
    }
  }
  return list;
}

bool cover_join(Proposal& proposal, const std::vector<RaceView>& all, bool& more) {
  more = false;
  for (const RaceView& race : all) {
    const Side* side = side_of(race, proposal.joiner);
    if (side == nullptr || side->key == 0) return false;  // not about the thread that joins
    const Side& other = other_of(race, *side);
    if (!other.path || *other.path == kMain || is_ancestor(*other.path, proposal.joiner)) return false;
    more = proposal.sites.emplace(side->key, side->place).second || more;
    more = proposal.joined.emplace(*other.path, other).second || more;
  }
  return true;
}

void add_joins(const Proposal& proposal, std::vector<trail::WhatIfEdit>& edits) {
  for (const auto& [key, place] : proposal.sites) {
    for (const auto& [path, joined] : proposal.joined)
      edits.push_back(trail::WhatIfEdit::joins(key, path, proposal.joiner));
  }
}

std::optional<Proposal> first_join(const Proposal& proposal) {
  if (proposal.sites.size() < 2) return std::nullopt;
  auto first = proposal.sites.begin();
  for (auto it = proposal.sites.begin(); it != proposal.sites.end(); ++it) {
    const finding::Frame &a = it->second, &b = first->second;
    if (a.file != b.file || a.function != b.function) return std::nullopt;
    if (std::pair(a.line, a.column) < std::pair(b.line, b.column)) first = it;
  }
  Proposal one = proposal;
  one.sites = {*first};
  return one;
}

std::string join_text(const Proposal& proposal) {
  std::set<std::string> places, threads;
  for (const auto& [key, place] : proposal.sites) places.insert(place_text(place));
  for (const auto& [path, joined] : proposal.joined) {
    std::string name;
    for (const verify::JoinPlace& place : proposal.join_places) {
      std::optional<FileEdit> file = place.joined == path ? open_for_edit(place.place.file) : std::nullopt;
      if (file) name = joined_name(*file, place.place.line);
    }
    if (name.empty()) {
      name = "T" + std::to_string(joined.thread);
      if (!joined.created_at.file.empty()) name += " (made at " + place_text(joined.created_at) + ")";
    }
    threads.insert(name);
  }
  return "join " + listed(threads) + " before " + listed(places);
}

bool make_join_edits(Advice& advice, const Proposal& proposal) {
  if (proposal.sites.size() != 1) return false;
  const finding::Frame& access = proposal.sites.begin()->second;
  std::set<std::size_t> lines;
  for (const auto& [path, joined] : proposal.joined) {
    std::size_t line = 0;
    for (const verify::JoinPlace& place : proposal.join_places) {
      if (place.joined != path) continue;
      bool same = place.place.file == access.file && place.place.function == access.function;
      if (!same || (line != 0 && line != place.place.line)) return false;
      line = place.place.line;
    }
    if (line == 0) return false;
    lines.insert(line);
  }
  FileEdit* edit = edit_of(advice, access.file);
  return edit != nullptr && move_joins_above(*edit, lines, access.line);
}

SourceChange join_change(const Proposal& proposal, const std::string& variable) {
  SourceChange change;
  change.kind = "join";
  if (std::optional<Proposal> first = first_join(proposal)) return join_change(*first, variable);
  change.places.push_back({proposal.sites.begin()->second, variable});
  std::set<SourceChange::Place> made;
  for (const auto& [path, joined] : proposal.joined) made.insert({joined.created_at, ""});
  change.threads.assign(made.begin(), made.end());
  return change;
}

}  // namespace duress::repair
