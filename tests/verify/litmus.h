// SPDX-License-Identifier: Apache-2.0
//
// A litmus test as text: threads are separated by '|', operations by spaces. Wx1r stores 1 to x (release),
// Rxa loads it (acquire), Ux2q adds 2 to it (acq_rel), Fs is a fence (seq_cst); the orders are x relaxed, a,
// r, q, s.
#pragma once

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

namespace litmus {

inline std::atomic<int> memory[3];
inline int seen[16];

inline std::memory_order order_of(char c) {
  switch (c) {
    case 'a':
      return std::memory_order_acquire;
    case 'r':
      return std::memory_order_release;
    case 'q':
      return std::memory_order_acq_rel;
    case 's':
      return std::memory_order_seq_cst;
    default:
      return std::memory_order_relaxed;
  }
}

inline void run_thread(const char* text, int* out) {
  for (; *text && *text != '|'; ++text) {
    char kind = *text;
    if (kind == ' ') continue;
    if (kind == 'F') {
      std::atomic_thread_fence(order_of(*++text));
      continue;
    }
    std::atomic<int>& place = memory[*++text - 'x'];
    int value = kind == 'R' ? 0 : *++text - '0';
    std::memory_order order = order_of(*++text);
    if (kind == 'R') *out++ = place.load(order);
    if (kind == 'W') place.store(value, order);
    if (kind == 'U') *out++ = place.fetch_add(value, order);
  }
}

/// What was read, in the order of the text, '/', and memory at the end.
inline std::string run(const char* text) {
  std::thread threads[4];
  int count = 0, out = 0;
  for (const char* at = text; at; at = std::strchr(at, '|'), at = at ? at + 1 : at) {
    threads[count++] = std::thread(run_thread, at, &seen[out]);
    for (const char* c = at; *c && *c != '|'; ++c) out += *c == 'R' || *c == 'U';
  }
  for (int i = 0; i < count; ++i) threads[i].join();
  std::string line;
  for (int i = 0; i < out; ++i) line += static_cast<char>('0' + seen[i]);
  line += '/';
  for (std::atomic<int>& value : memory)
    line += static_cast<char>('0' + value.load(std::memory_order_relaxed));
  return line;
}

}  // namespace litmus
