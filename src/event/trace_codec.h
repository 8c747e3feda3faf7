// SPDX-License-Identifier: Apache-2.0
//
// How the events in a chunk of a trace file (trace_format.h) are coded: a few bytes each, relative to the
// event before.
#pragma once

#include <string.h>

#include "event/event.h"
#include "event/trace_format.h"

namespace duress::recording {

// An event begins with a tag. Of accesses: kind in bits 0 to 2, a code of the size in 3 to 5, bit 6: the
// stack is that of the access before, bit 7: so is the site. kSyncTag: synchronisation. kOtherTag: the rest.
inline constexpr u8 kSyncTag = 6, kOtherTag = 7;
inline constexpr u8 kSizeFollows = 5;
enum class Other : u8 {
  kMark = 0,     // a ticket alone: what follows comes after all that has smaller ones
  kStrided = 1,  // several accesses, equally far apart
};

/// What codes are relative to; starts at zero in each chunk.
struct CodecState {
  uptr address = 0, object = 0;
  u32 site = 0, stack = 0;
};

class Encoder {
 public:
  /// Writes at `at`, where there is room for kMostEventBytes; `at` moves.
  static void access(u8*& at, CodecState& s, const Access& a) {
    u8 code = size_code(a.size);
    bool same_site = raw(a.place.site) == s.site, same_stack = raw(a.place.stack) == s.stack;
    *at++ =
        static_cast<u8>(static_cast<u8>(a.kind) | code << 3 | (same_stack ? 64 : 0) | (same_site ? 128 : 0));
    put(at, zigzag(a.address - s.address));
    s.address = a.address;
    if (code == kSizeFollows) put(at, a.size);
    if (!same_site) put(at, zigzag(raw(a.place.site) - u64{s.site}));
    if (!same_stack) put(at, raw(a.place.stack));
    s.site = raw(a.place.site), s.stack = raw(a.place.stack);
  }
  static void strided(u8*& at, CodecState& s, const Access& first, u64 count, i64 stride) {
    *at++ = kOtherTag;
    *at++ = static_cast<u8>(Other::kStrided);
    *at++ = static_cast<u8>(first.kind);
    put(at, zigzag(first.address - s.address));
    s.address = first.address;
    put(at, first.size);
    put(at, count);
    put(at, zigzag(static_cast<u64>(stride)));
    put(at, raw(first.place.site));
    put(at, raw(first.place.stack));
    s.site = raw(first.place.site), s.stack = raw(first.place.stack);
  }
  static void sync(u8*& at, CodecState& s, const Sync& sync, u64 ticket) {
    bool placed = raw(sync.place.stack) != 0 || raw(sync.place.site) != 0;
    *at++ = kSyncTag;
    *at++ = static_cast<u8>(static_cast<u8>(sync.kind) | (placed ? 128 : 0));
    put(at, ticket);
    put(at, zigzag(sync.object - s.object));
    s.object = sync.object;
    put(at, sync.detail);
    if (placed) put(at, raw(sync.place.site)), put(at, raw(sync.place.stack));
  }
  static void mark(u8*& at, u64 ticket) {
    *at++ = kOtherTag;
    *at++ = static_cast<u8>(Other::kMark);
    put(at, ticket);
  }

