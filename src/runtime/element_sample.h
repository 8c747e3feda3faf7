// SPDX-License-Identifier: Apache-2.0
//
// Arrays have many elements, and any of them shows a race: of each array variable the first elements that
// are touched are attacked, and a sample of the others, chosen by the distance from the first.
// JUMBLE tracks two indexes of each array. A replay asks in the same order and gets the same answers,
// wherever the array is.
#pragma once

#include <atomic>

#include "base/types.h"

namespace duress {

/// Threads: any.
class ElementSample {
 public:
  static constexpr u32 kFirst = 64;   // words of each variable that are always taken
  static constexpr u32 kOneIn = 128;  // of the others
  static constexpr u32 kMostVariables = 32;
  static constexpr u32 kPeriod = 1 << 16;  // words after which the same ones may be taken again

  /// `base`: the first element that was touched. Whether the word has the place of one that is taken: in
  /// every kPeriod words the same ones. Which ones changes from line to line of a matrix.
  static bool in_pattern(uptr address, uptr base) {
    u64 word = (address - base) / 8 % kPeriod;
    return (word ^ word / kOneIn ^ word / (kOneIn * kOneIn)) % kOneIn == 0;
  }
  /// Whether those that are in the pattern are taken there. Far from the base there are fewer, so that an
  /// array has one or two thousand however large it is, as JUMBLE has tracked.
  static bool near(uptr address, uptr base) {
    u64 periods = (address > base ? address - base : base - address) / 8 / kPeriod;
    return (periods & (periods - 1)) == 0 && (periods & 0xaaaaaaaaaaaaaaaa) == 0;  // 0 or a power of 4
  }
  static bool in_sample(uptr address, uptr base) { return in_pattern(address, base) && near(address, base); }

  struct Answer {
    bool taken;
    uptr base;  // if not 0: of the elements that were not taken yet, in_sample() decides alone from now on
  };
  /// Whether the element at that address is attacked. Once it is, it stays so.
  Answer ask(u32 variable, uptr address) {
    address &= ~uptr{7};
    Elements* elements = of(variable);
    if (!elements) return {false, 0};  // more variables than are attacked at once
    uptr base = elements->base.load(std::memory_order_relaxed);
    if (!base && elements->base.compare_exchange_strong(base, address, std::memory_order_relaxed))
      base = address;
    return elements->ask(address, base);
  }

 private:
  struct Elements {
    std::atomic<u32> variable{0}, count{0};
    std::atomic<uptr> base{0};
    std::atomic<u64> words[2 * kFirst] = {};

    Answer ask(uptr address, uptr start) {
      if (in_sample(address, start)) return {true, 0};
      for (u32 i = 0; i < 2 * kFirst; ++i) {
        std::atomic<u64>& slot = words[(address / 8 + i) % (2 * kFirst)];
        u64 held = slot.load(std::memory_order_relaxed);
        if (held == address) return {true, 0};
        if (held != 0) continue;
        if (count.load(std::memory_order_relaxed) >= kFirst) break;
        if (slot.compare_exchange_strong(held, address, std::memory_order_relaxed)) {
          count.fetch_add(1, std::memory_order_relaxed);
          return {true, 0};
        }
        if (held == address) return {true, 0};
      }
      return {false, start};
    }
  };

  Elements* of(u32 variable) {
    for (Elements& elements : elements_) {
      u32 held = elements.variable.load(std::memory_order_relaxed);
      if (held == variable) return &elements;
      if (held == 0 &&
          (elements.variable.compare_exchange_strong(held, variable, std::memory_order_relaxed) ||
           held == variable))
        return &elements;
    }
    return nullptr;
  }

  Elements elements_[kMostVariables];
};

}  // namespace duress
