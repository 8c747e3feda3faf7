// SPDX-License-Identifier: Apache-2.0
//
// Exceptions that unwind through instrumented frames, in several threads, and one carried to main.
//
// EXPECT-NO-RACE
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

std::mutex mutex;
int caught = 0;

void thrower(int depth) {
  std::lock_guard lock(mutex);
  caught++;
  if (depth == 0) throw std::runtime_error("expected");
}

void deep(int depth) {
  if (depth > 0) return deep(depth - 1);
  thrower(0);
}

int main() {
  std::vector<std::thread> threads;
  std::exception_ptr carried;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([t, &carried] {
      for (int i = 0; i < 100; i++) {
        try {
          deep(i % 20);
        } catch (const std::runtime_error&) {
          if (t == 0) carried = std::current_exception();
        }
      }
    });
  for (auto& thread : threads) thread.join();
  try {
    std::rethrow_exception(carried);
  } catch (const std::exception&) {
    caught++;
  }
  return caught == 301 ? 0 : 1;
}
