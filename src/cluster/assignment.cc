// SPDX-License-Identifier: Apache-2.0
//
// The part of Coordinator that decides which worker runs which execution.
#include "cluster/coordinator_state.h"

namespace duress::cluster {
namespace {

constexpr double kSilent = 15;    // a worker beats every second; after this long without it counts as dead
constexpr double kStraggles = 2;  // others are idle: a slower execution is given to another worker

}  // namespace

void Coordinator::give(const std::shared_ptr<Wanted>& wanted, std::size_t index) {
  Peer& peer = *peers_[index];
  wanted->given_to.push_back(index);
  wanted->since = now();
  peer.given.push_back(wanted);
  peer.writer.add(RecordKind::kRequest, wanted->key, wanted->payload);
}

void Coordinator::assign() {
  while (!pending_.empty()) {
    std::size_t best = peers_.size();
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if (!peers_[i]->live || peers_[i]->given.size() >= kDepth) continue;
      if (best == peers_.size() || peers_[i]->given.size() < peers_[best]->given.size()) best = i;
    }
    if (best == peers_.size()) return;
    give(pending_.front(), best);
    pending_.pop_front();
  }
  steal();
}

/// An idle worker gets an execution that another one has not begun, or is slow with.
void Coordinator::steal() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (!peers_[i]->live || !peers_[i]->given.empty()) continue;
    std::size_t from = peers_.size();
    for (std::size_t k = 0; k < peers_.size(); ++k) {
      if (peers_[k]->given.empty()) continue;
      if (from == peers_.size() || peers_[k]->given.size() > peers_[from]->given.size()) from = k;
    }
    if (from == peers_.size()) return;
    Peer& loaded = *peers_[from];
    std::shared_ptr<Wanted> wanted = loaded.given.back();
    if (loaded.given.size() == 1 && (now() - wanted->since < kStraggles || wanted->given_to.size() > 1))
      return;
    if (loaded.given.size() > 1) {
      loaded.writer.add(RecordKind::kWithdraw, wanted->key, {});
      loaded.given.pop_back();
      std::erase(wanted->given_to, from);
    } else {
      ++state_.again;
    }
    give(wanted, i);
  }
}

void Coordinator::lose(std::size_t index, const std::string& why) {
  Peer& peer = *peers_[index];
  bool was_live = std::exchange(peer.live, false);
  u64 back = 0;
  for (auto it = peer.given.rbegin(); it != peer.given.rend(); ++it) {
    std::erase((*it)->given_to, index);
    if (!(*it)->given_to.empty()) continue;
    pending_.push_front(*it);
    ++back;
  }
  peer.given.clear();
  state_.again += back;
  if (was_live && !why.empty() && options_.say)
    options_.say(peer.title() + " " + why + "; " + std::to_string(back) + " trials go to others");
}

void Coordinator::withdraw_orphans() {
  tidied_ = now();
  for (auto it = open_.begin(); it != open_.end();) {
    Wanted& wanted = *it->second;
    if (wanted.waiters != 0 || now() - wanted.left_since < kOrphaned) {
      ++it;
      continue;
    }
    for (std::size_t index : wanted.given_to) {
      peers_[index]->writer.add(RecordKind::kWithdraw, wanted.key, {});
      std::erase(peers_[index]->given, it->second);
    }
    if (wanted.given_to.empty()) std::erase(pending_, it->second);
    --state_.waiting;
    ++state_.withdrawn;
    it = open_.erase(it);
  }
}

void Coordinator::check_silence() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i]->live && now() - peers_[i]->heard > kSilent) lose(i, "has been silent for 15 s");
  }
}

}  // namespace duress::cluster
