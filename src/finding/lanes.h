// SPDX-License-Identifier: Apache-2.0
//
// One execution as reports draw it: a lane per thread, an event per row, and which event explains which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace duress::finding {

struct LaneThread {
  int id = 0;
  std::string name;
};

struct LanePlace {
  std::string file;  // as shown
  std::uint32_t line = 0;
};

/// How the value of a load relates to what memory held.
enum class LaneValue : std::uint8_t { kNewest, kStale, kFuture };

struct LaneEvent {
  static constexpr std::uint32_t kEverybody = 0xffffffffu;

  std::uint32_t thread = 0;  // index in Lanes::threads; kEverybody: the end of the whole program
  // Indexes in Lanes::words, 0: "".
  std::uint32_t operation = 0;  // "read", "lock", ...: the words of event/operation.h; last of all "failure"
  std::uint32_t object = 0;
  std::uint32_t value = 0;
  std::uint32_t newest = 0;  // what memory held, if the load returned something else
  std::uint32_t place = 0;   // index in Lanes::places, 0: not known
  LaneValue how = LaneValue::kNewest;
  std::int32_t from = -1;   // the event that stored the value
  std::int32_t after = -1;  // an event of another thread that happens before this one because of both
};

struct Lanes {
  std::vector<LaneThread> threads;
  std::vector<std::string> words{""};
  std::vector<LanePlace> places{{}};
  std::vector<LaneEvent> events;
  std::uint64_t skipped = 0;         // earlier events that are left out
  std::string note;                  // what is to be known of it; "": nothing
  std::vector<std::string> decided;  // where the values came from that decided the failure, for people
};

/// The last `most` events. Arrows from what is left out are gone.
inline Lanes tail_of(const Lanes& lanes, std::size_t most) {
  if (lanes.events.size() <= most) return lanes;
  Lanes cut = lanes;
  auto dropped = static_cast<std::int32_t>(lanes.events.size() - most);
  cut.skipped += static_cast<std::uint64_t>(dropped);
  cut.events.erase(cut.events.begin(), cut.events.begin() + dropped);
  for (LaneEvent& event : cut.events) {
    event.from = event.from >= dropped ? event.from - dropped : -1;
    event.after = event.after >= dropped ? event.after - dropped : -1;
  }
  return cut;
}

}  // namespace duress::finding
