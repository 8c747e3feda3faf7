// SPDX-License-Identifier: Apache-2.0
//
// The smallest kind of fix: no new atomics or locks, only stronger orders for existing atomic operations.
// First all of them; if that helps, as few and as weak orders as suffice.
#include <algorithm>

#include "repair/orders.h"
#include "repair/proposal.h"

namespace duress::repair {
namespace {

using trail::AtomicKind;

constexpr u64 kProfiled = 500;            // executions after which the operations are taken to be known
constexpr std::size_t kMostChanged = 24;  // operations

/// An operation with another order than in the source.
struct Changed {
  AtomicOperation operation;
  u32 order = 0;

  /// Where a compare-and-exchange fails: not weaker than it is written.
  u32 failing() const { return std::max(load_order(order), operation.first.failure); }
};

/// The least order that is as strong as both.
u32 both(u32 a, u32 b) {
  constexpr u32 kConsume = 1;  // is acquire with every compiler
  a = a == kConsume ? kAcquire : a;
  if (a == b) return a;
  if (a == kSeqCst || b == kSeqCst) return kSeqCst;
  if (a == kRelaxed || b == kRelaxed) return std::max(a, b);
  return kAcqRel;
}

/// The strongest of acquire, release and both that the operation can have.
u32 synchronising(AtomicKind kind) {
  return kind == AtomicKind::kLoad ? kAcquire : kind == AtomicKind::kStore ? kRelease : kAcqRel;
}

/// What comes between the order it is written with and `order`, the weakest first.
std::vector<u32> between(AtomicKind kind, u32 written, u32 order) {
  std::vector<u32> steps;
  for (u32 one : {kAcquire, kRelease, kAcqRel}) {
    if (one >= order || both(one, synchronising(kind)) != synchronising(kind)) continue;
    if (u32 step = both(one, written); step < order && step != written && step == one) steps.push_back(step);
  }
  return steps;
}

std::vector<AtomicOperation> operations_of(const verify::VerifySetup& setup,
                                           const verify::VerifyResult& result, finding::Names& names,
                                           const std::atomic<bool>& stop) {
  std::vector<verify::AtomicUse> uses = result.atomics;
  if (!setup.profile_atomics) {
    verify::VerifySetup asked = setup;
    asked.keeps = asked.minimise = false;
    asked.races_suffice = true;
    asked.reads_from = false;
    asked.profile_atomics = true;
    asked.worker.folder += "/orders";
    asked.most_executions = std::min(setup.most_executions, kProfiled);
    uses = verify::Verifier(std::move(asked), names, nullptr).run(stop).atomics;
  }
  // Users cannot change the orders inside a shared pointer.
  std::erase_if(uses, [](const verify::AtomicUse& use) { return use.indirect; });
  return by_place(uses);
}

std::optional<verify::VerifyResult> try_orders(const verify::VerifySetup& setup,
                                               const verify::VerifyResult& base,
                                               const std::vector<Changed>& all, finding::Names& names,
                                               const std::atomic<bool>& stop) {
  verify::VerifySetup tried = setup;
  tried.keeps = tried.minimise = tried.profile_atomics = false;
  tried.stops_at_first = true;
  tried.worker.folder += "/orders";
  // Stronger orders allow no more than there was; but where the race was, the program may have stopped.
  tried.most_executions = std::min(setup.most_executions, base.interleavings * 4 + 2000);
  for (const Changed& one : all) add_order(one.operation, one.order, one.failing(), tried.edits);
  verify::VerifyResult result = verify::Verifier(std::move(tried), names, nullptr).run(stop);
  bool good = result.problem.kind == exec::WorkerProblem::Kind::kNone && result.complete &&
              result.racy.empty() && result.found.empty();
  return good ? std::optional(std::move(result)) : std::nullopt;
}

std::string text_of(const std::vector<Changed>& all) {
  std::string text = "use ";
  for (std::size_t i = 0; i < all.size(); ++i) {
    const verify::AtomicUse& use = all[i].operation.first;
    text += i == 0 ? "" : i + 1 < all.size() ? ", " : " and ";
    text += std::string(order_text(all[i].order)) + " for the " + kind_text(use.kind) + " at " +
            place_text(use.place);
  }
  return text;
}

bool make_edits(Advice& advice, std::vector<Changed> all) {
  // From the end, so that places stay where they are.
  std::reverse(all.begin(), all.end());
  for (const Changed& one : all) {
    const finding::Frame& place = one.operation.first.place;
    FileEdit* edit = edit_of(advice, place.file);
    const char* failing = one.operation.first.kind == AtomicKind::kCompare ? order_text(one.failing()) : "";
    if (edit == nullptr || !change_order(*edit, place.line, place.column, order_text(one.order), failing))
      return false;
  }
  return true;
}

}  // namespace

std::optional<Advice> advise_orders(const verify::VerifySetup& setup, const verify::VerifyResult& result,
                                    finding::Names& names, const std::atomic<bool>& stop) {
  std::vector<AtomicOperation> operations = operations_of(setup, result, names, stop);
  std::vector<Changed> all;
  std::optional<verify::VerifyResult> tried;
  for (u32 least : {kAcqRel, kSeqCst}) {
    // Races and what is sequentially consistent do not depend on more than acquire and release.
    if (least == kSeqCst && setup.model == ModelId::kSc) break;
    all.clear();
    for (const AtomicOperation& operation : operations) {
      AtomicKind kind = operation.first.kind;
      u32 order = both(operation.first.success, least == kSeqCst ? kSeqCst : synchronising(kind));
      if (order != operation.first.success) all.push_back({operation, order});
    }
    if (all.empty() || all.size() > kMostChanged) continue;
    if ((tried = try_orders(setup, result, all, names, stop))) break;
  }
  if (!tried) return std::nullopt;
  for (std::size_t i = 0; i < all.size() && !stop;) {
    Changed was = all[i];
    std::vector<Changed> without = all;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    std::optional<verify::VerifyResult> enough;
    if (!without.empty() && (enough = try_orders(setup, result, without, names, stop))) {
      all = std::move(without);
      tried = std::move(enough);
      continue;
    }
    for (u32 order : between(was.operation.first.kind, was.operation.first.success, was.order)) {
      all[i].order = order;
      if ((enough = try_orders(setup, result, all, names, stop))) {
        tried = std::move(enough);
        break;
      }
      all[i].order = was.order;
    }
    ++i;
  }
  Advice advice;
  advice.kind = "atomic";
  advice.text = text_of(all);
  advice.interleavings = tried->interleavings;
  if (!make_edits(advice, all)) advice.edits.clear();
  std::erase_if(advice.edits, [](const FileEdit& edit) { return edit.before == edit.after; });
  return advice;
}

}  // namespace duress::repair
