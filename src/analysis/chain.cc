// SPDX-License-Identifier: Apache-2.0
#include "analysis/chain.h"

#include <string.h>

namespace duress {

/// Chains side by side, as one tool.
class Chain::Branches final : public Analysis {
 public:
  explicit Branches(Arena& arena) : arena_(arena) {}
  ~Branches() override {
    for (u32 i = 0; i < count_; ++i) {
      branches_[i]->~Chain();
      unmap_memory(branches_[i], sizeof(Chain));
    }
  }

  Chain* add() {
    if (count_ == kLongest) return nullptr;
    void* memory = map_memory(sizeof(Chain));
    return memory ? branches_[count_++] = new (memory) Chain(arena_) : nullptr;
  }

  const char* name() const override { return "[]"; }
  Pass access(AnalysisThread& thread, const Access& access) override {
    bool all_give = true, any = false;
    for (u32 i = 0; i < count_; ++i) {
      Pass pass = branches_[i]->access(thread, access);
      all_give &= pass == Pass::kGive;
      any |= pass != Pass::kKeep;
    }
    return all_give ? Pass::kGive : any ? Pass::kForward : Pass::kKeep;
  }
  void sync(AnalysisThread& thread, const Sync& sync) override {
    for (u32 i = 0; i < count_; ++i) branches_[i]->sync(thread, sync);
  }
  void finish(LineSink& out) override {
    for (u32 i = 0; i < count_; ++i) branches_[i]->finish(out);
  }
  void counters(CounterSink& out) const override {
    for (u32 i = 0; i < count_; ++i) branches_[i]->counters(out);
  }
  void fresh(uptr begin, uptr end) override {
    for (u32 i = 0; i < count_; ++i) branches_[i]->fresh(begin, end);
  }
  bool has_inline_path() const override {
    for (u32 i = 0; i < count_; ++i) {
      if (branches_[i]->has_inline_path()) return true;
    }
    return false;
  }

 private:
  Arena& arena_;
  Chain* branches_[kLongest] = {};
  u32 count_ = 0;
};

bool Chain::is_branches(const Analysis* tool) {
  return strcmp(tool->name(), "[]") == 0;
}

struct Chain::Parser {
  const char* at;
  AnalysisFactory make;
  void* context;
};

Chain::~Chain() {
  for (u32 i = 0; i < count_; ++i) {
    bool of_context = tools_[i]->has_inline_path();  // AnalysisContext::inline_analysis
    if (is_branches(tools_[i]) || (owns_ && !of_context)) tools_[i]->~Analysis();
  }
}

bool Chain::build(const char* text, AnalysisFactory make, void* context, const char** bad) {
  Parser parser{text, make, context};
  bool good = parse(parser, 0);
  *bad = parser.at;
  return good && !*parser.at;
}

/// chain: step { ':' step }; step: name | '[' chain { ',' chain } ']'. Where it returns false, parser.at is
/// what is wrong.
bool Chain::parse(Parser& parser, u32 depth) {
  owns_ = parser.make == &make_analysis;
  for (;;) {
    if (count_ == kLongest) return false;
    if (*parser.at == '[') {
      if (depth == kDeepest) return false;
      auto* branches = arena_.make<Branches>(arena_);
      tools_[count_++] = branches;
      do {
        Chain* branch = branches->add();
        if (!branch) return false;
        ++parser.at;
        if (!branch->parse(parser, depth + 1)) return false;
      } while (*parser.at == ',');
      if (*parser.at != ']') return false;
      ++parser.at;
    } else {
      size_t length = strcspn(parser.at, ":[],");
      Analysis* tool = length ? parser.make(parser.context, parser.at, length) : nullptr;
      if (!tool) return false;
      tools_[count_++] = tool;
      parser.at += length;
    }
    if (*parser.at != ':') return true;
    ++parser.at;
  }
}

Pass Chain::access(AnalysisThread& thread, const Access& access) {
  u32 at = count_ > 1 ? owners_.owner(access.address) : 0;
  Pass pass = Pass::kKeep;
  while (at < count_) {
    pass = tools_[at]->access(thread, access);
    if (pass == Pass::kKeep) break;
    ++at;
    if (pass == Pass::kGive && at < count_) {
      // An access may span several of the map's eight-byte places; all of them go.
      for (uptr a = access.address & ~uptr{7}; a < access.address + access.size; a += 8) {
        owners_.pass_on(a, static_cast<u8>(at));
      }
    }
  }
  return pass;
}

void Chain::fresh(uptr begin, uptr end) {
  if (count_ > 1) owners_.clear(begin, end);
  for (u32 i = 0; i < count_; ++i) tools_[i]->fresh(begin, end);
}

}  // namespace duress
