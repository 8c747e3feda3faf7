// SPDX-License-Identifier: Apache-2.0
//
// The step of an atomic access has the value that is there. Behind a null pointer there is none: the program
// crashes itself, in its own line, and only where the pointer is taken away first.
//
// EXPECT-VERIFY: * failure signal:SIGSEGV
#include <atomic>
#include <thread>

struct Task {
  std::atomic<int> state{0};
};

static Task task;
static std::atomic<Task*> current{&task};

int main() {
  std::thread other([] { current = nullptr; });
  current.load()->state = 1;
  other.join();
}