 private:
  static u64 zigzag(u64 difference) {
    return difference << 1 ^ static_cast<u64>(static_cast<i64>(difference) >> 63);
  }
  static u8 size_code(u32 size) {
    switch (size) {
      case 1:
        return 0;
      case 2:
        return 1;
      case 4:
        return 2;
      case 8:
        return 3;
      case 16:
        return 4;
      default:
        return kSizeFollows;
    }
  }
  /// As Decoder::take() reads it. Always writes eight bytes for numbers of two to eight: no branch per byte.
  __attribute__((always_inline)) static void put(u8*& at, u64 value) {
    if (DURESS_LIKELY(value < 128)) {
      *at++ = static_cast<u8>(value);
      return;
    }
    if (DURESS_UNLIKELY(value >> 56)) {
      while (value >= 128) *at++ = static_cast<u8>(value | 128), value >>= 7;
      *at++ = static_cast<u8>(value);
      return;
    }
    int bytes = (63 - __builtin_clzll(value)) / 7 + 1;
    u64 w = (value & 0x000000000fffffff) | (value & 0x00fffffff0000000) << 4;
    w = (w & 0x00003fff00003fff) | (w & 0x0fffc0000fffc000) << 2;
    w = (w & 0x007f007f007f007f) | (w & 0x3f803f803f803f80) << 1;
    w |= 0x8080808080808080 >> (72 - 8 * bytes);
    memcpy(at, &w, sizeof w);
    at += bytes;
  }
};

/// One coded event.
struct Coded {
  enum class Kind : u8 { kAccess, kStrided, kSync, kMark } kind;
  Access access;
  u64 count;   // kStrided
  i64 stride;  // kStrided
  Sync sync;
  u64 ticket;  // kSync, kMark
};

class Decoder {
 public:
  Decoder(const u8* begin, const u8* end) : at_(begin), end_(end) {}
  bool done() const { return at_ == end_; }
  const u8* at() const { return at_; }
  /// False if the bytes are not an event; at() is where.
  bool next(Coded& out) {
    const u8* start = at_;
    if (decode(out)) return true;
    at_ = start;
    return false;
  }
  /// Decodes consecutive accesses; returns how many. If a synchronisation event ends them it is decoded too,
  /// to `then`, and `stopped` set. Otherwise it stops where next() must decide: at another kind of event,
  /// near the end, at invalid bytes.
  size_t accesses(Access* out, size_t most, Coded& then, bool& stopped) {
    const u8* at = at_;
    CodecState s = s_;
    size_t n = 0;
    stopped = false;
    while (n < most && end_ - at >= kMostEventBytes) {
      u8 tag = *at;
      if ((tag & 7) >= kSyncTag) {
        const u8* p = at + 1;
        auto number = [&](u64& value) { return take(p, value); };
        stopped = tag == kSyncTag && sync(then, s, *p++, number);
        if (stopped) at = p;
        break;
      }
      const u8* p = at + 1;
      u64 difference, number;
      u8 code = tag >> 3 & 7;
      if (code >= kSizeFollows || !take(p, difference)) break;
      uptr address = s.address + unzigzag(difference);
      u32 site = s.site, stack = s.stack;
      if (!(tag & 128)) {
        if (!take(p, number)) break;
        site += static_cast<u32>(unzigzag(number));
      }
      if (!(tag & 64)) {
        if (!take(p, number)) break;
        stack = static_cast<u32>(number);
      }
      if (address >= kTop - 16) break;
      out[n++] = {address,
                  1u << code,
                  static_cast<AccessKind>(tag & 7),
                  {static_cast<SiteId>(site), static_cast<StackId>(stack)}};
      s.address = address, s.site = site, s.stack = stack;
      at = p;
    }
    at_ = at;
    s_ = s;
    return n;
  }

