// SPDX-License-Identifier: Apache-2.0
//
// Checks of a loop, once in front of it. A loop that does not synchronise runs in one epoch, so an access
// to a fixed address needs one check, and accesses that walk through memory without gaps need one check of
// the range they cover. Exactly the bytes that the loop will access are checked: a range is made only when
// the number of iterations is known at entry and nothing can leave the loop early.
#include <algorithm>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "pass/compat.h"
#include "pass/loop_groups.h"

namespace duress::pass {
namespace {

// Below this many bytes the loop's own inline checks are cheaper than a call.
constexpr uint64_t kMinRangeBytes = 64;
constexpr uint64_t kMinStrided = 8;  // accesses
constexpr uint64_t kMaxStrided = 8;  // bytes of one: what a shadow cell covers

class LoopHoister {
 public:
  LoopHoister(llvm::Function& function, std::vector<Check>& checks, VariableNamer& namer,
              llvm::FunctionAnalysisManager& analyses)
      : layout_(function.getParent()->getDataLayout()),
        checks_(checks),
        namer_(namer),
        loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        tree_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        scev_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        expander_(make_expander(scev_, layout_)) {}

  std::vector<Check> run() {
    auto order = loops_.getLoopsInPreorder();
    for (llvm::Loop* loop : llvm::reverse(order)) visit(loop);  // inner loops first
    std::erase_if(checks_, [](const Check& check) { return check.before == nullptr; });
    // Where several met in front of a loop a write goes first: it covers the reads.
    std::stable_partition(checks_.begin(), checks_.end(),
                          [](const Check& check) { return check.access.write; });
    return std::move(ranges_);
  }

 private:
  bool is_quiet(llvm::Loop* loop) {
    for (llvm::BasicBlock* block : loop->blocks()) {
      for (llvm::Instruction& inst : *block) {
        if (may_synchronise(inst) || !llvm::isGuaranteedToTransferExecutionToSuccessor(&inst)) return false;
      }
    }
    for (llvm::Loop* inner : loop->getSubLoops()) {
      if (!is_finite(inner)) return false;
    }
    return true;
  }
  bool is_finite(llvm::Loop* loop) {
    if (llvm::isa<llvm::SCEVCouldNotCompute>(scev_.getBackedgeTakenCount(loop))) return false;
    return llvm::all_of(loop->getSubLoops(), [&](llvm::Loop* inner) { return is_finite(inner); });
  }

  void visit(llvm::Loop* loop) {
    llvm::BasicBlock* preheader = loop->getLoopPreheader();
    if (preheader == nullptr || loop->getLoopLatch() == nullptr) return;
    std::vector<Check*> inside;
    for (Check& check : checks_) {
      if (check.before != nullptr && loop->contains(check.before) && !check.access.is_volatile &&
          !check.access.is_vptr_store) {
        inside.push_back(&check);
      }
    }
    bool has_ranges = llvm::any_of(ranges_, [&](Check& range) { return loop->contains(range.before); });
    if ((inside.empty() && !has_ranges) || !is_quiet(loop)) return;
    hoist_invariant(loop, preheader->getTerminator(), inside);
    std::erase_if(inside, [&](Check* check) { return !loop->contains(check->before); });
    gather_ranges(loop, preheader->getTerminator(), inside);
  }

  /// Whether the block is entered at least once whenever the loop is.
  bool is_certain(llvm::Loop* loop, llvm::BasicBlock* block) {
    if (!tree_.dominates(block, loop->getLoopLatch())) return false;
    llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
    loop->getExitingBlocks(exiting);
    return llvm::all_of(exiting, [&](llvm::BasicBlock* exit) { return tree_.dominates(block, exit); });
  }

  void hoist_invariant(llvm::Loop* loop, llvm::Instruction* front, const std::vector<Check*>& inside) {
    for (Check* check : inside) {
      if (loop->isLoopInvariant(check->access.address) && is_certain(loop, check->before->getParent())) {
        check->before = front;
      }
    }
    for (Check& range : ranges_) {
      if (loop->contains(range.before) && loop->isLoopInvariant(range.range_start) &&
          loop->isLoopInvariant(range.range_bytes) &&
          (range.stride == nullptr || loop->isLoopInvariant(range.stride)) &&
          is_certain(loop, range.before->getParent())) {
        range.before = front;
      }
    }
  }

