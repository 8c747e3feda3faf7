// SPDX-License-Identifier: Apache-2.0
#include "campaign/weaken.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace duress::campaign {
namespace {

using trail::AtomicKind;

// As the compiler numbers them.
constexpr u32 kRelaxed = 0, kAcquire = 2, kRelease = 3, kAcqRel = 4, kSeqCst = 5;
constexpr u32 kTimesMore = 20;  // a weaker program may have so many times more executions

/// One operation of the source: the compiler may have made several of it.
struct Operation {
  AtomicUse first;
  std::vector<AtomicUse> all;
};

std::vector<Operation> by_place(const std::vector<AtomicUse>& uses) {
  std::vector<Operation> operations;
  for (const AtomicUse& use : uses) {
    if (use.place.file.empty()) continue;
    auto same = std::find_if(operations.begin(), operations.end(), [&](const Operation& other) {
      const finding::Frame& place = other.first.place;
      return place.file == use.place.file && place.line == use.place.line &&
             place.column == use.place.column && other.first.kind == use.kind;
    });
    if (same == operations.end()) {
      operations.push_back({use, {use}});
    } else {
      same->all.push_back(use);
    }
  }
  std::sort(operations.begin(), operations.end(), [](const Operation& a, const Operation& b) {
    return std::tie(a.first.place.file, a.first.place.line, a.first.place.column, a.first.kind) <
           std::tie(b.first.place.file, b.first.place.line, b.first.place.column, b.first.kind);
  });
  return operations;
}

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

/// The order of a failing compare-and-exchange whose success has that order: not stronger than it was.
u32 failing(u32 order, u32 was) {
  u32 load = order == kSeqCst ? kSeqCst : order == kAcqRel || order == kAcquire ? kAcquire : kRelaxed;
  return std::min(load, was);
}

std::string found_in(const VerifyResult& result, Names& names) {
  if (!result.racy.empty())
    return "data race on " + names.race(result.racy[0].log, result.racy[0].log.races[0]).variable;
  if (!result.found.empty()) return result.found[0].failure.text;
  return "";
}

}  // namespace

const char* order_text(u32 order) {
  constexpr const char* kTexts[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return order < std::size(kTexts) ? kTexts[order] : "?";
}

const char* kind_text(AtomicKind kind) {
  constexpr const char* kTexts[] = {"load", "store", "update", "compare-exchange", "fence"};
  return raw(kind) < std::size(kTexts) ? kTexts[raw(kind)] : "?";
}

std::vector<Weakened> weaken(const VerifySetup& setup, const VerifyResult& base, Names& names,
                             const std::atomic<bool>& stop,
                             const std::function<void(const Weakened& one)>& tell) {
  std::vector<Weakened> all;
  for (const Operation& operation : by_place(base.atomics)) {
    std::vector<u32> orders = weaker(operation.first.kind, operation.first.success);
    if (orders.empty()) continue;
    Weakened one;
    one.place = operation.first.place;
    one.kind = operation.first.kind;
    one.order = one.sufficient = operation.first.success;
    one.executions = base.interleavings;
    for (u32 order : orders) {
      if (stop) return all;
      // Acquire and release are both weaker than both together; neither is weaker than the other.
      if (one.sufficient == kAcquire && order == kRelease) continue;
      VerifySetup tried = setup;
      tried.keeps = tried.minimise = tried.profile = false;
      tried.worker.folder += "/weaker";
      tried.stops_at_first = true;
      tried.most_executions = base.interleavings * kTimesMore + 2000;
      for (const AtomicUse& use : operation.all) {
        trail::Prediction entry = {};
        entry.strand = raw(trail::AsIf::kOrdered);
        entry.site = raw(use.kind);
        entry.value[0] = use.pc;
        entry.count = order;
        entry.size = failing(order, use.failure);
        tried.as_if.push_back(entry);
      }
      VerifyResult result = Verifier(tried, names, nullptr).run(stop);
      if (result.problem.kind != WorkerProblem::Kind::kNone) return all;
      std::string found = found_in(result, names);
      if (!found.empty()) {
        one.found = std::string(order_text(order)) + ": " + found;
        bool both = operation.first.kind != AtomicKind::kLoad && operation.first.kind != AtomicKind::kStore;
        if (both && order == kAcquire && one.sufficient >= kAcqRel) continue;  // release may do
        break;
      }
      if (!result.complete) {
        one.bounded = true;
        break;
      }
      one.sufficient = order;
      one.executions = result.interleavings;
      one.found.clear();
    }
    tell(one);
    all.push_back(one);
  }
  return all;
}

}  // namespace duress::campaign
