// SPDX-License-Identifier: Apache-2.0
#include "trace/sync_p.h"

#include <algorithm>

namespace duress::trace {

bool SyncP::join(Prefix& into, const Prefix& from) {
  bool changed = false;
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] <= into[i]) continue;
    into[i] = from[i];
    changed = true;
  }
  return changed;
}

SyncP::ThreadState& SyncP::thread(u32 tid) {
  if (tid >= threads_.size()) threads_.resize(tid + 1);
  return threads_[tid];
}

/// All that must have been done when `moment` is done: thread order, reads from, create and join.
SyncP::Prefix SyncP::prefix_of(Moment moment) const {
  Prefix prefix;
  if (moment.thread < threads_.size()) {
    const std::vector<Change>& changes = threads_[moment.thread].changes;
    auto after = std::upper_bound(changes.begin(), changes.end(), moment.index,
                                  [](u32 index, const Change& change) { return index < change.index; });
    if (after != changes.begin()) prefix = std::prev(after)->prefix;
  }
  if (prefix.size() <= moment.thread) prefix.resize(moment.thread + 1);
  prefix[moment.thread] = moment.index;
  return prefix;
}

void SyncP::depend(u32 tid, const Prefix& on) {
  ThreadState& t = thread(tid);
  Prefix known = t.changes.empty() ? Prefix{} : t.changes.back().prefix;
  if (known.size() <= tid) known.resize(tid + 1);
  known[tid] = t.events;
  Prefix wanted = on;
  if (tid < wanted.size()) wanted[tid] = 0;  // its own past is there anyway
  if (!join(known, wanted)) return;
  if (!t.changes.empty() && t.changes.back().index == t.events) {
    t.changes.back().prefix = std::move(known);
  } else {
    t.changes.push_back({t.events, std::move(known)});
  }
}

void SyncP::depend(u32 tid, Moment on) {
  if (on.index == 0 || on.thread == tid) return;
  ThreadState& t = thread(tid);
  if (!t.changes.empty()) {
    const Prefix& known = t.changes.back().prefix;
    if (on.thread < known.size() && known[on.thread] >= on.index) return;
  }
  depend(tid, prefix_of(on));
}

void SyncP::access(u32 tid, const Access& access) {
  Moment now{tid, thread(tid).events};
  u64 size = access.kind == AccessKind::kFree ? std::min<u64>(access.size, 4096) : access.size;
  bool reads = !is_write(access.kind) || access.kind == AccessKind::kAtomicRmw;
  for (uptr granule = access.address & ~uptr{7}; granule < access.address + size; granule += 8) {
    Granule& g = granules_[granule];
    depend(tid, g.allocated);
    for (uptr byte = granule; reads && byte < granule + 8; ++byte) {
      if (byte >= access.address && byte < access.address + size) depend(tid, g.last_write[byte - granule]);
    }
  }
  for (uptr granule = access.address & ~uptr{7}; granule < access.address + size; granule += 8) {
    Granule& g = granules_[granule];
    for (uptr byte = granule; is_write(access.kind) && byte < granule + 8; ++byte) {
      if (byte >= access.address && byte < access.address + size) g.last_write[byte - granule] = now;
    }
    if (access.kind == AccessKind::kFree) g.freed = now;
    std::size_t same = 0;
    for (const Seen& seen : g.seen) {
      same += seen.at.thread == tid && seen.access.place.site == access.place.site &&
              seen.access.kind == access.kind;
    }
    if (same < kSame) {
      g.seen.push_back({access, now});
    } else {
      complete_ = false;
    }
  }
}

