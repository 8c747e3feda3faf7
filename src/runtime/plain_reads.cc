// SPDX-License-Identifier: Apache-2.0
#include "runtime/plain_reads.h"

#include "base/prng.h"
#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/runtime.h"

namespace duress {

void (*g_learn_store)(const void* p, u64 size) = nullptr;

namespace {

/// Eight bytes, some of which atomics have written; a bit for each.
struct Granule {
  uptr number;  // the address divided by 8; 0: free
  u8 written;
  u8 several;  // by several strands
  u8 stored;   // by a store
  u8 strand[8];
};

// An execution with more is taken to have such a read.
constexpr u32 kRoom = 512, kMostUsed = kRoom / 2;

// Put back with the rest of memory: an execution that begins at a checkpoint has what it had there.
constinit Granule granules[kRoom] = {};
constinit u32 used = 0;

Granule* find(uptr number) {
  u32 at = static_cast<u32>(mix(number)) % kRoom;
  while (granules[at].number != 0 && granules[at].number != number) at = (at + 1) % kRoom;
  return &granules[at];
}

/// The bytes of a granule that are in [begin, end).
u8 bytes_of(uptr number, uptr begin, uptr end) {
  u8 mask = 0;
  for (uptr i = 0; i < 8; ++i) {
    if (const uptr at = number * 8 + i; begin <= at && at < end) mask |= static_cast<u8>(1u << i);
  }
  return mask;
}

/// Whether a plain read of [begin, end) could find one or another value there.
bool depends(const Granule& granule, uptr begin, uptr end) {
  const u8 loose = granule.several & granule.stored;
  return loose != 0 && (loose & bytes_of(granule.number, begin, end)) != 0;
}

void limit(uptr address, const DuressSite* site) {
  scheduler().limit(exhaustive::StepLog::kPlainRead,
                    {OpKind::kRead, 0, address, 0, reinterpret_cast<uptr>(site)});
}

void note(Granule& granule, u8 bytes, u32 strand, bool stores) {
  for (u32 i = 0; i < 8; ++i) {
    const u8 bit = static_cast<u8>(1u << i);
    if (!(bytes & bit)) continue;
    // Of strands with higher numbers it is not known which one it was.
    constexpr u32 kMostKnown = 254;
    const u8 known = static_cast<u8>(strand <= kMostKnown ? strand : kMostKnown + 1);
    if (strand > kMostKnown || ((granule.written & bit) && granule.strand[i] != known))
      granule.several |= bit;
    granule.written |= bit;
    granule.strand[i] = known;
    if (stores) granule.stored |= bit;
  }
}

void note(const void* p, u64 size, bool stores) {
  const sched::Strand* s = controlled();
  if (!s || used > kMostUsed) return;
  const uptr begin = address_of(p), end = begin + size;
  for (uptr number = begin >> 3; number <= (end - 1) >> 3; ++number) {
    Granule* granule = find(number);
    if (granule->number == 0) ++used;
    granule->number = number;
    note(*granule, bytes_of(number, begin, end), s->number, stores);
  }
}

void on_atomic(const void* p, u64 size, bool write) {
  if (write) note(p, size, false);
}

void on_store(const void* p, u64 size) {
  note(p, size, true);
}

void on_access(const void* p, u64 size, bool write, const DuressSite* site) {
  if (write || size == 0 || used == 0 || !controlled()) return;
  if (site && g_runtime->points.point(site, p)) return;  // a step
  const uptr begin = address_of(p), end = begin + size;
  if (DURESS_UNLIKELY(used > kMostUsed)) return limit(begin, site);
  const uptr first = begin >> 3, last = (end - 1) >> 3;
  if (last - first < kRoom) {
    for (uptr number = first; number <= last; ++number) {
      const Granule* granule = find(number);
      if (granule->number != 0 && depends(*granule, begin, end)) return limit(begin, site);
    }
    return;
  }
  for (const Granule& granule : granules) {
    if (granule.number >= first && granule.number <= last && depends(granule, begin, end))
      return limit(begin, site);
  }
}

}  // namespace

void watch_plain_reads() {
  g_learn_access = on_access;
  g_learn_atomic = on_atomic;
  g_learn_store = on_store;
}

void plain_read_missed() {
  if (const sched::Strand* s = controlled()) scheduler().limit(exhaustive::StepLog::kPlainRead, s->next);
}

}  // namespace duress
