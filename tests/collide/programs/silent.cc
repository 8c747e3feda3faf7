// SPDX-License-Identifier: Apache-2.0
// Two threads that share memory as they should, in the ways that look most like races in machine code. The
// argument says how many rounds.
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Account {
  std::mutex mutex;
  long balance = 0;
  std::string owner = "nobody";
} account;

struct Flags {
  std::atomic<int> stage{0};
  std::atomic<bool> stop{false};
  std::atomic<long> total{0};
};

std::atomic<int> turn{0};
long handed_over;
std::vector<int> constants(1000, 3);
std::shared_mutex table_mutex;
std::vector<long> table(64);
pthread_spinlock_t spin;
long under_spin;
std::atomic<long> seen{0};

const std::string& once() {
  static const std::string text = "made once";
  return text;
}

/// Both sides with release and acquire: plain moves.
void hand_over(int me, Flags* flags, long rounds) {
  for (long i = 0; i < rounds; ++i) {
    while (turn.load(std::memory_order_acquire) != me) {
      if (flags->stop.load(std::memory_order_relaxed)) return;
      std::this_thread::yield();
    }
    handed_over = handed_over + me + 1;
    flags->stage.store(static_cast<int>(i), std::memory_order_relaxed);
    turn.store(1 - me, std::memory_order_release);
  }
}

void locked(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    {
      std::lock_guard lock(account.mutex);
      account.balance += i;
      account.owner.assign(i % 40, 'x');
    }
    pthread_spin_lock(&spin);
    ++under_spin;
    pthread_spin_unlock(&spin);
    if (i % 8 == 0) {
      std::unique_lock lock(table_mutex);
      table[static_cast<std::size_t>(i) % table.size()] += 1;
    } else {
      std::shared_lock lock(table_mutex);
      seen.fetch_add(table[static_cast<std::size_t>(i) % table.size()], std::memory_order_relaxed);
    }
  }
}

long read_only(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i)
    sum += constants[static_cast<std::size_t>(i) % constants.size()] + static_cast<long>(once().size());
  return sum;
}

void owners(std::shared_ptr<Account> shared, long rounds) {
  for (long i = 0; i < rounds; ++i) {
    std::shared_ptr<Account> mine = shared;
    std::shared_ptr<Account> another = mine;
  }
}

}  // namespace

int main(int argc, char** argv) {
  long rounds = argc > 1 ? std::atol(argv[1]) : 100000;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  auto* flags = new Flags;
  auto shared = std::make_shared<Account>();
  std::vector<std::thread> threads;
  for (int me : {0, 1}) {
    threads.emplace_back([=] {
      hand_over(me, flags, rounds / 10);
      locked(rounds);
      flags->total.fetch_add(read_only(rounds));
      owners(shared, rounds);
      char line[64];
      std::snprintf(line, sizeof line, "%ld", rounds);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%ld %ld %ld\n", under_spin, flags->total.load(), handed_over);
  return under_spin == 2 * rounds ? 0 : 1;
}
