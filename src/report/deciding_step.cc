// SPDX-License-Identifier: Apache-2.0
#include "report/deciding_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace duress::report {
namespace {

using finding::LaneEvent;
using finding::Lanes;
using finding::LaneValue;
using finding::Step;

using Clock = std::map<int, std::size_t>;  // strand → how many of its steps are known

bool is_access(const Step& step) {
  static const std::set<std::string> words = {"read", "write", "atomic read", "atomic write",
                                              "atomic update"};
  return words.count(step.operation) != 0;
}

bool only_reads(const Step& step) {
  return step.operation == "read" || step.operation == "atomic read";
}

bool overlaps(const Step& a, const Step& b) {
  return a.object < b.object + std::max<std::uint64_t>(1, b.size) &&
         b.object < a.object + std::max<std::uint64_t>(1, a.size);
}

/// What each step knows of the others: along its thread, along the arrows of synchronisation, and from the
/// store to the atomic load that read it.
class Order {
 public:
  Order(const std::vector<Step>& steps, const Lanes& lanes) {
    std::map<int, Clock> now;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Clock& own = now[steps[i].strand];
      const LaneEvent& event = lanes.events[i];
      if (event.after >= 0) join(own, clocks_[static_cast<std::size_t>(event.after)]);
      bool atomic = steps[i].operation.rfind("atomic", 0) == 0;
      if (atomic && event.from >= 0 && static_cast<std::size_t>(event.from) < i)
        join(own, clocks_[static_cast<std::size_t>(event.from)]);
      positions_.push_back(++own[steps[i].strand]);
      clocks_.push_back(own);
    }
  }

  /// Whether step `a` happens before the later step `b`.
  bool before(const std::vector<Step>& steps, std::size_t a, std::size_t b) const {
    auto known = clocks_[b].find(steps[a].strand);
    return known != clocks_[b].end() && known->second >= positions_[a];
  }

 private:
  static void join(Clock& into, const Clock& from) {
    for (const auto& [strand, count] : from) into[strand] = std::max(into[strand], count);
  }

  std::vector<Clock> clocks_;
  std::vector<std::size_t> positions_;
};

std::string place_of(const Lanes& lanes, std::size_t index) {
  const finding::LanePlace& place = lanes.places[lanes.events[index].place];
  return place.file.empty() ? "" : fmt::format(" at {}:{}", place.file, place.line);
}

std::string object_of(const Lanes& lanes, std::size_t index) {
  const std::string& name = lanes.words[lanes.events[index].object];
  return name.empty() ? "memory" : name;
}

std::string infinitive(const Step& step) {
  if (step.operation == "atomic update") return "update";
  return only_reads(step) ? "read" : "write";
}

std::string past(const Step& step) {
  if (step.operation == "atomic update") return "updated";
  return only_reads(step) ? "read" : "wrote";
}

std::optional<DecidingStep> replaced_load(const std::vector<Step>& steps, const Lanes& lanes) {
  for (std::size_t i = steps.size(); i-- > 0;) {
    const LaneEvent& event = lanes.events[i];
    if (event.how == LaneValue::kNewest) continue;
    std::string text = fmt::format("T{} is about to read {}{}; it gets {}, memory holds {}", steps[i].strand,
                                   object_of(lanes, i), place_of(lanes, i), lanes.words[event.value],
                                   lanes.words[event.newest]);
    return DecidingStep{steps[i].number, steps[i].strand, std::move(text)};
  }
  return std::nullopt;
}

/// How much a pair tells; 0: it is none.
int worth(const std::vector<Step>& steps, const Order& order, const std::map<int, std::size_t>& last,
          std::size_t a, std::size_t b) {
  if (steps[a].strand == steps[b].strand || !overlaps(steps[a], steps[b])) return 0;
  if (only_reads(steps[a]) && only_reads(steps[b])) return 0;
  if (order.before(steps, a, b)) return 1;
  return last.at(steps[a].strand) > b ? 3 : 2;
}

std::optional<DecidingStep> conflicting_access(const std::vector<Step>& steps, const Lanes& lanes) {
  Order order(steps, lanes);
  std::map<int, std::size_t> last;  // step of each strand
  std::vector<std::size_t> accesses;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    last[steps[i].strand] = i;
    if (is_access(steps[i])) accesses.push_back(i);
  }
  int best = 0;
  std::size_t first = 0, second = 0;
  for (std::size_t b = accesses.size(); b-- > 0 && best < 3;) {
    for (std::size_t a = b; a-- > 0 && best < 3;) {
      int found = worth(steps, order, last, accesses[a], accesses[b]);
      if (found <= best) continue;
      best = found;
      first = accesses[a];
      second = accesses[b];
    }
  }
  if (best == 0) return std::nullopt;
  std::string text = fmt::format("T{} is about to {} {}{}; T{} {} it{}", steps[second].strand,
                                 infinitive(steps[second]), object_of(lanes, second), place_of(lanes, second),
                                 steps[first].strand, past(steps[first]), place_of(lanes, first));
  return DecidingStep{steps[second].number, steps[second].strand, std::move(text)};
}

}  // namespace

std::optional<DecidingStep> deciding_step(const finding::RunLogs& logs, const Lanes& lanes) {
  constexpr std::size_t kMost = 5000;  // all pairs are looked at, and each step has a clock
  if (logs.stuck || lanes.skipped != 0 || lanes.events.size() < logs.steps.size()) return std::nullopt;
  if (std::optional<DecidingStep> load = replaced_load(logs.steps, lanes)) return load;
  return logs.steps.size() > kMost ? std::nullopt : conflicting_access(logs.steps, lanes);
}

}  // namespace duress::report