void SyncP::play(const Event& event) {
  if (++position_ > kMostEvents) {
    complete_ = false;
    return;
  }
  u32 tid = raw(event.thread);
  ThreadState& t = thread(tid);
  Moment now{tid, ++t.events};
  if (!event.is_sync) return access(tid, event.access);
  const Sync& s = event.sync;
  switch (s.kind) {
    case SyncKind::kMutexLock:
    case SyncKind::kReadLock: {  // readers as if they excluded each other: fewer races, never a wrong one
      std::vector<Section>& sections = locks_[s.object][tid];
      t.open[s.object] = static_cast<u32>(sections.size());
      sections.push_back({now.index, 0, position_});
      break;
    }
    case SyncKind::kMutexUnlock:
    case SyncKind::kReadUnlock:
      if (auto open = t.open.find(s.object); open != t.open.end()) {
        locks_[s.object][tid][open->second].released = now.index;
        t.open.erase(open);
      }
      break;
    case SyncKind::kRelease:
      join(posted_[s.object], prefix_of(now));
      break;
    case SyncKind::kAcquire:
      if (auto it = posted_.find(s.object); it != posted_.end()) depend(tid, it->second);
      break;
    case SyncKind::kThreadCreate: {
      auto child = static_cast<u32>(s.object);
      if (s.object < 65536) depend(child, prefix_of(now));
      break;
    }
    case SyncKind::kThreadJoin:
      if (s.object < threads_.size())
        depend(tid, Moment{static_cast<u32>(s.object), threads_[s.object].events});
      break;
    case SyncKind::kAlloc:
    case SyncKind::kMap:
      if (s.detail > (u64{1} << 24)) break;  // a stack or a large mapping: its locations are not followed
      for (uptr granule = s.object & ~uptr{7}; granule < s.object + s.detail; granule += 8) {
        auto it = granules_.find(granule);
        if (it == granules_.end()) {
          if (s.kind == SyncKind::kAlloc && s.detail <= 4096) granules_[granule].allocated = now;
          continue;
        }
        look_at(it->second);
        depend(tid, it->second.freed);
        it->second = {};
        it->second.allocated = now;
      }
      break;
    default:
      break;
  }
}

/// Can both be reached without performing either?
bool SyncP::race(const Seen& a, const Seen& b, Moment allocated) const {
  // What the accesses themselves read does not matter: they are not performed. But the memory must be there.
  Prefix done = prefix_of({a.at.thread, a.at.index - 1});
  join(done, prefix_of({b.at.thread, b.at.index - 1}));
  if (allocated.index) join(done, prefix_of(allocated));
  auto count = [&](u32 tid) { return tid < done.size() ? done[tid] : 0; };
  for (bool changed = true; changed;) {
    if (count(a.at.thread) >= a.at.index || count(b.at.thread) >= b.at.index) return false;
    changed = false;
    for (const auto& [lock, by_thread] : locks_) {
      // Of all critical sections that have begun, only the last may be open.
      const Section* last = nullptr;
      std::vector<std::pair<u32, const Section*>> begun;
      for (const auto& [tid, sections] : by_thread) {
        auto after = std::upper_bound(sections.begin(), sections.end(), count(tid),
                                      [](u32 index, const Section& s) { return index < s.acquired; });
        if (after == sections.begin()) continue;
        const Section& section = *std::prev(after);
        begun.emplace_back(tid, &section);
        if (!last || section.position > last->position) last = &section;
      }
      for (const auto& [tid, section] : begun) {
        if (section == last || (section->released && section->released <= count(tid))) continue;
        if (!section->released) return false;
        changed |= join(done, prefix_of({tid, section->released}));
      }
    }
  }
  return true;
}

void SyncP::look_at(Granule& granule) {
  for (std::size_t j = 0; j < granule.seen.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const Seen &a = granule.seen[i], &b = granule.seen[j];
      if (a.at.thread == b.at.thread || (!is_write(a.access.kind) && !is_write(b.access.kind)) ||
          (is_atomic(a.access.kind) && is_atomic(b.access.kind)))
        continue;
      if (a.access.address >= b.access.address + b.access.size ||
          b.access.address >= a.access.address + a.access.size)
        continue;
      std::uint64_t first = raw(a.access.place.site), second = raw(b.access.place.site);
      std::pair<std::uint64_t, std::uint64_t> key = std::minmax(first, second);
      if (reported_.count(key) != 0) continue;
      if (++tested_ > kMostPairs) {
        complete_ = false;
        return;
      }
      if (!race(a, b, granule.allocated)) continue;
      reported_.insert(key);
      uptr begin = std::max(a.access.address, b.access.address);
      uptr end = std::min(a.access.address + a.access.size, b.access.address + b.access.size);
      auto side = [](const Seen& seen) {
        return RaceSide{seen.access.kind, seen.access.place, RaceSide::kByThread, seen.at.thread,
                        LockSetId{0}};
      };
      findings_.race({"SyncP", begin, static_cast<u32>(end - begin), side(a), side(b), false});
    }
  }
}

void SyncP::finish() {
  std::vector<uptr> order;
  for (const auto& [address, granule] : granules_) order.push_back(address);
  std::sort(order.begin(), order.end());  // the same output each time
  for (uptr address : order) look_at(granules_[address]);
}

}  // namespace duress::trace
