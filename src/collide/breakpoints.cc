// SPDX-License-Identifier: Apache-2.0
#include "collide/breakpoints.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace duress::collide {
namespace {

constexpr unsigned char kInt3 = 0xcc;
constexpr Address kPage = 4096;
constexpr std::size_t kLongest = 16;

/// Whether the bytes at `address` are `instruction`, with a breakpoint on it if `armed`.
bool holds(const TargetMemory& memory, Address address, const std::string& instruction, bool armed) {
  char now[kLongest];
  if (instruction.size() > kLongest ||
      memory.read(address, now, instruction.size()) != static_cast<long>(instruction.size()))
    return false;
  if (static_cast<unsigned char>(now[0]) != (armed ? kInt3 : static_cast<unsigned char>(instruction[0])))
    return false;
  return std::memcmp(now + 1, instruction.data() + 1, instruction.size() - 1) == 0;
}

}  // namespace

bool Breakpoints::arm(Address address, const std::string& instruction) {
  if (instruction.empty() || armed(address) || !holds(memory_, address, instruction, false)) return false;
  // Known before it is written: a thread may run into it at once.
  instructions_[address] = instruction;
  if (guard_ != nullptr && guarded_ == 0) guarded_ = guard_->add_memory(memory_.fd());
  int place = guard_ != nullptr ? guard_->add(guarded_, address, instruction) : -1;
  if (!memory_.write(address, &kInt3, 1)) {
    if (guard_ != nullptr) guard_->remove(place);
    return false;
  }
  armed_.emplace(address, place);
  return true;
}

bool Breakpoints::disarm(Address address) {
  auto armed = armed_.find(address);
  if (armed == armed_.end()) return false;
  int place = armed->second;
  armed_.erase(armed);
  auto it = instructions_.find(address);
  bool there = holds(memory_, address, it->second, true);
  bool gone = there && memory_.write(address, it->second.data(), 1);
  if (!there) instructions_.erase(it);
  if (guard_ != nullptr) guard_->remove(place);
  return gone;
}

void Breakpoints::disarm_all() {
  while (!armed_.empty()) disarm(armed_.begin()->first);
}

void Breakpoints::forget(Address begin, Address end) {
  for (auto it = instructions_.begin(); it != instructions_.end();) {
    if (it->first >= begin && it->first < end) {
      if (auto armed = armed_.find(it->first); armed != armed_.end()) {
        if (guard_ != nullptr) guard_->remove(armed->second);
        armed_.erase(armed);
      }
      it = instructions_.erase(it);
    } else {
      ++it;
    }
  }
}

bool Breakpoints::late(Address address) const {
  auto it = instructions_.find(address);
  return it != instructions_.end() && !armed(address) && holds(memory_, address, it->second, false);
}

void Breakpoints::clean(const TargetMemory& copy) const {
  // By page, because the list holds all that were ever armed: the copy was made at a moment that is not
  // known.
  std::vector<Address> addresses;
  for (const auto& [address, instruction] : instructions_) addresses.push_back(address);
  std::sort(addresses.begin(), addresses.end());
  std::vector<unsigned char> page(kPage);
  Address loaded = 0;
  bool good = false;
  for (Address address : addresses) {
    if (Address start = address & ~(kPage - 1); start != loaded || loaded == 0) {
      loaded = start;
      good = copy.read(start, page.data(), kPage) == static_cast<long>(kPage);
    }
    if (!good || page[address - loaded] != kInt3) continue;
    const std::string& instruction = instructions_.at(address);
    if (holds(copy, address, instruction, true)) copy.write(address, instruction.data(), 1);
  }
}

}  // namespace duress::collide
