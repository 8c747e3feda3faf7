// SPDX-License-Identifier: Apache-2.0
//
// A chain of analyses, written `A:B:C`. Every tool gets every synchronisation event; an access goes to
// the tool that owns the location, and on from there as the tools say. A step may also be branches side by
// side, `A:[B,C:D]:E`: each branch sees what comes to the step, each with owners of its own; what any branch
// lets through goes on.
#pragma once

#include "analysis/analysis.h"
#include "shadow/owner_map.h"

namespace duress {

/// Makes an analysis by name; null if there is none of that name.
using AnalysisFactory = Analysis* (*)(void* context, const char* name, size_t length);

/// Makes one of those in catalog/analyses.h. `context` is an AnalysisContext.
Analysis* make_analysis(void* context, const char* name, size_t length);

/// Threads: see Analysis. The chain itself does not change once it is made.
class Chain {
 public:
  static constexpr u32 kLongest = 16;
  static constexpr u32 kDeepest = 8;  // brackets within brackets

  explicit Chain(Arena& arena) : arena_(arena), owners_(arena) {}
  ~Chain();
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  /// Parses `text`. If it is wrong, returns false and sets *bad to where.
  bool build(const char* text, AnalysisFactory make, void* context, const char** bad);

  Pass access(AnalysisThread& thread, const Access& access);
  void sync(AnalysisThread& thread, const Sync& sync) {
    for (u32 i = 0; i < count_; ++i) tools_[i]->sync(thread, sync);
  }
  void finish(LineSink& out) {
    for (u32 i = 0; i < count_; ++i) tools_[i]->finish(out);
  }
  void counters(CounterSink& out) const {
    for (u32 i = 0; i < count_; ++i) tools_[i]->counters(out);
  }
  /// Fresh memory belongs to the first tool.
  void fresh(uptr begin, uptr end);
  u32 size() const { return count_; }
  /// Is there an analysis with an inline path, at any depth?
  bool has_inline_path() const {
    for (u32 i = 0; i < count_; ++i) {
      if (tools_[i]->has_inline_path()) return true;
    }
    return false;
  }
  /// Is such an analysis the whole chain? Then no events are needed.
  bool is_inline() const { return count_ == 1 && tools_[0]->has_inline_path() && !is_branches(tools_[0]); }

 private:
  class Branches;
  struct Parser;

  bool parse(Parser& parser, u32 depth);
  static bool is_branches(const Analysis* tool);

  Arena& arena_;
  Analysis* tools_[kLongest] = {};
  u32 count_ = 0;
  bool owns_ = false;  // the tools are make_analysis()'s
  OwnerMap owners_;
};

}  // namespace duress
