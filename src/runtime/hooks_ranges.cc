// SPDX-License-Identifier: Apache-2.0
//
// Hooks of faithful bodies for structs and ranges: loads and stores of any size, memcpy, memmove, memset.
#include <string.h>

#include "runtime/access_observer.h"
#include "runtime/faithful_access.h"
#include "runtime/filtered_range.h"
#include "runtime/rc11.h"
#include "runtime/runtime.h"
#include "runtime/what_if.h"

extern "C" void __duress_range_read(const void* p, duress::u64 n, const DuressSite* s);  // hooks_checked.cc
extern "C" void __duress_range_write(const void* p, duress::u64 n, const DuressSite* s);

namespace duress {
namespace {

/// Calls body(offset, bytes) for each word of memory: wider values may tear.
template <typename Body>
void each_word(const void* p, u64 size, Body body) {
  constexpr u64 kWord = 8;
  for (u64 at = 0; at < size;) {
    u64 room = kWord - ((address_of(p) + at) & (kWord - 1));
    auto piece = static_cast<u32>(room < size - at ? room : size - at);
    body(at, piece);
    at += piece;
  }
}

/// Structs and the like, loaded as a whole: word by word. `into` is nowhere in what is read.
void load_words(void* into, const void* from, u64 size, const DuressSite* site) {
  auto* out = static_cast<u8*>(into);
  const auto* in = static_cast<const u8*>(from);
  each_word(from, size, [&](u64 at, u32 piece) {
    if (g_parallel_adversary && load_in_parallel(in + at, piece, site, out + at)) return;
    memcpy(out + at, in + at, piece);
    if (g_adversary) replace_loaded(in + at, piece, site, out + at);
  });
}

/// A longer copy is of a buffer rather than of an object: each word of it would be a choice.
constexpr u64 kMostCopied = 256;

/// A copy while a memory model decides what loads return: true if it is done.
bool copy_by_model(void* to, const void* from, u64 size, const DuressSite* site) {
  if (size > kMostCopied || !g_runtime->points.point(site))
    return store_by_model(to, size, site, memory::Source(static_cast<const u8*>(from)));
  u8 value[kMostCopied];
  load_words(value, from, size, site);
  if (!store_by_model(to, size, site, memory::Source(value))) memcpy(to, value, size);
  return true;
}

/// Reads or writes whole ranges: what was written before is not compared.
void range(const void* p, u64 size, AccessKind kind, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_what_if) && controlled()) what_if_join(site);
  if (!g_observe_plain) return observe_access(p, size, is_write(kind), site);
  if (!report_access(p, size, kind, site)) return;
  control_done(is_write(kind));
  control_trace_value(0, 16);
}

}  // namespace

bool steps_by_words(u64 size, const DuressSite* site) {
  if (!controlled() || !scheduler().is_systematic() || !g_runtime->points.point(site)) return false;
  const Operation operation = {OpKind::kRead, static_cast<u32>(size), 0, 0, reinterpret_cast<uptr>(site)};
  // The model does not see what they write.
  if (g_rc11) scheduler().limit(exhaustive::StepLog::kUnseenWrite, operation);
  if (size <= kMostCopied) return true;
  scheduler().limit(exhaustive::StepLog::kWideAccess, operation);
  return false;
}

void load_by_steps(void* into, const void* from, u64 size, const DuressSite* site) {
  const auto* in = static_cast<const u8*>(from);
  each_word(from, size, [&](u64 at, u32 piece) {
    range(in + at, piece, AccessKind::kRead, site);
    memcpy(static_cast<u8*>(into) + at, in + at, piece);
  });
}

void store_by_steps(void* to, const void* from, u64 size, const DuressSite* site) {
  auto* out = static_cast<u8*>(to);
  each_word(to, size, [&](u64 at, u32 piece) {
    range(out + at, piece, AccessKind::kWrite, site);
    memcpy(out + at, static_cast<const u8*>(from) + at, piece);
  });
}

namespace {

/// Of a systematic execution the call is one step, whatever it accesses.
void note_whole_call(const DuressSite* site) {
  if (!controlled() || !scheduler().is_systematic() || !g_runtime->points.point(site)) return;
  scheduler().limit(exhaustive::StepLog::kWideAccess, {OpKind::kRead, 0, 0, 0, reinterpret_cast<uptr>(site)});
}

void copy_by_steps(void* to, const void* from, u64 size, const DuressSite* site) {
  u8 value[kMostCopied];
  load_by_steps(value, from, size, site);
  store_by_steps(to, value, size, site);
}

}  // namespace

void library_accessed(const void* p, size_t size, bool write, const DuressSite* site) {
  if ((site->flags & DURESS_SITE_FAITHFUL) == 0) {
    if (is_known_range(p, size, write)) return;
    return write ? __duress_range_write(p, size, site) : __duress_range_read(p, size, site);
  }
  note_whole_call(site);
  range(p, size, write ? AccessKind::kWrite : AccessKind::kRead, site);
}

}  // namespace duress

using namespace duress;

DURESS_EXPORT void __duress_loadn(void* out, const void* p, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return load_by_steps(out, p, n, s);
  range(p, n, AccessKind::kRead, s);
  if (DURESS_UNLIKELY(replaces_memory()) && n <= kMostCopied) return load_words(out, p, n, s);
  memcpy(out, p, n);
}
DURESS_EXPORT void __duress_storen(void* p, const void* in, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return store_by_steps(p, in, n, s);
  range(p, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) &&
      store_by_model(p, n, s, memory::Source(static_cast<const u8*>(in))))
    return;
  memcpy(p, in, n);
}
DURESS_EXPORT void __duress_memcpy(void* d, const void* from, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return copy_by_steps(d, from, n, s);
  if (n) range(from, n, AccessKind::kRead, s), range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) && copy_by_model(d, from, n, s)) return;
  memcpy(d, from, n);
}
DURESS_EXPORT void __duress_memmove(void* d, const void* from, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) return copy_by_steps(d, from, n, s);
  if (n) range(from, n, AccessKind::kRead, s), range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) && copy_by_model(d, from, n, s)) return;
  memmove(d, from, n);
}
DURESS_EXPORT void __duress_memset(void* d, u32 byte, u64 n, const DuressSite* s) {
  DURESS_NOTE_CALLER();
  if (steps_by_words(n, s)) {
    u8 value[kMostCopied];
    memset(value, static_cast<int>(byte), n);
    return store_by_steps(d, value, n, s);
  }
  if (n) range(d, n, AccessKind::kWrite, s);
  if (DURESS_UNLIKELY(replaces_memory()) &&
      store_by_model(d, n, s, memory::Source::repeat(static_cast<u8>(byte))))
    return;
  memset(d, static_cast<int>(byte), n);
}
