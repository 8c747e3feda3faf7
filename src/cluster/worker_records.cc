// SPDX-License-Identifier: Apache-2.0
//
// The part of Coordinator that reads what the workers write.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cluster/codec.h"
#include "cluster/coordinator_state.h"

namespace duress::cluster {

using exec::RemoteRun;
using exec::WorkerProblem;

void Coordinator::scan() {
  scanned_ = now();
  for (const Folder& folder : options_.folders) {
    for (const std::string& name : folder.workers()) {
      std::string path = folder.shards() + "/" + name;
      bool is_new = std::none_of(peers_.begin(), peers_.end(),
                                 [&](const auto& peer) { return peer->reader.path() == path; });
      if (is_new)
        peers_.push_back(std::make_unique<Peer>(path, folder_.queue(options_.epoch) + "/" + name,
                                                options_.recorded_only ? 0 : 10));
    }
  }
}

u64 Coordinator::read_records() {
  u64 count = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = *peers_[i];
    if (peer.ended && !loading_) continue;
    u64 here = peer.reader.poll([&](const LogRecord& record) DURESS_REQUIRES(lock_) { take(i, record); });
    if (here != 0) peer.heard = now();
    if (here != 0 && !loading_ && !peer.bad && !peer.ended) peer.live = true;
    if (peer.reader.damaged() != peer.damaged) {
      peer.damaged = peer.reader.damaged();
      if (options_.say)
        options_.say("the record '" + peer.reader.path() + "' is damaged; what cannot be read is run again");
    }
    count += here;
  }
  state_.workers = static_cast<u64>(
      std::count_if(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->live; }));
  return count;
}

void Coordinator::take(std::size_t index, const LogRecord& record) {
  Peer& peer = *peers_[index];
  auto json = [&] { return nlohmann::json::parse(record.payload, nullptr, false); };
  switch (record.kind) {
    case RecordKind::kHello: {
      nlohmann::json hello = json();
      if (!hello.is_object()) return;
      peer.shard = hello.value("shard", u64{0});
      peer.host = hello.value("host", std::string());
      // The worker was restarted: the previous one is gone, or about to be.
      for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (i != index && peers_[i]->shard == peer.shard && peers_[i]->live) lose(i, "");
      }
      return;
    }
    case RecordKind::kResult:
      return take_result(index, record);
    case RecordKind::kBeat: {
      nlohmann::json beat = json();
      bool jumped = beat.is_object() && beat.contains("jump") && beat["jump"].is_string();
      if (jumped && !loading_ && options_.say)
        options_.say("the clock of " + peer.host + " jumped by " + beat["jump"].get<std::string>() +
                     " s; results do not depend on clocks, the campaign continues");
      return;
    }
    case RecordKind::kBye:
      peer.ended = true;
      lose(index, "");
      return;
    case RecordKind::kProblem:
      if (!loading_) take_problem(index, record);
      return;
    case RecordKind::kRequest:
    case RecordKind::kWithdraw:
      return;
  }
}

void Coordinator::take_result(std::size_t index, const LogRecord& record) {
  known_[record.key] = {static_cast<u32>(index), record.offset};
  auto found = open_.find(record.key);
  if (found == open_.end()) return;
  std::shared_ptr<Wanted> wanted = found->second;
  open_.erase(found);
  --state_.waiting;
  ++state_.done;
  for (std::size_t other : wanted->given_to) std::erase(peers_[other]->given, wanted);
  if (wanted->given_to.empty()) std::erase(pending_, wanted);
  wanted->result = record.payload;
  wanted->done = true;
  wanted->ready.notify_all();
}

void Coordinator::take_problem(std::size_t index, const LogRecord& record) {
  Peer& peer = *peers_[index];
  WorkerProblem problem{WorkerProblem::Kind::kTool, std::string(record.payload)};
  if (record.key != Key{}) {
    if (std::optional<RemoteRun> run = read_run(record.payload)) problem = run->problem;
  }
  peer.bad = true;
  bool others =
      std::any_of(peers_.begin(), peers_.end(), [](const auto& other) { return other->live && !other->bad; });
  lose(index, "");
  if (others && options_.say)
    options_.say(peer.title() + " cannot work: " + problem.text + "; its trials go to the others");
  if (!others) fail_locked(problem);
}

}  // namespace duress::cluster
