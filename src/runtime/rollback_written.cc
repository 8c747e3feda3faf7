// SPDX-License-Identifier: Apache-2.0
//
// MemoryImage::Written: how the pages of a list are put back.
#include "runtime/rollback_memory.h"
#include "runtime/rollback_pages.h"

namespace duress {

void MemoryImage::Written::pack() {
  constexpr u32 kWords = kPageSize / sizeof(u64);
  word_count = 0;
  for (u64 i = 0; i < count; ++i) {
    Page& page = pages[i];
    const char* copy = page.at_checkpoint ? page.at_checkpoint : page.copy;
    page.first_word = word_count;
    page.words = 0;
    if (!copy) continue;
    const auto* from = reinterpret_cast<const u64*>(copy);
    u32 used = 0;
    for (u32 w = 0; w < kWords; ++w) used += from[w] != 0;
    if (used > kFewWords || word_count + used > kMostWords) {
      page.words = kWholePage;
      continue;
    }
    for (u32 w = 0; w < kWords; ++w) {
      if (from[w] == 0) continue;
      word_places[word_count] = static_cast<u16>(w);
      word_values[word_count++] = from[w];
    }
    page.words = used;
  }
}

void MemoryImage::Written::put_back() const {
  for (u64 i = 0; i < count; ++i) {
    const Page& page = pages[i];
    if (page.words == kWholePage) {
      copy_page(reinterpret_cast<void*>(page.at), page.at_checkpoint ? page.at_checkpoint : page.copy);
      continue;
    }
    auto* to = reinterpret_cast<volatile u64*>(page.at);
    clear_page(reinterpret_cast<void*>(page.at));
    const u16* places = word_places + page.first_word;
    const u64* values = word_values + page.first_word;
    for (u32 w = 0; w < page.words; ++w) to[places[w]] = values[w];
  }
}

}  // namespace duress
