// SPDX-License-Identifier: Apache-2.0
#include "repair/weaken.h"

#include <algorithm>

#include "repair/orders.h"

namespace duress::repair {
namespace {

using trail::AtomicKind;

constexpr u32 kTimesMore = 20;  // a weaker program may have this many times more executions

/// Weaker orders, the weakest last.
std::vector<u32> weaker(AtomicKind kind, u32 order) {
  switch (kind) {
    case AtomicKind::kLoad:
      if (order == kSeqCst) return {kAcquire, kRelaxed};
      break;
    case AtomicKind::kStore:
      if (order == kSeqCst) return {kRelease, kRelaxed};
      break;
    default:
      if (order == kSeqCst) return {kAcqRel, kAcquire, kRelease, kRelaxed};
      if (order == kAcqRel) return {kAcquire, kRelease, kRelaxed};
      break;
  }
  if (order == kRelaxed) return {};
  return {kRelaxed};
}

std::string found_in(const verify::VerifyResult& result, finding::Names& names) {
  if (!result.racy.empty())
    return "data race on " + names.race(result.racy[0].log, result.racy[0].log.races[0]).variable;
  if (!result.found.empty()) return result.found[0].failure.text;
  return "";
}

}  // namespace

std::vector<report::OrderEntry> weaken(const verify::VerifySetup& setup, const verify::VerifyResult& base,
                                       finding::Names& names, const std::atomic<bool>& stop,
                                       const std::function<void(const report::OrderEntry& one)>& on_result) {
  std::vector<report::OrderEntry> all;
  for (const AtomicOperation& operation : by_place(base.atomics)) {
    std::vector<u32> orders = weaker(operation.first.kind, operation.first.success);
    if (orders.empty()) continue;
    report::OrderEntry one;
    u32 sufficient = operation.first.success;
    one.place = operation.first.place;
    one.operation = kind_text(operation.first.kind);
    one.order = order_text(sufficient);
    one.executions = base.interleavings;
    for (u32 order : orders) {
      if (stop) return all;
      // Acquire and release are both weaker than both together; neither is weaker than the other.
      if (sufficient == kAcquire && order == kRelease) continue;
      verify::VerifySetup tried = setup;
      tried.keeps = tried.minimise = tried.profile_atomics = false;
      tried.worker.folder += "/weaker";
      tried.stops_at_first = true;
      tried.most_executions = base.interleavings * kTimesMore + 2000;
      // Where it fails, it is not stronger than it was.
      add_order(operation, order, std::min(load_order(order), operation.first.failure), tried.edits);
      verify::VerifyResult result = verify::Verifier(tried, names, nullptr).run(stop);
      if (result.problem.kind != exec::WorkerProblem::Kind::kNone) return all;
      std::string found = found_in(result, names);
      if (!found.empty()) {
        one.with_less = std::string(order_text(order)) + ": " + found;
        bool both = operation.first.kind != AtomicKind::kLoad && operation.first.kind != AtomicKind::kStore;
        if (both && order == kAcquire && sufficient >= kAcqRel) continue;  // release may do
        break;
      }
      if (!result.complete) {
        one.bounded = true;
        break;
      }
      sufficient = order;
      one.executions = result.interleavings;
      one.with_less.clear();
    }
    one.sufficient = order_text(sufficient);
    on_result(one);
    all.push_back(one);
  }
  return all;
}

}  // namespace duress::repair
