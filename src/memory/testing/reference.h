// SPDX-License-Identifier: Apache-2.0
//
// The declarative rule of PJMM, by brute force: a trace of everything that happened, happens-before as the
// closure of its edges, memory as it was at every moment. No clocks, no buffers, nothing is forgotten.
//
//   A read a may return what write b wrote if b comes before a in the trace, and there is no write c to the
//   same byte with b happens before c happens before a.
#pragma once

#include <array>
#include <bitset>
#include <set>
#include <vector>

#include "base/types.h"

namespace duress::memory::testing {

class Reference {
 public:
  static constexpr u32 kBytes = 64;
  static constexpr u32 kMostEvents = 256;
  using EventId = u32;
  using Events = std::bitset<kMostEvents>;
  static constexpr EventId kInitial = 0;  // wrote all of memory; happens before everything

  Reference();

  /// An event of a thread, after that thread's last one and after what is in `also`.
  EventId event(u32 thread, const Events& also = {});
  /// All that happens before an event, and itself.
  Events up_to(EventId event) const;
  /// An event of nobody we know: concurrent with everything but the initial values.
  EventId unseen_event();

  void write(EventId event, u32 offset, u32 size, const u8* bytes);
  /// What was there before must not be returned any more.
  void forget(u32 offset, u32 size);
  /// Created by `creator` at an event of its.
  void fork(u32 creator_event, u32 thread);

  bool legal(EventId read, u32 offset, EventId writer) const;
  /// True if memory once held these bytes together, each from a write that the read may see.
  bool explained(EventId read, u32 offset, u32 size, const u8* bytes) const;
  /// What a read of one byte may return.
  std::set<u8> legal_bytes(EventId read, u32 offset) const;
  /// All values of at most 8 bytes that memory held at a moment whose writes the read may see.
  std::set<u64> legal_values(EventId read, u32 offset, u32 size) const;

 private:
  struct Moment {
    std::array<u8, kBytes> bytes;
    std::array<EventId, kBytes> writers;
  };
  bool all_legal(EventId read, const Moment& moment, u32 offset, u32 size) const;
  u32 first_moment(u32 offset, u32 size) const;

  std::vector<Events> before_;  // by event: what happens before it, without itself
  std::vector<EventId> last_;   // by thread
  std::vector<Moment> moments_;
  std::array<u32, kBytes> since_{};                       // moment of the last forget, by byte
  std::array<std::vector<EventId>, kBytes> writes_to_{};  // in order of the trace
};

}  // namespace duress::memory::testing
