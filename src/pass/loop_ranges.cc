// SPDX-License-Identifier: Apache-2.0
//
// Checks of a loop, once in front of it. A loop that does not synchronise runs in one epoch, so an access
// to a fixed address needs one check, and accesses that walk through memory without gaps need one check of
// the range they cover. Exactly the bytes that the loop will access are checked: a range is made only when
// the number of rounds is known at entry and nothing can leave the loop early.
#include <algorithm>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "pass/check_plan.h"
#include "pass/compat.h"

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
  /// One access that moves by the same number of bytes each round.
  struct Walker {
    Check* check;
    int64_t offset;  // of its first address, from the group's
    std::string variable;
  };
  struct Group {
    const llvm::SCEV* start;
    int64_t step;
    bool every_round;  // also in the last, partial round of a loop that leaves in its middle
    std::vector<Walker> walkers;
  };
  /// Adjacent walkers: each round covers [begin, end).
  struct Chunk {
    int64_t begin;
    int64_t end;
    std::vector<Walker*> walkers;
  };

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
    const llvm::SCEV* rounds = scev_.getBackedgeTakenCount(loop);
    if (inside.empty() || exiting == nullptr || llvm::isa<llvm::SCEVCouldNotCompute>(rounds)) return;
    if (!loop->getSubLoops().empty() || !tree_.dominates(exiting, loop->getLoopLatch())) return;
    rounds = scev_.getTruncateOrZeroExtend(rounds, llvm::Type::getInt64Ty(front->getContext()));

    std::vector<Group> groups;
    for (Check* check : inside) {
      llvm::BasicBlock* block = check->before->getParent();
      if (loops_.getLoopFor(block) != loop || !tree_.dominates(block, loop->getLoopLatch())) continue;
      bool every_round = tree_.dominates(block, exiting);
      if (!add_walker(groups, loop, check, every_round)) add_column(loop, check, every_round, rounds, front);
    }
    for (Group& group : groups) {
      for (bool write : {true, false}) {  // writes first: they cover reads
        make_ranges(group, write, rounds, front);
        make_strides(group, write, rounds, front);
      }
    }
  }

  /// A step that is only known at run time: the column of a matrix.
  void add_column(llvm::Loop* loop, Check* check, bool every_round, const llvm::SCEV* rounds,
                  llvm::Instruction* front) {
    auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scev_.getSCEV(check->access.address));
    if (walk == nullptr || walk->getLoop() != loop || !walk->isAffine()) return;
    const llvm::SCEV* step = walk->getStepRecurrence(scev_);
    if (llvm::isa<llvm::SCEVConstant>(step) || !scev_.isLoopInvariant(step, loop)) return;
    const llvm::SCEV* count =
        every_round ? scev_.getAddExpr(rounds, scev_.getOne(rounds->getType())) : rounds;
    emit_strided(check, walk->getStart(), step, count, front);
  }

  /// Walkers that visit one row of equally spaced places: the copies that unrolling makes of one access, or
  /// a[i - 1] and a[i + 1] where i grows by two. One that nothing fits is a row by itself.
  struct Row {
    int64_t spacing;
    std::vector<Walker*> walkers;  // by offset
  };
  std::vector<Row> rows(Group& group, bool write) {
    std::vector<std::vector<Walker*>> alike;
    for (Walker& walker : group.walkers) {
      if (walker.check->before == nullptr || walker.check->access.write != write) continue;
      auto same = llvm::find_if(alike, [&](const std::vector<Walker*>& others) {
        return others.front()->check->access.size == walker.check->access.size &&
               others.front()->variable == walker.variable && line(others.front()) == line(&walker);
      });
      if (same == alike.end()) same = alike.insert(alike.end(), std::vector<Walker*>());
      same->push_back(&walker);
    }
    std::vector<Row> result;
    int64_t step = std::abs(group.step);
    for (std::vector<Walker*>& walkers : alike) {
      llvm::stable_sort(walkers, [](Walker* a, Walker* b) { return a->offset < b->offset; });
      if (int64_t spacing = spacing_of(walkers, step)) {
        result.push_back({spacing, walkers});
        continue;
      }
      for (Walker* walker : walkers) result.push_back({step, {walker}});
    }
    return result;
  }

  /// The distance from each walker to the next, if it is one and the rounds join without a gap; else 0.
  static int64_t spacing_of(const std::vector<Walker*>& walkers, int64_t step) {
    if (walkers.size() < 2) return step;
    int64_t spacing = walkers[1]->offset - walkers[0]->offset;
    if (spacing <= 0 || step % spacing != 0 || static_cast<int64_t>(walkers.size()) < step / spacing)
      return 0;
    for (size_t i = 2; i < walkers.size(); ++i) {
      if (walkers[i]->offset - walkers[i - 1]->offset != spacing) return 0;
    }
    return spacing;
  }

  static unsigned line(Walker* walker) {
    const llvm::DebugLoc& location = walker->check->access.inst->getDebugLoc();
    return location ? location.getLine() : 0;
  }

  /// What is left of a group has gaps. A write covers the reads of the same bytes.
  void make_strides(Group& group, bool write, const llvm::SCEV* rounds, llvm::Instruction* front) {
    llvm::Type* i64 = llvm::Type::getInt64Ty(front->getContext());
    auto number = [&](int64_t value) { return scev_.getConstant(i64, static_cast<uint64_t>(value), true); };
    for (Row& row : rows(group, write)) {
      Check* check = row.walkers.front()->check;
      if (check->before == nullptr) continue;  // covered by another row
      int64_t each_round = std::abs(group.step) / row.spacing;
      auto more = static_cast<int64_t>(row.walkers.size()) - each_round;  // than the rounds have
      int64_t first = group.step > 0 ? row.walkers.front()->offset : row.walkers.back()->offset;
      const llvm::SCEV* count = scev_.getMulExpr(rounds, number(each_round));
      if (group.every_round) {
        count = scev_.getAddExpr(count, number(each_round + more));
      } else if (more != 0) {  // nothing at all when no round is completed
        count = scev_.getAddExpr(count, scev_.getMulExpr(scev_.getUMinExpr(rounds, number(1)), number(more)));
      }
      const llvm::SCEV* start = scev_.getAddExpr(group.start, number(first));
      const llvm::SCEV* step = number(group.step > 0 ? row.spacing : -row.spacing);
      if (!emit_strided(check, start, step, count, front)) continue;
      for (Walker* walker : row.walkers) {
        walker->check->before = nullptr;
        for (Walker& other : group.walkers) {
          if (other.offset == walker->offset && other.check->access.size <= check->access.size &&
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
  bool add_walker(std::vector<Group>& groups, llvm::Loop* loop, Check* check, bool every_round) {
    auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(scev_.getSCEV(check->access.address));
    if (walk == nullptr || walk->getLoop() != loop || !walk->isAffine()) return false;
    auto* step = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(scev_));
    if (step == nullptr || step->getAPInt().getSignificantBits() > 32 || step->getValue()->isZero())
      return false;
    int64_t bytes = step->getAPInt().getSExtValue();
    Walker walker{check, 0, namer_.name(check->access.inst, check->access.address, check->access.size).name};
    for (Group& group : groups) {
      if (group.step != bytes || group.every_round != every_round) continue;
      auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(scev_.getMinusSCEV(walk->getStart(), group.start));
      if (distance == nullptr || distance->getAPInt().getSignificantBits() > 32) continue;
      walker.offset = distance->getAPInt().getSExtValue();
      group.walkers.push_back(walker);
      return true;
    }
    groups.push_back({walk->getStart(), bytes, every_round, {walker}});
    return true;
  }

  /// Joins neighbours that together leave no gap. Different variables, and lines where not needed, stay apart
  /// so that a report names the right one.
  std::vector<Chunk> chunks(Group& group, bool write) {
    std::vector<Walker*> sorted;
    for (Walker& walker : group.walkers) {
      if (walker.check->before != nullptr && walker.check->access.write == write) sorted.push_back(&walker);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](Walker* a, Walker* b) { return a->offset < b->offset; });
    std::vector<Chunk> result;
    for (Walker* walker : sorted) {
      int64_t end = walker->offset + static_cast<int64_t>(walker->check->access.size);
      bool joined = false;
      for (Chunk& chunk : result) {
        Walker* last = chunk.walkers.back();
        if (walker->offset > chunk.end || last->variable != walker->variable) continue;
        bool whole =
            chunk.end - chunk.begin >= std::abs(group.step) && end - walker->offset >= std::abs(group.step);
        if (whole && line(last) != line(walker)) continue;
        chunk.end = std::max(chunk.end, end);
        chunk.walkers.push_back(walker);
        joined = true;
        break;
      }
      if (!joined) result.push_back({walker->offset, end, {walker}});
    }
    std::erase_if(result, [&](const Chunk& chunk) { return chunk.end - chunk.begin < std::abs(group.step); });
    return result;
  }

  void make_ranges(Group& group, bool write, const llvm::SCEV* rounds, llvm::Instruction* front) {
    std::vector<Chunk> made = chunks(group, write);
    std::erase_if(made, [&](const Chunk& chunk) { return !emit(group, chunk, rounds, front); });
    if (!write) return;
    for (Walker& walker : group.walkers) {
      for (const Chunk& chunk : made) {
        int64_t end = walker.offset + static_cast<int64_t>(walker.check->access.size);
        if (walker.offset >= chunk.begin && end <= chunk.end) walker.check->before = nullptr;
      }
    }
  }

  bool emit(const Group& group, const Chunk& chunk, const llvm::SCEV* rounds, llvm::Instruction* front) {
    llvm::Type* i64 = llvm::Type::getInt64Ty(front->getContext());
    auto number = [&](int64_t value) { return scev_.getConstant(i64, static_cast<uint64_t>(value), true); };
    int64_t step = std::abs(group.step);
    int64_t length = chunk.end - chunk.begin;
    // `rounds` counts jumps back: one less than the rounds begun, and exactly the rounds completed.
    const llvm::SCEV* bytes = scev_.getMulExpr(rounds, number(step));
    const llvm::SCEV* last = rounds;  // how many steps the first address is from the last one
    if (group.every_round) {
      bytes = scev_.getAddExpr(bytes, number(length));
    } else {
      // Nothing at all when no round is completed.
      const llvm::SCEV* any = scev_.getUMinExpr(rounds, number(1));
      bytes = scev_.getAddExpr(bytes, scev_.getMulExpr(any, number(length - step)));
      last = scev_.getMinusSCEV(rounds, number(1));
    }
    if (auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(bytes)) {
      if (constant->getAPInt().ult(kMinRangeBytes)) return false;
    }
    const llvm::SCEV* start = scev_.getAddExpr(group.start, number(chunk.begin));
    if (group.step < 0) start = scev_.getAddExpr(start, scev_.getMulExpr(last, number(group.step)));
    if (!expander_.isSafeToExpandAt(start, front) || !expander_.isSafeToExpandAt(bytes, front)) return false;

    Check range = *chunk.walkers.front()->check;
    range.access.size = 0;
    range.before = front;
    range.range_start = expander_.expandCodeFor(start, llvm::PointerType::get(front->getContext(), 0), front);
    range.range_bytes = expander_.expandCodeFor(bytes, i64, front);
    ranges_.push_back(range);
    for (Walker* walker : chunk.walkers) walker->check->before = nullptr;
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