  void gather_ranges(llvm::Loop* loop, llvm::Instruction* front, const std::vector<Check*>& inside) {
    llvm::BasicBlock* exiting = loop->getExitingBlock();
    const llvm::SCEV* backedges = scev_.getBackedgeTakenCount(loop);
    if (inside.empty() || exiting == nullptr || llvm::isa<llvm::SCEVCouldNotCompute>(backedges)) return;
    if (!loop->getSubLoops().empty() || !tree_.dominates(exiting, loop->getLoopLatch())) return;
    backedges = scev_.getTruncateOrZeroExtend(backedges, llvm::Type::getInt64Ty(front->getContext()));

    std::vector<Group> groups;
    for (Check* check : inside) {
      llvm::BasicBlock* block = check->before->getParent();
      if (loops_.getLoopFor(block) != loop || !tree_.dominates(block, loop->getLoopLatch())) continue;
      bool every_iteration = tree_.dominates(block, exiting);
      if (!add_moving(groups, loop, check, every_iteration))
        add_column(loop, check, every_iteration, backedges, front);
    }
    for (Group& group : groups) {
      for (bool write : {true, false}) {  // writes first: they cover reads
        make_ranges(group, write, backedges, front);
        make_strides(group, write, backedges, front);
      }
    }
  }

  /// A step that is only known at run time: the column of a matrix.
  void add_column(llvm::Loop* loop, Check* check, bool every_iteration, const llvm::SCEV* backedges,
                  llvm::Instruction* front) {
    auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scev_.getSCEV(check->access.address));
    if (walk == nullptr || walk->getLoop() != loop || !walk->isAffine()) return;
    const llvm::SCEV* step = walk->getStepRecurrence(scev_);
    if (llvm::isa<llvm::SCEVConstant>(step) || !scev_.isLoopInvariant(step, loop)) return;
    const llvm::SCEV* count =
        every_iteration ? scev_.getAddExpr(backedges, scev_.getOne(backedges->getType())) : backedges;
    emit_strided(check, walk->getStart(), step, count, front);
  }

  /// What is left of a group has gaps. A write covers the reads of the same bytes.
  void make_strides(Group& group, bool write, const llvm::SCEV* backedges, llvm::Instruction* front) {
    llvm::Type* i64 = llvm::Type::getInt64Ty(front->getContext());
    auto number = [&](int64_t value) { return scev_.getConstant(i64, static_cast<uint64_t>(value), true); };
    for (Row& row : rows(group, write)) {
      Check* check = row.accesses.front()->check;
      if (check->before == nullptr) continue;  // covered by another row
      int64_t per_iteration = std::abs(group.step) / row.spacing;
      auto more = static_cast<int64_t>(row.accesses.size()) - per_iteration;  // than the iterations have
      int64_t first = group.step > 0 ? row.accesses.front()->offset : row.accesses.back()->offset;
      const llvm::SCEV* count = scev_.getMulExpr(backedges, number(per_iteration));
      if (group.every_iteration) {
        count = scev_.getAddExpr(count, number(per_iteration + more));
      } else if (more != 0) {  // nothing at all when no iteration is completed
        count =
            scev_.getAddExpr(count, scev_.getMulExpr(scev_.getUMinExpr(backedges, number(1)), number(more)));
      }
      const llvm::SCEV* start = scev_.getAddExpr(group.start, number(first));
      const llvm::SCEV* step = number(group.step > 0 ? row.spacing : -row.spacing);
      if (!emit_strided(check, start, step, count, front)) continue;
      for (MovingAccess* moving : row.accesses) {
        moving->check->before = nullptr;
        for (MovingAccess& other : group.accesses) {
          if (other.offset == moving->offset && other.check->access.size <= check->access.size &&
              (write || !other.check->access.write))
            other.check->before = nullptr;
        }
      }
    }
  }

  bool emit_strided(Check* check, const llvm::SCEV* start, const llvm::SCEV* step, const llvm::SCEV* count,
                    llvm::Instruction* front) {
    if (check->access.size > kMaxStrided) return false;
    llvm::Type* i64 = llvm::Type::getInt64Ty(front->getContext());
    if (auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(count)) {
      if (constant->getAPInt().ult(kMinStrided)) return false;
    }
    if (!expander_.isSafeToExpandAt(start, front) || !expander_.isSafeToExpandAt(step, front) ||
        !expander_.isSafeToExpandAt(count, front)) {
      return false;
    }
    Check strided = *check;
    strided.before = front;
    strided.range_start =
        expander_.expandCodeFor(start, llvm::PointerType::get(front->getContext(), 0), front);
    strided.range_bytes = expander_.expandCodeFor(count, i64, front);
    strided.stride = expander_.expandCodeFor(scev_.getTruncateOrSignExtend(step, i64), i64, front);
    strided.stride_size = check->access.size;
    ranges_.push_back(strided);
    check->before = nullptr;
    return true;
  }

