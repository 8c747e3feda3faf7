// SPDX-License-Identifier: Apache-2.0
#include "report/decided_by.h"

#include <fmt/format.h>

#include <set>

namespace duress::report {
namespace {

using finding::LaneEvent;
using finding::Lanes;
using finding::LaneValue;

constexpr std::size_t kMostLoads = 3;   // that are explained
constexpr std::size_t kMostSteps = 24;  // of the failing thread that are looked at

bool is_load(const std::string& operation) {
  return operation == "read" || operation == "atomic read" || operation == "atomic update";
}

bool is_store(const std::string& operation) {
  return operation == "write" || operation == "atomic write" || operation == "atomic update";
}

class Slice {
 public:
  Slice(const Lanes& lanes, const std::vector<finding::Address>& objects)
      : lanes_(lanes), objects_(objects) {}

  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    const std::size_t end = lanes_.events.size() - 1;
    const LaneEvent& failure = lanes_.events[end];
    std::set<finding::Address> explained;
    std::size_t seen = 0;
    for (std::size_t i = end; i-- > 0 && seen < kMostSteps && result.size() < kMostLoads;) {
      const LaneEvent& event = lanes_.events[i];
      if (event.thread != failure.thread) continue;
      ++seen;
      if (!is_load(word(event.operation)) || event.object == 0 || event.value == 0) continue;
      if (!explained.insert(objects_[i]).second || !another_stores(i)) continue;
      result.push_back(line_of(i));
    }
    return result;
  }

 private:
  const std::string& word(std::uint32_t index) const { return lanes_.words[index]; }
  std::string thread_of(const LaneEvent& event) const {
    return fmt::format("T{}", lanes_.threads[event.thread].id);
  }
  std::string place_of(const LaneEvent& event) const {
    const finding::LanePlace& place = lanes_.places[event.place];
    return place.file.empty() ? "" : fmt::format(" at {}:{}", place.file, place.line);
  }

  /// Whether the object of a load is any other thread's business.
  bool another_stores(std::size_t load) const {
    for (std::size_t i = 0; i < load; ++i) {
      const LaneEvent& event = lanes_.events[i];
      if (objects_[i] == objects_[load] && event.thread != lanes_.events[load].thread &&
          is_store(word(event.operation)))
        return true;
    }
    return false;
  }

  std::string line_of(std::size_t at) const {
    const LaneEvent& load = lanes_.events[at];
    std::string text = fmt::format("{} read {} → {}{}", thread_of(load), word(load.object), word(load.value),
                                   place_of(load));
    if (load.how == LaneValue::kStale) text += fmt::format(", an old value (newest {})", word(load.newest));
    if (load.from < 0) return text + ": nothing that was recorded had stored it";
    const auto from = static_cast<std::size_t>(load.from);
    const LaneEvent& store = lanes_.events[from];
    text += fmt::format(": {} stored it{}", store.thread == load.thread ? "it" : thread_of(store),
                        place_of(store));
    return text + before_store(from);
  }

  /// What the storing thread had read of the same object, and who stored in between: a lost update.
  std::string before_store(std::size_t from) const {
    const LaneEvent& store = lanes_.events[from];
    if (word(store.operation) == "atomic update") return "";
    std::string between;
    for (std::size_t i = from; i-- > 0;) {
      const LaneEvent& event = lanes_.events[i];
      if (objects_[i] != objects_[from]) continue;
      const std::string& operation = word(event.operation);
      if (event.thread == store.thread) {
        if (!is_load(operation)) return "";
        return fmt::format("; it had read {}{}{}", word(event.value), place_of(event), between);
      }
      if (is_store(operation))
        between =
            fmt::format(", before {} stored {}{}", thread_of(event), word(event.value), place_of(event));
    }
    return "";
  }

  const Lanes& lanes_;
  const std::vector<finding::Address>& objects_;
};

}  // namespace

std::vector<std::string> decided_by(const Lanes& lanes, const std::vector<finding::Address>& objects) {
  if (lanes.events.empty() || objects.size() != lanes.events.size()) return {};
  const LaneEvent& last = lanes.events.back();
  if (lanes.words[last.operation] != "failure" || last.thread == LaneEvent::kEverybody) return {};
  return Slice(lanes, objects).lines();
}

}  // namespace duress::report
