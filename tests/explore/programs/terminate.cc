// SPDX-License-Identifier: Apache-2.0
//
// A thread is joined only if it is known to have started, which is asked too early.
//
// EXPECT-FAILURE: exception:std::terminate
#include <atomic>
#include <thread>

int main() {
  std::atomic<bool> started{false};
  std::thread worker([&] { started = true; });
  if (started) worker.join();
}