  /// False if its address does not move by a known number of bytes.
  bool add_moving(std::vector<Group>& groups, llvm::Loop* loop, Check* check, bool every_iteration) {
    auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scev_.getSCEV(check->access.address));
    if (walk == nullptr || walk->getLoop() != loop || !walk->isAffine()) return false;
    auto* step = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(scev_));
    if (step == nullptr || step->getAPInt().getSignificantBits() > 32 || step->getValue()->isZero())
      return false;
    int64_t bytes = step->getAPInt().getSExtValue();
    MovingAccess moving{check, 0,
                        namer_.name(check->access.inst, check->access.address, check->access.size).name};
    for (Group& group : groups) {
      if (group.step != bytes || group.every_iteration != every_iteration) continue;
      auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(scev_.getMinusSCEV(walk->getStart(), group.start));
      if (distance == nullptr || distance->getAPInt().getSignificantBits() > 32) continue;
      moving.offset = distance->getAPInt().getSExtValue();
      group.accesses.push_back(moving);
      return true;
    }
    groups.push_back({walk->getStart(), bytes, every_iteration, {moving}});
    return true;
  }

  void make_ranges(Group& group, bool write, const llvm::SCEV* backedges, llvm::Instruction* front) {
    std::vector<Chunk> made = chunks(group, write);
    std::erase_if(made, [&](const Chunk& chunk) { return !emit(group, chunk, backedges, front); });
    if (!write) return;
    for (MovingAccess& moving : group.accesses) {
      for (const Chunk& chunk : made) {
        int64_t end = moving.offset + static_cast<int64_t>(moving.check->access.size);
        if (moving.offset >= chunk.begin && end <= chunk.end) moving.check->before = nullptr;
      }
    }
  }

  bool emit(const Group& group, const Chunk& chunk, const llvm::SCEV* backedges, llvm::Instruction* front) {
    llvm::Type* i64 = llvm::Type::getInt64Ty(front->getContext());
    auto number = [&](int64_t value) { return scev_.getConstant(i64, static_cast<uint64_t>(value), true); };
    int64_t step = std::abs(group.step);
    int64_t length = chunk.end - chunk.begin;
    // `backedges` is one less than the iterations begun, and exactly those completed.
    const llvm::SCEV* bytes = scev_.getMulExpr(backedges, number(step));
    const llvm::SCEV* last = backedges;  // how many steps the first address is from the last one
    if (group.every_iteration) {
      bytes = scev_.getAddExpr(bytes, number(length));
    } else {
      // Nothing at all when no iteration is completed.
      const llvm::SCEV* any = scev_.getUMinExpr(backedges, number(1));
      bytes = scev_.getAddExpr(bytes, scev_.getMulExpr(any, number(length - step)));
      last = scev_.getMinusSCEV(backedges, number(1));
    }
    if (auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(bytes)) {
      if (constant->getAPInt().ult(kMinRangeBytes)) return false;
    }
    const llvm::SCEV* start = scev_.getAddExpr(group.start, number(chunk.begin));
    if (group.step < 0) start = scev_.getAddExpr(start, scev_.getMulExpr(last, number(group.step)));
    if (!expander_.isSafeToExpandAt(start, front) || !expander_.isSafeToExpandAt(bytes, front)) return false;

    Check range = *chunk.accesses.front()->check;
    range.access.size = 0;
    range.before = front;
    range.range_start = expander_.expandCodeFor(start, llvm::PointerType::get(front->getContext(), 0), front);
    range.range_bytes = expander_.expandCodeFor(bytes, i64, front);
    ranges_.push_back(range);
    for (MovingAccess* moving : chunk.accesses) moving->check->before = nullptr;
    return true;
  }

  const llvm::DataLayout& layout_;
  std::vector<Check>& checks_;
  VariableNamer& namer_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& tree_;
  llvm::ScalarEvolution& scev_;
  llvm::SCEVExpander expander_;
  std::vector<Check> ranges_;
};

}  // namespace

void simplify_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (analyses.getResult<llvm::LoopAnalysis>(function).empty()) return;
  analyses.invalidate(function, llvm::LoopSimplifyPass().run(function, analyses));
}

std::vector<Check> hoist_from_loops(llvm::Function& function, std::vector<Check>& checks,
                                    VariableNamer& namer, llvm::FunctionAnalysisManager& analyses) {
  if (checks.empty() || analyses.getResult<llvm::LoopAnalysis>(function).empty()) return {};
  return LoopHoister(function, checks, namer, analyses).run();
}

}  // namespace duress::pass
