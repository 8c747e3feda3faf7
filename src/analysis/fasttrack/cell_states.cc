// SPDX-License-Identifier: Apache-2.0
//
// What becomes of the words of a cell: the two functions with_write() and with_read() give the word after an
// access, without_reads() the read word after a write. A word that needs more than two accesses is spilled
// (spill_pool.h), and returns to the cell as soon as two are enough; reads of several threads move to their
// pages (read_pages.h), and to a set only if one thread has more than two of them.
#include "analysis/fasttrack/hot_path.h"

namespace duress {

u64 FastTrack::with_write(const FastTrackThread& t, Word w, u8 mask, AccessId id) {
  if (DURESS_LIKELY(!w.spilled && assign(w, mask, id))) return pack(t, w);
  u32 index = w.old;
  if (!w.spilled) {
    index = spills_.make_writes();
    for (int byte = 0; byte < 8; ++byte) spills_.writes(index).ids[byte] = w.of_byte(byte);
  }
  WriteSpill& spill = spills_.writes(index);
  for (int byte = 0; byte < 8; ++byte) {
    if ((mask >> byte) & 1) spill.ids[byte] = id;
  }
  // Back into the cell as soon as two accesses are enough.
  AccessId second = id;
  u8 rest = 0;
  bool fits = true;
  for (int byte = 0; byte < 8; ++byte) {
    if (spill.ids[byte] == id) continue;
    if (second == id) second = spill.ids[byte];
    fits &= spill.ids[byte] == second;
    rest |= static_cast<u8>(1 << byte);
  }
  if (!fits) {
    for (int byte = 0; byte < 8; ++byte) {
      if (own_epoch(t, spill.ids[byte])) rest &= static_cast<u8>(~(1 << byte));
    }
    return Word{id, index, rest, true, false, w.sync}.encode();
  }
  spills_.free_writes(index);
  return pack(t, Word{id, rest ? second : 0, rest, false, false, w.sync});
}

/// transition() where the writes are spilled: text, tags, flags, of which each byte has a write of its own.
/// False also if the writes would fit into the cell again.
template <bool kWrite>
__attribute__((preserve_most)) bool FastTrack::spilled_transition(const FastTrackThread& t, u64 w, u64 r,
                                                                  u8 mask, AccessId id,
                                                                  Transition& result) const {
  const Word writes = Word::decode(w);
  Word reads = Word::decode(r);
  WriteSpill& spill = spills_.writes(writes.old);
  u8 unread = mask;
  if (r && !follows_reads(t, reads, mask, unread)) return false;
  AccessId last = 0;
  for (u32 left = unread; left; left &= left - 1) {
    const AccessId one = spill.ids[__builtin_ctz(left)];
    if (one != last && !harmless(t, one)) return false;
    last = one;
  }
  result = {w, r, w, r, mask};
  if (!kWrite) {
    if (!assign(reads, mask, id)) return false;
    result.new_reads = pack(t, reads);
    return true;
  }
  if (r && !own_reads(t, reads, mask)) {
    if (!assign(reads, mask, 0)) return false;
    result.new_reads = pack(t, reads);
  }
  const u8 others = spill.without(id) & static_cast<u8>(~mask);
  if (!others || !(others & spill.without(spill.ids[__builtin_ctz(others)]))) return false;
  u8 not_mine = 0;
  for (u32 byte = 0; byte < 8; ++byte) {
    if ((mask >> byte) & 1) spill.ids[byte] = id;
    not_mine |= static_cast<u8>(!own_epoch(t, spill.ids[byte]) << byte);
  }
  result.new_writes = Word{id, writes.old, not_mine, true, false, false}.encode();
  return true;
}

template bool FastTrack::spilled_transition<false>(const FastTrackThread&, u64, u64, u8, AccessId,
                                                   Transition&) const;
template bool FastTrack::spilled_transition<true>(const FastTrackThread&, u64, u64, u8, AccessId,
                                                  Transition&) const;

/// One of the reads of a granule.
struct FastTrack::ReadOf {
  AccessId id;
  u8 bytes;
};

/// Moves reads to the pages of their threads. False, and nothing was done: they do not fit there.
bool FastTrack::to_pages(uptr granule, const ReadOf* reads, u32 count) {
  for (u32 i = 0; i < count; ++i) {
    ReadPageWord* word = pages_.make(records_.slot(reads[i].id), granule);
    Word w = Word::decode(word ? word->load(std::memory_order_relaxed) : 0);
    if (!word || !assign(w, reads[i].bytes, reads[i].id)) {
      clear_pages(granule);
      return false;
    }
    word->store(w.encode(), std::memory_order_relaxed);
  }
  return true;
}

void FastTrack::clear_pages(uptr granule) {
  pages_.each_made(granule, [](ReadPageWord& word) {
    if (word.load(std::memory_order_relaxed)) word.store(0, std::memory_order_relaxed);
  });
}

/// Moves the reads of a granule from the pages to a set.
u32 FastTrack::to_set(uptr granule) {
  u32 index = spills_.make_reads();
  pages_.each(granule, [&](u64 word) {
    Word w = Word::decode(word);
    if (w.id && w.rest != 0xff) index = spills_.add_read(index, w.id, static_cast<u8>(~w.rest));
    if (w.old && w.rest) index = spills_.add_read(index, w.old, w.rest);
  });
  clear_pages(granule);
  return index;
}

/// The read word of a cell with these reads, the last of which is this thread's, just made.
u64 FastTrack::shared(const FastTrackThread& t, uptr granule, const ReadOf* reads, u32 count) {
  const ReadOf& last = reads[count - 1];
  if (count == 1) return Word{last.id, 0, static_cast<u8>(~last.bytes), false, false, false}.encode();
  if (count == 2 && reads[0].bytes == reads[1].bytes)
    return Word{last.id, reads[0].id, static_cast<u8>(~last.bytes), false, true, false}.encode();
  if (to_pages(granule, reads, count)) return Word::kPaged;
  u32 index = spills_.make_reads();
  for (u32 i = 0; i < count; ++i) index = spills_.add_read(index, reads[i].id, reads[i].bytes);
  return shared_word(t, index, last.id);
}

/// The read word of a cell whose reads are in a set, after this thread's read `id` was added.
u64 FastTrack::shared_word(const FastTrackThread& t, u32 index, AccessId id) {
  ReadSet& set = spills_.reads(index);
  u8 mine = 0;
  for (u32 i = 0; i < set.count; ++i) {
    if (own_epoch(t, set.ids()[i])) mine |= set.masks()[i];
  }
  // Two readers of the same bytes go back into the cell.
  if (set.count == 2 && set.masks()[0] == set.masks()[1] && set.ids()[1] == id) {
    Word w{id, set.ids()[0], static_cast<u8>(~set.masks()[0]), false, true, false};
    spills_.free_reads(index);
    return w.encode();
  }
  return Word{id, index, static_cast<u8>(~mine), true, false, false}.encode();
}

u64 FastTrack::with_read(const FastTrackThread& t, u64 reads, uptr granule, u8 mask, AccessId id) {
  u32 index;
  if (Word::is_paged(reads)) {
    ReadPageWord* word = pages_.make(t.clock.slot(), granule);
    Word mine = Word::decode(word ? word->load(std::memory_order_relaxed) : 0);
    if (word && assign(mine, mask, id)) {
      word->store(mine.encode(), std::memory_order_relaxed);
      return reads;
    }
    reads = Word{0, to_set(granule), 0xff, true, false, false}.encode();
  }
  Word r = Word::decode(reads);
  if (r.both) {
    u8 covered = static_cast<u8>(~r.rest);
    // One of the two reads on in its next epoch: its number is replaced.
    for (AccessId other : {r.old, r.id}) {
      AccessId mine = other == r.id ? r.old : r.id;
      if (mask == covered && records_.time(mine).slot == t.clock.slot())
        return Word{id, other, r.rest, false, true, false}.encode();
    }
    ReadOf three[] = {{r.id, covered}, {r.old, covered}, {id, mask}};
    return shared(t, granule, three, 3);
  }
  if (!r.spilled) {
    u8 in_new = mask & static_cast<u8>(~r.rest), in_old = mask & r.rest;
    bool new_ordered = !r.id || ordered(t, r.id), old_ordered = !r.old || ordered(t, r.old);
    if ((!in_new || new_ordered) && (!in_old || old_ordered) && assign(r, mask, id)) return pack(t, r);
    ReadOf kept[3];
    u32 count = 0;
    u8 of_new = static_cast<u8>(~r.rest) & static_cast<u8>(new_ordered ? ~mask : 0xff);
    u8 of_old = r.rest & static_cast<u8>(old_ordered ? ~mask : 0xff);
    if (r.id && of_new) kept[count++] = {r.id, of_new};
    if (r.old && of_old) kept[count++] = {r.old, of_old};
    kept[count++] = {id, mask};
    return shared(t, granule, kept, count);
  }
  index = r.old;
  ReadSet& set = spills_.reads(index);
  u8 mine = mask;
  for (u32 i = 0; i < set.count;) {
    AccessId other = set.ids()[i];
    if (other == id) {
      mine |= set.masks()[i];
      set.remove(i);
    } else if ((set.masks()[i] & mask) && ordered(t, other) && !(set.masks()[i] &= static_cast<u8>(~mask))) {
      set.remove(i);
    } else {
      ++i;
    }
  }
  if (set.count == 0) {
    spills_.free_reads(index);
    return Word{id, 0, static_cast<u8>(~mine), false, false, false}.encode();
  }
  return shared_word(t, spills_.add_read(index, id, mine), id);
}

/// A write of `mask` follows the reads of these bytes: they can race with nothing that it does not.
u64 FastTrack::without_reads(const FastTrackThread& t, u64 reads, uptr granule, u8 mask) {
  if (Word::is_paged(reads)) {
    if (mask == 0xff) return clear_pages(granule), 0;
    bool fits = true, any = false;
    pages_.each(granule, [&](u64 word) {
      Word w = Word::decode(word);
      fits &= assign(w, mask, 0);
    });
    if (!fits) {
      reads = Word{0, to_set(granule), 0xff, true, false, false}.encode();
    } else {
      pages_.each_made(granule, [&](ReadPageWord& word) {
        u64 old = word.load(std::memory_order_relaxed);
        if (!old) return;
        Word w = Word::decode(old);
        assign(w, mask, 0);
        bool left = (w.id && w.rest != 0xff) || (w.old && w.rest);
        any |= left;
        word.store(left ? w.encode() : 0, std::memory_order_relaxed);
      });
      return any ? Word::kPaged : 0;
    }
  }
  Word r = Word::decode(reads);
  if (r.both) {
    r.rest |= mask;
    return r.rest == 0xff ? 0 : r.encode();
  }
  if (!r.spilled) {
    // The writer's own reads of this epoch stay, so that its next read is still "same epoch". Others must go:
    // a read that is in a cell came after the write that is (hot_path.h).
    if (own_reads(t, r, mask) || assign(r, mask, 0)) return pack(t, r);
    u32 index = spills_.make_reads();
    u8 of_id = static_cast<u8>(~(r.rest | mask)), of_old = r.rest & static_cast<u8>(~mask);
    if (r.id && of_id) index = spills_.add_read(index, r.id, of_id);
    if (r.old && of_old) index = spills_.add_read(index, r.old, of_old);
    return Word{0, index, 0xff, true, false, false}.encode();
  }
  ReadSet& set = spills_.reads(r.old);
  for (u32 i = 0; i < set.count;) {
    if (!(set.masks()[i] &= static_cast<u8>(~mask))) {
      set.remove(i);
    } else {
      ++i;
    }
  }
  if (set.count) return r.encode();
  spills_.free_reads(r.old);
  return 0;
}

}  // namespace duress
