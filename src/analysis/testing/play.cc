// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/play.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>

namespace duress::testing {

std::vector<duress::Event> to_events(const Event& e, size_t index, u32 first) {
  Tid tid = static_cast<Tid>(first + static_cast<u32>(e.thread));
  u32 other = first + static_cast<u32>(e.other);
  uptr address = kArena + e.address, object = kArena + 0x1000 + static_cast<uptr>(e.object) * 64;
  Place place{static_cast<SiteId>(kFirstSite + index), StackId{0}};
  u64 detail = atomic_detail(static_cast<u64>(e.order), e.size);
  auto sync = [&](SyncKind kind, uptr o, u64 d = 0) { return duress::Event::of(tid, Sync{kind, o, d}); };
  auto access = [&](AccessKind kind) { return duress::Event::of(tid, Access{address, e.size, kind, place}); };
  switch (e.op) {
    case Op::kRead:
      return {access(AccessKind::kRead)};
    case Op::kWrite:
      return {access(AccessKind::kWrite)};
    case Op::kAtomicLoad:
      return {sync(SyncKind::kAtomicLoad, address, detail), access(AccessKind::kAtomicRead)};
    case Op::kAtomicStore:
      return {access(AccessKind::kAtomicWrite), sync(SyncKind::kAtomicStore, address, detail)};
    case Op::kAtomicRmw:
      return {sync(SyncKind::kAtomicLoad, address, detail), access(AccessKind::kAtomicRmw),
              sync(SyncKind::kAtomicRmw, address, detail)};
    case Op::kFence:
      return {sync(SyncKind::kFence, 0, static_cast<u64>(e.order))};
    case Op::kLock:
      return {sync(SyncKind::kMutexLock, object)};
    case Op::kUnlock:
      return {sync(SyncKind::kMutexUnlock, object)};
    case Op::kReadLock:
      return {sync(SyncKind::kReadLock, object)};
    case Op::kReadUnlock:
      return {sync(SyncKind::kReadUnlock, object)};
    case Op::kPost:
      return {sync(SyncKind::kRelease, object, 1)};
    case Op::kWait:
      return {sync(SyncKind::kAcquire, object)};
    case Op::kBlockBegin:
      return {duress::Event::of(tid, Sync{SyncKind::kBlockBegin, kArena, 0, place})};
    case Op::kBlockEnd:
      return {duress::Event::of(tid, Sync{SyncKind::kBlockEnd, kArena, 0, place})};
    case Op::kFork:
      return {sync(SyncKind::kThreadCreate, other),
              duress::Event::of(static_cast<Tid>(other), Sync{SyncKind::kThreadStart, 0, 0})};
    case Op::kJoin:
      return {duress::Event::of(static_cast<Tid>(other), Sync{SyncKind::kThreadEnd, 0, 0}),
              sync(SyncKind::kThreadJoin, other)};
  }
  return {};
}

void Played::race(const Race& race) {
  size_t earlier = raw(race.earlier.place.site) - kFirstSite;
  size_t later = raw(race.later.place.site) - kFirstSite;
  Found& found = by_analysis[race.analysis];
  pairs.insert({earlier, later});
  found.pairs.insert({earlier, later});
  for (u32 i = 0; i < race.size; ++i) {
    u32 byte = static_cast<u32>(race.address - kArena) + i;
    first.emplace(byte, later);
    found.first.emplace(byte, later);
  }
}

namespace {

class Counters final : public CounterSink {
 public:
  virtual ~Counters() = default;
  explicit Counters(std::map<std::string, u64>& into) : into_(into) {}
  void counter(const char* name, u64 value) override { into_[name] = value; }

 private:
  std::map<std::string, u64>& into_;
};

}  // namespace

static std::unique_ptr<Player> make_player(Arena& arena, ShadowMap& shadow, Played& into, const char* chain) {
  auto player = std::make_unique<Player>(arena, shadow, into, into);
  const char* bad;
  if (!player->build(chain, &bad)) {
    fprintf(stderr, "chain %s is wrong at %s\n", chain, bad);
    abort();
  }
  return player;
}

/// Nothing of the traces' memory is known any more.
static void renew_memory(Player& player) {
  player.play(duress::Event::of(Tid{0}, Sync{SyncKind::kMap, kArena, 4096}));
}

Played play(const Trace& trace, const char* chain, ShadowMap& shadow) {
  Played played;
  Arena arena;
  {
    std::unique_ptr<Player> player = make_player(arena, shadow, played, chain);
    for (size_t i = 0; i < trace.size(); ++i) {
      for (const duress::Event& event : to_events(trace[i], i)) player->play(event);
    }
    player->finish();
    Counters counters(played.counters);
    player->chain().counters(counters);
    renew_memory(*player);
  }
  arena.release_all();
  return played;
}

const Played& Stage::play(const Trace& trace) {
  if (traces_ == kMostTraces) close();
  if (!player_) player_ = make_player(arena_, shadow_, played_, chain_);
  played_ = {};
  // Thread 0 is the stage; the traces' threads follow.
  auto stage = [&](SyncKind kind, u32 thread) {
    player_->play(duress::Event::of(Tid{0}, Sync{kind, thread, 0}));
  };
  u32 first = threads_ + 1;
  int most = 0;
  stage(SyncKind::kThreadCreate, first);
  player_->play(duress::Event::of(static_cast<Tid>(first), Sync{SyncKind::kThreadStart, 0, 0}));
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    most = std::max({most, e.thread, e.op == Op::kFork ? e.other : 0});
    for (const duress::Event& event : to_events(e, i, first)) player_->play(event);
  }
  threads_ += static_cast<u32>(most) + 1;
  for (u32 thread = first; thread <= threads_; ++thread) {
    // One that was joined or never was: nothing happens.
    player_->play(duress::Event::of(static_cast<Tid>(thread), Sync{SyncKind::kThreadEnd, 0, 0}));
    stage(SyncKind::kThreadJoin, thread);
  }
  renew_memory(*player_);
  ++traces_;
  return played_;
}

void Stage::close() {
  player_.reset();
  arena_.release_all();
  traces_ = threads_ = 0;
}

}  // namespace duress::testing
