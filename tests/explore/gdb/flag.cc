// A stale value: relaxed operations do not publish the message.
#include <atomic>
#include <thread>

std::atomic<int> message{0}, ready{0};

int main() {
  int got = 42;
  std::thread reader([&] {
    if (ready.load(std::memory_order_relaxed) == 1) got = message.load(std::memory_order_relaxed);
  });
  message.store(42, std::memory_order_relaxed);
  ready.store(1, std::memory_order_relaxed);
  reader.join();
  return got == 42 ? 0 : 1;
}