 private:
  /// A number of at most eight bytes where eight can be read: groups of seven bits are joined pair by pair.
  __attribute__((always_inline)) static bool take(const u8*& at, u64& value) {
    if (DURESS_LIKELY(*at < 128)) {
      value = *at++;
      return true;
    }
    u64 w;
    memcpy(&w, at, sizeof w);
    u64 last = ~w & 0x8080808080808080;  // bytes that end a number
    if (DURESS_UNLIKELY(!last)) return false;
    int bits = __builtin_ctzll(last) + 1;  // 8 for each byte
    w &= ~u64{0} >> (64 - bits) & 0x7f7f7f7f7f7f7f7f;
    w = (w & 0x007f007f007f007f) | (w & 0x7f007f007f007f00) >> 1;
    w = (w & 0x00003fff00003fff) | (w & 0x3fff00003fff0000) >> 2;
    value = (w & 0x000000000fffffff) | (w & 0x0fffffff00000000) >> 4;
    at += bits / 8;
    return true;
  }
  bool decode(Coded& out) {
    u8 tag;
    if (!byte(tag)) return false;
    if ((tag & 7) == kSyncTag) return tag == kSyncTag && sync(out);
    if ((tag & 7) == kOtherTag) return tag == kOtherTag && other(out);
    out.kind = Coded::Kind::kAccess;
    Access& a = out.access;
    a.kind = static_cast<AccessKind>(tag & 7);
    u64 difference, size = 0, number;
    if (!get(difference)) return false;
    a.address = s_.address += unzigzag(difference);
    u8 code = tag >> 3 & 7;
    if (code > kSizeFollows) return false;
    if (code == kSizeFollows && (!get(size) || size > ~u32{0})) return false;
    a.size = code == kSizeFollows ? static_cast<u32>(size) : 1u << code;
    if (!(tag & 128)) {
      if (!get(number)) return false;
      s_.site += static_cast<u32>(unzigzag(number));
    }
    if (!(tag & 64)) {
      if (!get(number)) return false;
      s_.stack = static_cast<u32>(number);
    }
    a.place = {static_cast<SiteId>(s_.site), static_cast<StackId>(s_.stack)};
    return sane(a, 1, 0);
  }
  bool sync(Coded& out) {
    u8 kind;
    return byte(kind) && sync(out, s_, kind, [this](u64& value) { return get(value); });
  }
  template <typename Number>
  __attribute__((always_inline)) static bool sync(Coded& out, CodecState& s, u8 kind, Number number) {
    u64 object, detail, site = 0, stack = 0;
    if (!number(out.ticket) || !number(object) || !number(detail)) return false;
    if ((kind & 128) && (!number(site) || !number(stack))) return false;
    if ((kind & 127) >= kSyncKinds) return false;
    object = s.object + unzigzag(object);
    bool of_thread = kind_of(kind) == SyncKind::kThreadCreate || kind_of(kind) == SyncKind::kThreadJoin;
    bool of_memory = kind_of(kind) == SyncKind::kAlloc || kind_of(kind) == SyncKind::kFree ||
                     kind_of(kind) == SyncKind::kMap;
    if (of_thread && object >= kMostThreads) return false;
    if (of_memory && (object > kTop || detail > kTop - object)) return false;
    s.object = object;
    out.kind = Coded::Kind::kSync;
    out.sync = {kind_of(kind), object, detail, {static_cast<SiteId>(site), static_cast<StackId>(stack)}};
    return true;
  }
  bool other(Coded& out) {
    u8 what, kind;
    if (!byte(what)) return false;
    if (what == static_cast<u8>(Other::kMark)) {
      out.kind = Coded::Kind::kMark;
      return get(out.ticket);
    }
    u64 difference, size, stride, site, stack;
    if (what != static_cast<u8>(Other::kStrided) || !byte(kind) || kind > 1 || !get(difference) ||
        !get(size) || !get(out.count) || !get(stride) || !get(site) || !get(stack) || size > ~u32{0})
      return false;
    out.kind = Coded::Kind::kStrided;
    s_.address += unzigzag(difference);
    s_.site = static_cast<u32>(site), s_.stack = static_cast<u32>(stack);
    out.stride = static_cast<i64>(unzigzag(stride));
    out.access = {s_.address,
                  static_cast<u32>(size),
                  static_cast<AccessKind>(kind),
                  {static_cast<SiteId>(s_.site), static_cast<StackId>(s_.stack)}};
    return sane(out.access, out.count, out.stride);
  }

  static SyncKind kind_of(u8 kind) { return static_cast<SyncKind>(kind & 127); }
  /// No program accesses memory beyond its address space, or more than 64 GiB at once.
  static bool sane(const Access& a, u64 count, i64 stride) {
    constexpr u64 kMost = u64{1} << 36;
    u64 step = static_cast<u64>(stride < 0 ? -stride : stride);
    if (a.address >= kTop || a.size == 0 || count == 0 || count > kMost || step > kMost) return false;
    u64 span = (count - 1) * step;
    return span <= kMost && (stride >= 0 ? a.address + span + a.size <= kTop : span <= a.address);
  }
  static u64 unzigzag(u64 coded) { return coded >> 1 ^ (0 - (coded & 1)); }
  bool byte(u8& value) {
    if (at_ == end_) return false;
    value = *at_++;
    return true;
  }
  __attribute__((always_inline)) bool get(u64& value) {
    if (DURESS_LIKELY(at_ != end_ && *at_ < 128)) {
      value = *at_++;
      return true;
    }
    return get_long(value);
  }
  bool get_long(u64& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      u8 b;
      if (!byte(b)) return false;
      value |= u64{b & 127u} << shift;
      if (b < 128) return true;
    }
    return false;
  }

  const u8* at_;
  const u8* end_;
  CodecState s_;
};

}  // namespace duress::recording
