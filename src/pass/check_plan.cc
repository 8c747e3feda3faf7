// SPDX-License-Identifier: Apache-2.0
#include "pass/check_plan.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace duress::pass {
namespace {

/// An address as a value plus a constant, so that p->a and p->b are seen to share p.
struct Bytes {
  const llvm::Value* base;
  int64_t begin;
  int64_t end;
  bool write;

  bool covers(const Bytes& other) const {
    return base == other.base && begin <= other.begin && end >= other.end && (write || !other.write);
  }
};

Bytes bytes_of(const Access& access, const llvm::DataLayout& layout) {
  llvm::APInt offset(layout.getIndexTypeSizeInBits(access.address->getType()), 0);
  const llvm::Value* base =
      access.address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  int64_t begin = offset.getSExtValue();
  return {base, begin, begin + static_cast<int64_t>(access.size), access.write};
}

// Bits of the whole analysis: facts times blocks. Beyond it (functions made by generators) only repeats
// within a block are dropped. 2^28 bits are 32 MiB.
constexpr uint64_t kMaxBits = uint64_t{1} << 28;

/// Forward "available facts" analysis. A fact is "these bytes have been checked since the last
/// synchronisation, for the current value of the base".
class Coverage {
 public:
  Coverage(llvm::Function& function, std::vector<Check>& checks, const llvm::DataLayout& layout)
      : function_(function) {
    for (uint32_t i = 0; i < checks.size(); ++i) {
      Bytes bytes = bytes_of(checks[i].access, layout);
      auto& same_base = by_base_[bytes.base];
      uint32_t fact = 0;
      bool known = false;
      for (uint32_t other : same_base) {
        if (facts_[other].begin != bytes.begin || facts_[other].end != bytes.end ||
            facts_[other].write != bytes.write) {
          continue;
        }
        fact = other;
        known = true;
        break;
      }
      if (!known) {
        fact = facts_.size();
        facts_.push_back(bytes);
        same_base.push_back(fact);
      }
      fact_of_check_.push_back(fact);
      // The check of a v-table pointer's store is skipped when nothing changes, so it covers no other access.
      sets_fact_.push_back(!checks[i].access.is_vptr_store);
      checks_at_[checks[i].before].push_back(i);
    }
  }

  std::vector<bool> covered() {
    std::vector<bool> result(fact_of_check_.size());
    bool whole_function = uint64_t{facts_.size()} * function_.size() < kMaxBits;
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&function_);
    if (whole_function) solve(order);
    for (llvm::BasicBlock* block : order) {
      llvm::BitVector now = whole_function ? entry_state(block) : llvm::BitVector(facts_.size());
      walk(block, now, &result);
    }
    return result;
  }

 private:
  using Order = llvm::ReversePostOrderTraversal<llvm::Function*>;

  void solve(Order& order) {
    for (llvm::BasicBlock* block : order) out_[block] = llvm::BitVector(facts_.size(), true);
    for (bool changed = true; changed;) {
      changed = false;
      for (llvm::BasicBlock* block : order) {
        llvm::BitVector now = entry_state(block);
        walk(block, now, nullptr);
        llvm::BitVector& out = out_[block];
        if (now == out) continue;
        out = std::move(now);
        changed = true;
      }
    }
  }

  llvm::BitVector entry_state(llvm::BasicBlock* block) {
    bool is_entry = block == &function_.getEntryBlock();
    llvm::BitVector state(facts_.size(), !is_entry);
    if (is_entry) return state;
    for (llvm::BasicBlock* from : llvm::predecessors(block)) {
      auto it = out_.find(from);
      if (it != out_.end()) state &= it->second;  // else unreachable
    }
    return state;
  }

