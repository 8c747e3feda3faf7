// SPDX-License-Identifier: Apache-2.0
#include "rc11_memory.h"

namespace duress::exhaustive::testing {

using memory::Rc11Model;
using What = Instruction::What;

Rc11Memory::Rc11Memory(std::size_t threads, u32 locations)
    : threads_(arena_),
      model_(arena_, threads_, {.fair_after = 0, .buckets = 4}),
      memory_(locations),
      released_(locations) {
  for (std::size_t i = 0; i < threads; ++i) threads_.start();
}

Rc11Memory::~Rc11Memory() {
  for (ReleaseClock& clock : released_) clock.clear(arena_);
  for (auto& [primitive, clock] : clocks_) clock.clear(arena_);
}

bool Rc11Memory::access(u32 thread, const Instruction& now, memory::Rc11Picker& picker) {
  ThreadClock& who = threads_[thread];
  u64& held = memory_[now.location];
  Rc11Model::Object object = {location(now.location), 8, SiteId{1}, released_[now.location]};
  if (now.what == What::kLoad) {
    model_.load(who, object, now.order, held, picker);
    return false;
  }
  if (now.what == What::kStore) {
    if (model_.store(who, object, now.order, held, now.value, picker).newest) held = now.value;
    return true;
  }
  memory::testing::InstructionUpdate change(now);
  Rc11Model::Updated updated = model_.update(who, object, now.order, now.failure, held, change, picker);
  if (updated.wrote && updated.written.newest) held = static_cast<u64>(updated.value);
  return updated.wrote;
}

OpKind kind_of(const Instruction& instruction) {
  switch (instruction.what) {
    case What::kLoad:
      return OpKind::kAtomicRead;
    case What::kStore:
      return OpKind::kAtomicWrite;
    case What::kFence:
      return OpKind::kFence;
    case What::kAcquire:
      return OpKind::kLock;
    case What::kRelease:
      return OpKind::kUnlock;
    default:
      return OpKind::kAtomicRmw;
  }
}

std::optional<u32> index_of_age(const memory::Legal& legal, u32 age) {
  for (u32 i = 0; i < legal.count; ++i) {
    if (legal.values[i].age == age) return i;
  }
  return std::nullopt;
}

std::optional<u32> index_of_age(u64 legal, u32 age) {
  u32 i = 0;
  for (u64 rest = legal; rest; rest &= rest - 1, ++i) {
    if (static_cast<u32>(__builtin_ctzll(rest)) == age) return i;
  }
  return std::nullopt;
}

}  // namespace duress::exhaustive::testing
