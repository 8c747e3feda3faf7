// SPDX-License-Identifier: Apache-2.0
//
// What becomes of the words of a cell: the two functions with_write() and with_read() give the word after an
// access, without_reads() the read word after a write. A word that needs more than two accesses is spilled
// (spill_pool.h), and returns to the cell as soon as two are enough.
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

u64 FastTrack::with_read(const FastTrackThread& t, Word r, u8 mask, AccessId id) {
  u32 index;
  if (r.both) {
    u8 covered = static_cast<u8>(~r.rest);
    // One of the two reads on in its next epoch: its number is replaced.
    for (AccessId other : {r.old, r.id}) {
      AccessId mine = other == r.id ? r.old : r.id;
      if ((covered & static_cast<u8>(~mask)) == 0 && mask == covered &&
          records_.time(mine).slot == t.clock.slot()) {
        return Word{id, other, r.rest, false, true, false}.encode();
      }
    }
    index = spills_.make_reads();
    index = spills_.add_read(index, r.id, covered);
    index = spills_.add_read(index, r.old, covered);
    r = {0, index, 0xff, true, false, false};
  }
  if (!r.spilled) {
    u8 in_new = mask & static_cast<u8>(~r.rest), in_old = mask & r.rest;
    bool new_ordered = !r.id || ordered(t, r.id), old_ordered = !r.old || ordered(t, r.old);
    if ((!in_new || new_ordered) && (!in_old || old_ordered) && assign(r, mask, id)) return pack(t, r);
    index = spills_.make_reads();
    u8 of_new = static_cast<u8>(~r.rest) & static_cast<u8>(new_ordered ? ~mask : 0xff);
    u8 of_old = r.rest & static_cast<u8>(old_ordered ? ~mask : 0xff);
    if (r.id && of_new) index = spills_.add_read(index, r.id, of_new);
    if (r.old && of_old) index = spills_.add_read(index, r.old, of_old);
    return shared_word(t, spills_.add_read(index, id, mask), id);
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
u64 FastTrack::without_reads(const FastTrackThread& t, Word r, u8 mask) {
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
