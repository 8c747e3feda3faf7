// SPDX-License-Identifier: Apache-2.0
//
// Shared by the files of this folder that make advice: a view of a race, and a change that may fix it.
#pragma once

#include <map>
#include <set>

#include "repair/advice.h"
#include "repair/rewriter.h"

namespace duress::repair {

struct Side {
  u32 key = 0;
  finding::Frame place;
  bool writes = false;
  std::map<finding::Address, std::string> locks;
  int thread = 0;
  std::optional<u64> path;    // of its thread: trail/strand_path.h
  finding::Frame created_at;  // its thread
};

/// What advice needs to know of a race.
struct RaceView {
  std::string variable;
  Side sides[2];
};

RaceView view_of(const verify::RacyExecution& racy, finding::Names& names);

struct Proposal {
  enum class Kind { kPublish, kLock, kJoin, kAtomic } kind = Kind::kAtomic;
  std::set<std::string> variables;
  u32 order = 5;
  finding::Address lock = 0;  // of kPublish: where the call of the store returns to
  std::string lock_name;
  finding::Frame store;                 // of kPublish
  std::map<u32, finding::Frame> sites;  // by key
  // kJoin: the joining thread, the joined ones, and where it joins them now.
  u64 joiner = 0;
  std::map<u64, Side> joined;  // by path
  bool made_by_joiner = true;  // else an execution has to show that it joins them
  std::vector<verify::JoinPlace> join_places;
};

/// Names and places as text.
std::string listed(const std::set<std::string>& names);
std::string place_text(const finding::Frame& frame);

/// The program that is verified, as a path.
std::string program_of(const verify::VerifySetup& setup);

// ---- changes of the source that no what-if edit stands for (source_advice.cc)

/// Critical sections, read-modify-write operations, a new mutex: made, built, and verified; if `result` is
/// not complete, checked by schedules.
std::optional<Advice> advise_in_source(const verify::VerifySetup& setup, const verify::VerifyResult& result,
                                       std::vector<RaceView> all, finding::Names& names,
                                       const std::atomic<bool>& stop);

// ---- joining earlier (join_advice.cc)

/// Which thread could join which others to remove the races. `reads`: only where the joining thread reads
/// what the others wrote and does not poll for it in a loop: then it needs their result. Elsewhere joining is
/// legal too, but makes threads sequential that are meant to run concurrently.
std::vector<Proposal> join_proposals(const std::vector<RaceView>& all, bool reads);
/// Like cover() of advice.cc.
bool cover_join(Proposal& proposal, const std::vector<RaceView>& all, bool& more);
/// The entries of the request.
void add_joins(const Proposal& proposal, std::vector<trail::WhatIfEdit>& edits);
/// The same with one site, if there are several: the one that comes first in the source.
std::optional<Proposal> first_join(const Proposal& proposal);
std::string join_text(const Proposal& proposal);
bool make_join_edits(Advice& advice, const Proposal& proposal);
/// The same as a change that clang makes, where the threads are made in the function that must join them.
SourceChange join_change(const Proposal& proposal, const std::string& variable);

// ---- stronger orders (order_advice.cc)

/// Like advise(), but only stronger orders for existing atomic operations.
std::optional<Advice> advise_orders(const verify::VerifySetup& setup, const verify::VerifyResult& result,
                                    finding::Names& names, const std::atomic<bool>& stop);

/// The edit of that file among those of the advice; null: it cannot be read.
FileEdit* edit_of(Advice& advice, const std::string& path);

}  // namespace duress::repair
