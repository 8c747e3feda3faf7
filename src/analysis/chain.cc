// SPDX-License-Identifier: Apache-2.0
#include "analysis/chain.h"

namespace duress {

bool Chain::build(const char* text, AnalysisFactory make, void* context, const char** bad) {
  for (const char* at = text;;) {
    size_t length = 0;
    while (at[length] && at[length] != ':') ++length;
    *bad = at;
    if (count_ == kLongest) return false;
    Analysis* tool = length ? make(context, at, length) : nullptr;
    if (!tool) return false;
    tools_[count_++] = tool;
    if (!at[length]) return true;
    at += length + 1;
  }
}

void Chain::access(AnalysisThread& thread, const Access& access) {
  u32 at = count_ > 1 ? owners_.owner(access.address) : 0;
  while (at < count_) {
    Pass pass = tools_[at]->access(thread, access);
    if (pass == Pass::kKeep) return;
    ++at;
    if (pass == Pass::kGive && at < count_) {
      // An access may span several of the map's eight-byte places; all of them go.
      for (uptr a = access.address & ~uptr{7}; a < access.address + access.size; a += 8) {
        owners_.pass_on(a, static_cast<u8>(at));
      }
    }
  }
}

}  // namespace duress
