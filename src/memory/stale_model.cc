// SPDX-License-Identifier: Apache-2.0
#include "memory/stale_model.h"

#include <string.h>

namespace duress::memory {

LoadResult StaleModel::load(const Viewer& who, Extent extent, Tracking tracking, const u8* memory, u8* into,
                            Picker& picker, Legal& legal) {
  LoadResult result;
  Statistics& statistics = table_.statistics();
  // The run of stale loads is counted in the first word that is tracked, for all pieces together: a loop that
  // waits for a value of two words needs both to be newest at once.
  Word* counter = nullptr;
  u32 run = 0;
  for (uptr at = extent.begin; at < extent.end;) {
    Extent piece = table_.piece(extent, at);
    u64 offset = at - extent.begin;
    Word* word = table_.legal_values(who, piece, tracking, memory + offset, legal);
    if (word && !counter) {
      counter = word;
      run = word->stale_runs.get(who.slot);
    }
    bool must_be_newest = fair_after_ && run >= fair_after_;
    u32 pick = 0;
    if (legal.count > 1) {
      ++result.open;
      if (must_be_newest) {
        result.forced = true;
      } else {
        pick = picker.pick(legal);
        DURESS_CHECK(pick < legal.count);
      }
    }
    if (pick && !result.stale) {
      result.stale = true;
      result.site = legal.values[pick].site;
    }
    u128 value = legal.values[pick].value;
    scatter(into + offset, value, piece.size());
    if (word) table_.note_read(*word, piece, value);
    ++result.pieces;
    at = piece.end;
  }
  if (!counter) return result;
  result.tracked = true;
  result.run = result.stale ? run + 1 : 0;
  if (result.stale || run) counter->stale_runs.set(who.slot, result.run);
  ++statistics.reads;
  statistics.open_reads += result.open > 0;
  statistics.stale_reads += result.stale;
  statistics.fair_reads += result.forced;
  return result;
}

bool StaleModel::allows(const Viewer& who, Extent extent, const u8* memory, const u8* value) {
  Legal legal;
  for (uptr at = extent.begin; at < extent.end;) {
    Extent piece = table_.piece(extent, at);
    u64 offset = at - extent.begin;
    table_.legal_values(who, piece, Tracking::kOnlyTracked, memory + offset, legal);
    u128 wanted = 0;
    memcpy(&wanted, value + offset, piece.size());
    bool found = false;
    for (u32 i = 0; i < legal.count; ++i) found |= legal.values[i].value == wanted;
    if (!found) return false;
    at = piece.end;
  }
  return true;
}

}  // namespace duress::memory