  void walk(llvm::BasicBlock* block, llvm::BitVector& now, std::vector<bool>* covered) {
    for (llvm::Instruction& inst : *block) {
      if (auto it = checks_at_.find(&inst); it != checks_at_.end()) {
        for (uint32_t check : it->second) {
          uint32_t fact = fact_of_check_[check];
          if (covered != nullptr) (*covered)[check] = is_covered(fact, now);
          if (sets_fact_[check]) now.set(fact);
        }
      }
      if (may_synchronise(inst)) now.reset();
      // A new value of a base (the next round of a loop): facts about the old one no longer hold.
      if (auto it = by_base_.find(&inst); it != by_base_.end()) {
        for (uint32_t fact : it->second) now.reset(fact);
      }
    }
  }

  bool is_covered(uint32_t fact, const llvm::BitVector& now) {
    for (uint32_t other : by_base_[facts_[fact].base]) {
      if (now.test(other) && facts_[other].covers(facts_[fact])) return true;
    }
    return false;
  }

  llvm::Function& function_;
  std::vector<Bytes> facts_;
  std::vector<uint32_t> fact_of_check_;
  std::vector<bool> sets_fact_;
  llvm::DenseMap<const llvm::Value*, llvm::SmallVector<uint32_t, 4>> by_base_;
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<uint32_t, 1>> checks_at_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BitVector> out_;
};

}  // namespace

void merge_reads_into_writes(std::vector<Check>& checks, const llvm::DataLayout& layout) {
  llvm::DenseMap<const llvm::Instruction*, Check*> by_inst;
  llvm::SmallPtrSet<llvm::BasicBlock*, 32> blocks;
  for (Check& check : checks) {
    by_inst[check.before] = &check;
    blocks.insert(check.before->getParent());
  }
  for (llvm::BasicBlock* block : blocks) {
    // Backwards: writes that are certain to execute after the current instruction, in its region.
    llvm::DenseMap<std::pair<const llvm::Value*, int64_t>, Check*> coming;
    for (llvm::Instruction& inst : llvm::reverse(*block)) {
      if (may_synchronise(inst) || !llvm::isGuaranteedToTransferExecutionToSuccessor(&inst)) coming.clear();
      auto it = by_inst.find(&inst);
      if (it == by_inst.end() || it->second->access.is_volatile || it->second->access.is_vptr_store) continue;
      Check& check = *it->second;
      Bytes bytes = bytes_of(check.access, layout);
      if (check.access.write) {
        coming[{bytes.base, bytes.begin}] = &check;
        continue;
      }
      auto later = coming.find({bytes.base, bytes.begin});
      if (later == coming.end() || later->second->access.size < check.access.size) continue;
      llvm::Value* address = check.access.address;  // the write's own may not be computed yet
      llvm::Align align = std::max(check.access.align, later->second->access.align);
      check.access = later->second->access;
      check.access.address = address;
      check.access.align = align;
    }
  }
}

void drop_covered(llvm::Function& function, std::vector<Check>& checks, const llvm::DataLayout& layout) {
  if (checks.empty()) return;
  std::vector<bool> covered = Coverage(function, checks, layout).covered();
  std::vector<Check> kept;
  for (size_t i = 0; i < checks.size(); ++i) {
    if (!covered[i] || checks[i].access.is_volatile) kept.push_back(checks[i]);
  }
  checks = std::move(kept);
}

std::vector<Check> plan_checks(llvm::Function& function, AccessFilter& filter, VariableNamer& namer,
                               llvm::FunctionAnalysisManager& analyses) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<Check> checks;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& inst : block) {
      Access access;
      if (filter.classify(&inst, &access)) checks.push_back({access, &inst});
    }
  }
  if (checks.empty()) return checks;
  simplify_loops(function, analyses);
  merge_reads_into_writes(checks, layout);
  drop_covered(function, checks, layout);
  std::vector<Check> ranges = hoist_from_loops(function, checks, namer, analyses);
  drop_covered(function, checks, layout);  // what met in front of a loop
  checks.insert(checks.end(), ranges.begin(), ranges.end());
  return checks;
}

}  // namespace duress::pass
