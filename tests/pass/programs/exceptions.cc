// SPDX-License-Identifier: Apache-2.0
// FLAGS: -std=c++20
// Exceptions through frames with and without handlers, rethrow, destructors on the way, noexcept functions.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static int alive;
struct Guard {
  explicit Guard(int v) : value(v) { ++alive; }
  ~Guard() { --alive; }
  int value;
};

static int dive(int depth, std::vector<int>* trace) {
  Guard guard(depth);
  trace->push_back(depth);
  if (depth == 0) throw std::runtime_error("bottom");
  if (depth == 7) {
    try {
      return dive(depth - 1, trace);
    } catch (const std::logic_error&) {
      return -1;
    }
  }
  if (depth == 4) {
    try {
      return dive(depth - 1, trace);
    } catch (std::exception& e) {
      throw std::out_of_range(std::string("from ") + e.what());
    }
  }
  return dive(depth - 1, trace) + guard.value;
}

struct Throwing {
  Throwing() : a(1), b(std::make_unique<int>(2)) { throw 42; }
  Guard a;
  std::unique_ptr<int> b;
};

static int swallow() noexcept {
  try {
    Throwing t;
    return 0;
  } catch (int v) {
    return v;
  }
}

static void rethrow() {
  try {
    throw std::string("again");
  } catch (...) {
    throw;
  }
}

int main() {
  std::vector<int> trace;
  printf("%d alive %d\n", dive(9, &trace), alive);
  for (int v : trace) printf("%d ", v);
  printf("\n%d alive %d\n", swallow(), alive);
  for (int i = 0; i < 3; ++i) {
    try {
      rethrow();
    } catch (const std::string& s) {
      printf("%s %d\n", s.c_str(), i);
    }
  }
  try {
    dive(5, &trace);
  } catch (const std::out_of_range& e) {
    printf("%s alive %d\n", e.what(), alive);
  }
  std::exception_ptr kept;
  try {
    (void)std::vector<int>(3).at(7);
  } catch (...) {
    kept = std::current_exception();
  }
  try {
    std::rethrow_exception(kept);
  } catch (const std::exception&) {
    puts("kept");
  }
}
