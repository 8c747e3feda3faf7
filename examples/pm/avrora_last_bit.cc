// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1, avrora's Transmission.lastBit: one simulated radio sends, another asks which
// transmissions reach a given bit. The list of transmissions has a lock; how far one has come is written
// without it. The radios keep in step by clocks, which are relaxed atomics: in time every answer is right. An
// old end makes a transmission too short, one from the future too long.
//
// avrora_last_bit [BYTES]; exits with 1 if the receiver heard something else than was sent.
//
// EXPECT-VERDICT: Transmission::last_bit destructive exit:1
// EXPECT-RACE: Transmission::last_bit
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <mutex>
#include <thread>

struct Transmission {
  explicit Transmission(long first) : first_bit(first), last_bit(first) {}
  const long first_bit;
  long last_bit;
};

class Medium {
 public:
  Transmission& begin(long bit) {
    std::lock_guard lock(mutex_);
    return transmissions_.emplace_back(bit);
  }
  int intersections(long bit) {
    std::lock_guard lock(mutex_);
    int found = 0;
    for (const Transmission& t : transmissions_) found += bit >= t.first_bit && bit < t.last_bit;
    return found;
  }

 private:
  std::mutex mutex_;
  std::list<Transmission> transmissions_;
};

Medium medium;
std::atomic<int> sender_clock{0}, receiver_clock{0};  // in bytes

void wait_for(const std::atomic<int>& clock, int time) {
  while (clock.load(std::memory_order_relaxed) < time) std::this_thread::yield();
}

void send(int bytes) {
  Transmission& transmission = medium.begin(100);
  for (int i = 1; i <= bytes; ++i) {
    wait_for(receiver_clock, i - 1);
    transmission.last_bit = 100 + i * 8;
    sender_clock.store(i, std::memory_order_relaxed);
  }
}

int main(int count, char** arguments) {
  const int bytes = count > 1 ? std::atoi(arguments[1]) : 6;
  if (bytes < 1) return 2;
  std::thread sender(send, bytes);
  int heard = 0, too_early = 0;
  for (int i = 1; i <= bytes; ++i) {
    wait_for(sender_clock, i);
    heard += medium.intersections(100 + i * 8 - 4);
    too_early += medium.intersections(100 + i * 8 + 4);
    receiver_clock.store(i, std::memory_order_relaxed);
  }
  sender.join();
  std::printf("heard %d of %d bytes, %d too early\n", heard, bytes, too_early);
  return heard == bytes && too_early == 0 ? 0 : 1;
}
