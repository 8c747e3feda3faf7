// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/play.h"

#include <stdio.h>
#include <stdlib.h>

namespace duress::testing {

std::vector<duress::Event> to_events(const Event& e, size_t index) {
  Tid tid = static_cast<Tid>(e.thread);
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
    case Op::kFork:
      return {sync(SyncKind::kThreadCreate, static_cast<uptr>(e.other)),
              duress::Event::of(static_cast<Tid>(e.other), Sync{SyncKind::kThreadStart, 0, 0})};
    case Op::kJoin:
      return {duress::Event::of(static_cast<Tid>(e.other), Sync{SyncKind::kThreadEnd, 0, 0}),
              sync(SyncKind::kThreadJoin, static_cast<uptr>(e.other))};
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

Played play(const Trace& trace, const char* chain, ShadowMap& shadow) {
  Played played;
  Arena arena;
  {
    auto player = std::make_unique<Player>(arena, shadow, played, played);
    const char* bad;
    if (!player->build(chain, &bad)) {
      fprintf(stderr, "chain %s is wrong at %s\n", chain, bad);
      abort();
    }
    for (size_t i = 0; i < trace.size(); ++i) {
      for (const duress::Event& event : to_events(trace[i], i)) player->play(event);
    }
    player->finish();
    Counters counters(played.counters);
    player->chain().counters(counters);
    player->play(duress::Event::of(Tid{0}, Sync{SyncKind::kMap, kArena, 4096}));
  }
  arena.release_all();
  return played;
}

}  // namespace duress::testing
