// SPDX-License-Identifier: Apache-2.0
//
// A chain of analyses, written `A:B:C`. Every tool gets every synchronisation event; an access goes to
// the tool that owns the location, and on from there as the tools say.
#ifndef DURESS_ANALYSIS_CHAIN_H_
#define DURESS_ANALYSIS_CHAIN_H_

#include "analysis/analysis.h"
#include "shadow/owner_map.h"

namespace duress {

/// Makes an analysis by name; null if there is none of that name. `context` is the runtime's.
using AnalysisFactory = Analysis* (*)(void* context, const char* name, size_t length);

/// Threads: see Analysis. The chain itself does not change once it is made.
class Chain {
 public:
  static constexpr u32 kLongest = 16;

  explicit Chain(Arena& arena) : owners_(arena) {}

  /// Parses `A:B:C`. On an unknown name returns false and sets *bad to where it starts.
  bool build(const char* text, AnalysisFactory make, void* context, const char** bad);

  void access(AnalysisThread& thread, const Access& access);
  void sync(AnalysisThread& thread, const Sync& sync) {
    for (u32 i = 0; i < count_; ++i) tools_[i]->sync(thread, sync);
  }
  void finish(LineSink& out) {
    for (u32 i = 0; i < count_; ++i) tools_[i]->finish(out);
  }
  /// Fresh memory belongs to the first tool.
  void fresh(uptr begin, uptr end) {
    if (count_ > 1) owners_.clear(begin, end);
  }
  u32 size() const { return count_; }

 private:
  Analysis* tools_[kLongest] = {};
  u32 count_ = 0;
  OwnerMap owners_;
};

}  // namespace duress

#endif  // DURESS_ANALYSIS_CHAIN_H_
