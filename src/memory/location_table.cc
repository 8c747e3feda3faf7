// SPDX-License-Identifier: Apache-2.0
#include "memory/location_table.h"

#include <string.h>

namespace duress::memory {
namespace {

Extent common(Extent a, Extent b) {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

Extent extent_of(const Location& location) {
  return {location.history.begin(), location.history.end()};
}

bool overlap(Extent a, Extent b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

LocationTable::LocationTable(Arena& arena, ClockSource& threads, Options options)
    : arena_(arena), threads_(threads), options_(options) {
  DURESS_CHECK(options.tear == 4 || options.tear == 8 || options.tear == 16);
  buckets_ = static_cast<Word**>(arena_.allocate(buckets_size_ * sizeof(Word*)));
  memset(buckets_, 0, buckets_size_ * sizeof(Word*));
}

LocationTable::~LocationTable() {
  for (u64 i = 0; i < buckets_size_; ++i) {
    while (Word* word = buckets_[i]) {
      while (word->first) drop(&word->first);
      erase(word);
    }
  }
  arena_.free(buckets_, buckets_size_ * sizeof(Word*));
}

Word* LocationTable::find(uptr base) const {
  Word* word = buckets_[bucket(base)];
  while (word && word->base != base) word = word->next;
  return word;
}

/// Null if there is no room for more.
Word* LocationTable::make(uptr base) {
  if (words_ == options_.most_words) return nullptr;
  if (words_ == buckets_size_) grow();
  Word* word = arena_.make<Word>(arena_, base);
  Word*& head = buckets_[bucket(base)];
  word->next = head;
  head = word;
  ++words_;
  return word;
}

/// REQUIRES: the word has no locations.
void LocationTable::erase(Word* word) {
  Word** link = &buckets_[bucket(word->base)];
  while (*link != word) link = &(*link)->next;
  *link = word->next;
  word->~Word();
  arena_.free(word, sizeof(Word));
  --words_;
}

void LocationTable::grow() {
  Word** old = buckets_;
  u64 old_size = buckets_size_;
  buckets_size_ *= 2;
  buckets_ = static_cast<Word**>(arena_.allocate(buckets_size_ * sizeof(Word*)));
  memset(buckets_, 0, buckets_size_ * sizeof(Word*));
  for (u64 i = 0; i < old_size; ++i) {
    while (Word* word = old[i]) {
      old[i] = word->next;
      Word*& head = buckets_[bucket(word->base)];
      word->next = head;
      head = word;
    }
  }
  arena_.free(old, old_size * sizeof(Word*));
}

/// Calls visit(word) for every word that overlaps; it may erase that word. A range of megabytes is not looked
/// up word by word when there are fewer words than that.
template <typename Visit>
void LocationTable::each_word(Extent extent, Visit visit) {
  if (words_ == 0) return;
  uptr first = extent.begin & ~uptr{options_.tear - 1};
  u64 most = (extent.end - first) / options_.tear + 1;
  if (most <= 8 || most <= words_) {
    for (uptr base = first; base < extent.end; base += options_.tear) {
      if (Word* word = find(base)) visit(word);
    }
    return;
  }
  for (u64 i = 0; i < buckets_size_; ++i) {
    for (Word *word = buckets_[i], *next; word; word = next) {
      next = word->next;
      if (word->base >= first && word->base < extent.end) visit(word);
    }
  }
}

void LocationTable::drop(Location** link) {
  Location* location = *link;
  *link = location->next;
  location->~Location();
  arena_.free(location, sizeof(Location));
}

Location* LocationTable::insert(Location** link, Extent extent, u128 initial) {
  auto* location = static_cast<Location*>(arena_.allocate(sizeof(Location)));
  new (location)
      Location{{arena_, statistics_, extent.begin, static_cast<u32>(extent.size()), initial, now_}, *link};
  *link = location;
  return location;
}

/// Drops locations whose newest entry is not what memory holds: something wrote there that we did not see,
/// and who may see which of the older values is no longer known. `memory` is that of the piece, so only those
/// bytes are compared; the others will be when they are accessed. True if one was dropped.
bool LocationTable::drop_unseen(Word& word, Extent piece, const u8* memory) {
  bool dropped = false;
  for (Location** link = &word.first; *link;) {
    const StoreHistory& history = (*link)->history;
    Extent part = common(extent_of(**link), piece);
    bool differs =
        part.begin < part.end &&
        bytes_of(history.newest().value, static_cast<u32>(part.begin - history.begin()),
                 static_cast<u32>(part.size())) != gather(memory + (part.begin - piece.begin), part.size());
    if (differs) {
      drop(link);
      ++statistics_.unseen;
      dropped = true;
    } else {
      link = &(*link)->next;
    }
  }
  return dropped;
}

/// Makes locations of the bytes of the piece that are in none. True if there were any.
bool LocationTable::begin_tracking(Word& word, Extent piece, const u8* memory) {
  bool began = false;
  Location** link = &word.first;
  for (uptr at = piece.begin; at < piece.end;) {
    while (*link && (*link)->history.end() <= at) link = &(*link)->next;
    if (*link && (*link)->history.begin() <= at) {
      at = (*link)->history.end();
      continue;
    }
    uptr end = *link && (*link)->history.begin() < piece.end ? (*link)->history.begin() : piece.end;
    if (!began) ++now_;
    began = true;
    insert(link, {at, end}, gather(memory + (at - piece.begin), end - at));
    at = end;
  }
  return began;
}

/// The word of a piece, with histories that agree with memory; null if nothing there is tracked. Sets *began
/// if it is tracked from now on.
Word* LocationTable::settle(Extent piece, Tracking tracking, const u8* memory, bool* began) {
  uptr base = piece.begin & ~uptr{options_.tear - 1};
  Word* word = find(base);
  bool dropped = word && drop_unseen(*word, piece, memory);
  if (tracking == Tracking::kBegin) {
    if (!word) word = make(base);
    if (!word) {
      ++statistics_.not_tracked;
      return nullptr;
    }
    if (begin_tracking(*word, piece, memory) && !dropped) *began = true;
  }
  if (word && !word->first) {
    erase(word);
    return nullptr;
  }
  return word;
}

/// Makes the address a border between locations, if it lies inside one.
void LocationTable::split_at(Word& word, uptr address) {
  for (Location* location = word.first; location; location = location->next) {
    if (location->history.begin() < address && address < location->history.end()) {
      Location* upper = insert(&location->next, {address, location->history.end()}, 0);
      location->history.split_into(upper->history);
      return;
    }
  }
}

/// `part` is what the store writes of the word, `begin` the store's first byte. True if any is tracked.
bool LocationTable::store_word(const Viewer& who, Word& word, Extent part, SiteId site, uptr begin,
                               Source value) {
  split_at(word, part.begin);
  split_at(word, part.end);
  bool stored = false;
  for (Location* location = word.first; location; location = location->next) {
    if (!overlap(extent_of(*location), part)) continue;
    u8 bytes[StoreHistory::kMostBytes];
    for (u32 i = 0; i < location->history.size(); ++i) {
      bytes[i] = value.at(location->history.begin() + i - begin);
    }
    location->history.store(who, gather(bytes, location->history.size()), site, now_, threads_);
    stored = true;
  }
  return stored;
}

bool LocationTable::store(const Viewer& who, Extent extent, Tracking tracking, SiteId site, const u8* before,
                          Source value) {
  bool began = false, stored = false;
  u64 unseen = statistics_.unseen;
  if (tracking == Tracking::kBegin) {
    for (uptr at = extent.begin; at < extent.end;) {
      Extent part = piece(extent, at);
      settle(part, tracking, before + (at - extent.begin), &began);
      at = part.end;
    }
  }
  ++now_;  // one for all words: a load of several of them may then see this store as one
  each_word(extent, [&](Word* word) {
    Extent part = common({word->base, word->base + options_.tear}, extent);
    if (!settle(part, Tracking::kOnlyTracked, before + (part.begin - extent.begin), &began)) return;
    stored |= store_word(who, *word, part, site, extent.begin, value);
  });
  statistics_.instances += began;
  statistics_.writes += stored;
  return stored || statistics_.unseen != unseen;
}

bool LocationTable::forget(Extent extent) {
  bool dropped = false;
  each_word(extent, [&](Word* word) {
    for (Location** link = &word->first; *link;) {
      if (overlap(extent_of(**link), extent)) {
        drop(link);
        dropped = true;
      } else {
        link = &(*link)->next;
      }
    }
    if (!word->first) return erase(word);
    word->read_bytes = 0;
  });
  return dropped;
}

const StoreHistory* LocationTable::location(uptr address) const {
  const Word* word = find(address & ~uptr{options_.tear - 1});
  for (const Location* l = word ? word->first : nullptr; l; l = l->next) {
    if (l->history.begin() <= address && address < l->history.end()) return &l->history;
  }
  return nullptr;
}

}  // namespace duress::memory
