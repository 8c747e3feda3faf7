// SPDX-License-Identifier: Apache-2.0
#include "memory/testing/reference.h"

#include <algorithm>
#include <cstring>

namespace duress::memory::testing {

Reference::Reference() : before_(1), moments_(1) {
  moments_[0].bytes.fill(0);
  moments_[0].writers.fill(kInitial);
  for (std::vector<EventId>& writes : writes_to_) writes.push_back(kInitial);
}

Reference::Events Reference::up_to(EventId event) const {
  Events events = before_[event];
  events.set(event);
  return events;
}

Reference::EventId Reference::event(u32 thread, const Events& also) {
  if (thread >= last_.size()) last_.resize(thread + 1, kInitial);
  before_.push_back(up_to(last_[thread]) | also);
  return last_[thread] = static_cast<EventId>(before_.size() - 1);
}

Reference::EventId Reference::unseen_event() {
  before_.push_back(up_to(kInitial));
  return static_cast<EventId>(before_.size() - 1);
}

void Reference::fork(EventId creator_event, u32 thread) {
  event(thread, up_to(creator_event));
}

void Reference::write(EventId event, u32 offset, u32 size, const u8* bytes) {
  moments_.push_back(moments_.back());
  for (u32 i = 0; i < size; ++i) {
    moments_.back().bytes[offset + i] = bytes[i];
    moments_.back().writers[offset + i] = event;
    writes_to_[offset + i].push_back(event);
  }
}

void Reference::forget(u32 offset, u32 size) {
  for (u32 i = 0; i < size; ++i) since_[offset + i] = static_cast<u32>(moments_.size() - 1);
}

bool Reference::legal(EventId read, u32 offset, EventId writer) const {
  for (EventId c : writes_to_[offset]) {
    if (c > writer && c < read && before_[c][writer] && before_[read][c]) return false;
  }
  return true;
}

bool Reference::all_legal(EventId read, const Moment& moment, u32 offset, u32 size) const {
  for (u32 i = 0; i < size; ++i) {
    if (!legal(read, offset + i, moment.writers[offset + i])) return false;
  }
  return true;
}

u32 Reference::first_moment(u32 offset, u32 size) const {
  return *std::max_element(since_.begin() + offset, since_.begin() + offset + size);
}

bool Reference::explained(EventId read, u32 offset, u32 size, const u8* bytes) const {
  for (u32 i = first_moment(offset, size); i < moments_.size(); ++i) {
    const Moment& m = moments_[i];
    if (memcmp(m.bytes.data() + offset, bytes, size) == 0 && all_legal(read, m, offset, size)) return true;
  }
  return false;
}

std::set<u8> Reference::legal_bytes(EventId read, u32 offset) const {
  std::set<u8> bytes;
  for (u32 i = since_[offset]; i < moments_.size(); ++i) {
    if (legal(read, offset, moments_[i].writers[offset])) bytes.insert(moments_[i].bytes[offset]);
  }
  return bytes;
}

std::set<u64> Reference::legal_values(EventId read, u32 offset, u32 size) const {
  std::set<u64> values;
  for (u32 i = first_moment(offset, size); i < moments_.size(); ++i) {
    if (!all_legal(read, moments_[i], offset, size)) continue;
    u64 value = 0;
    memcpy(&value, moments_[i].bytes.data() + offset, size);
    values.insert(value);
  }
  return values;
}

}  // namespace duress::memory::testing
