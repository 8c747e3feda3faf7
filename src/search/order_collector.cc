// SPDX-License-Identifier: Apache-2.0
#include "search/order_collector.h"

#include <algorithm>
#include <tuple>

#include "event/operation.h"

namespace duress::search {
namespace {

using report::CoveragePlace;

std::string name_of(const CoveragePlace& place) {
  return place.frame.file + '\1' + std::to_string(place.frame.line) + '\1' +
         std::to_string(place.frame.column) + '\1' + place.frame.function + '\1' + place.operation + '\1' +
         place.variable;
}

enum class Kind { kNone, kAccess, kLock, kCondition };
constexpr const char* kKindWords[] = {"", "access", "lock", "condition"};

Kind kind_of(const std::string& operation) {
  for (OpKind kind :
       {OpKind::kRead, OpKind::kWrite, OpKind::kAtomicRead, OpKind::kAtomicWrite, OpKind::kAtomicRmw}) {
    if (operation == word_of(kind)) return Kind::kAccess;
  }
  for (OpKind kind : {OpKind::kLock, OpKind::kReadLock}) {
    if (operation == word_of(kind)) return Kind::kLock;
  }
  for (OpKind kind : {OpKind::kWait, OpKind::kSignal, OpKind::kBroadcast}) {
    if (operation == word_of(kind)) return Kind::kCondition;
  }
  return Kind::kNone;
}

/// Whether the order of two operations on one object says anything.
bool matters(const std::string& a, const std::string& b) {
  const Kind kind = kind_of(a);
  if (kind != kind_of(b)) return false;
  auto is_read = [](const std::string& word) {
    return word == word_of(OpKind::kRead) || word == word_of(OpKind::kAtomicRead) ||
           word == word_of(OpKind::kReadLock);
  };
  if (kind == Kind::kCondition) return (a == word_of(OpKind::kWait)) != (b == word_of(OpKind::kWait));
  return !is_read(a) || !is_read(b);
}

/// Memory that was freed and allocated again is another variable.
bool same_variable(const CoveragePlace& a, const CoveragePlace& b) {
  return a.variable.empty() || b.variable.empty() || a.variable == b.variable;
}

/// An operation of a thread on an object; of equal ones the last.
struct Touch {
  int strand = 0;
  std::size_t step = 0;
  u32 place = 0;
  std::string operation;
};

/// Which threads there are at a step of a run.
class Lives {
 public:
  /// False: the step says nothing about orders.
  bool take(const finding::Step& step, std::size_t number) {
    if (step.operation == word_of(OpKind::kCreate)) born_.push_back(number);
    if (step.joins >= 0) joined_.insert(step.joins);
    // A wait is a step when it begins and another when it ends.
    bool waits = step.operation == word_of(OpKind::kWait);
    bool ends = waits && waiting_.count(step.strand) != 0;
    if (waits && !ends) waiting_.insert(step.strand);
    if (!waits || ends) waiting_.erase(step.strand);
    return kind_of(step.operation) != Kind::kNone && !ends;
  }
  /// Whether both were there when `first` did its step, and still are.
  bool overlap(int first, std::size_t step, int second) const {
    auto created = static_cast<std::size_t>(second);  // threads are numbered in the order of their creation
    return joined_.count(first) == 0 &&
           (created == 0 || created > born_.size() || born_[created - 1] <= step);
  }

 private:
  std::vector<std::size_t> born_;  // of thread 1, 2, ...
  std::set<int> joined_, waiting_;
};

}  // namespace

u32 OrderCollector::number_of(const CoveragePlace& place) {
  auto [it, fresh] = by_name_.try_emplace(name_of(place), static_cast<u32>(places_.size()));
  if (fresh) places_.push_back(place);
  return it->second;
}

/// Programs are loaded at the same addresses in every run, so a place need be named only once for an
/// object.
u32 OrderCollector::number_of(const finding::ProcessLog& process, const finding::Step& step,
                              finding::Names& names) {
  std::string address = step.operation + '\1' + std::to_string(step.place);
  if (step.site)
    address += '\1' + std::to_string(step.site->module) + ',' + std::to_string(step.site->index) + '\1' +
               std::to_string(step.object);
  auto [it, fresh] = by_address_.try_emplace(address, 0);
  if (!fresh) return it->second;
  CoveragePlace named;
  named.operation = step.operation;
  if (step.site) {
    finding::NamedSite site = names.site_at(process, *step.site, step.object);
    named.frame = std::move(site.frame);
    named.variable = std::move(site.variable);
  } else {
    std::vector<finding::Frame> frames = names.stack(process, {step.place});
    if (!frames.empty()) named.frame = frames[finding::blamed_frame(frames)];
  }
  return it->second = number_of(named);
}

OrderCollector::Orders OrderCollector::read(const finding::RunLogs& logs, finding::Names& names) {
  Orders orders;
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr) return orders;
  Lives lives;
  std::map<finding::Address, std::vector<Touch>> objects;
  for (std::size_t i = 0; i < logs.steps.size(); ++i) {
    const finding::Step& step = logs.steps[i];
    if (!lives.take(step, i) || step.object == 0) continue;
    const u32 place = number_of(*process, step, names);
    std::vector<Touch>& touches = objects[step.object];
    Touch* own = nullptr;
    for (Touch& touch : touches) {
      if (touch.strand == step.strand) {
        if (touch.place == place) own = &touch;
      } else if (matters(touch.operation, step.operation) &&
                 lives.overlap(touch.strand, touch.step, step.strand) &&
                 same_variable(places_[touch.place], places_[place])) {
        orders.insert({touch.place, place});
      }
    }
    if (own == nullptr) own = &touches.emplace_back();
    *own = {step.strand, i, place, step.operation};
  }
  return orders;
}

void OrderCollector::add(const Orders& orders) {
  ++read_;
  for (const std::pair<u32, u32>& order : orders) ++runs_[order];
}

void OrderCollector::restore(const report::Coverage& coverage) {
  read_ = coverage.runs;
  for (const report::CoveragePair& pair : coverage.pairs) {
    u32 first = number_of(pair.first), second = number_of(pair.second);
    if (pair.forward != 0) runs_[{first, second}] = pair.forward;
    if (pair.backward != 0) runs_[{second, first}] = pair.backward;
  }
}

report::Coverage OrderCollector::coverage() const {
  report::Coverage coverage;
  coverage.runs = read_;
  for (const auto& [order, runs] : runs_) {
    auto [earlier, later] = order;
    bool turned = places_[later].order() < places_[earlier].order();
    auto opposite = runs_.find({later, earlier});
    if (turned && opposite != runs_.end()) continue;  // it comes with the other one
    report::CoveragePair pair;
    pair.kind = kKindWords[static_cast<int>(kind_of(places_[earlier].operation))];
    pair.first = places_[turned ? later : earlier];
    pair.second = places_[turned ? earlier : later];
    (turned ? pair.backward : pair.forward) = runs;
    if (!turned && earlier != later && opposite != runs_.end()) pair.backward = opposite->second;
    coverage.pairs.push_back(std::move(pair));
  }
  std::sort(coverage.pairs.begin(), coverage.pairs.end(), report::comes_first);
  return coverage;
}

}  // namespace duress::search
