// SPDX-License-Identifier: Apache-2.0
//
// What reads_from.py says: an argument for each thread, words of an operation, a variable and numbers.
//   l load, s store V, a add V, c compare with V and store W, w wait until it is V;
//   k lock, u unlock; p plain load, q plain store V (of a variable of the lock)
// Threads add up what they have read. The sum is asserted not to be a multiple of three.
#include <atomic>
#include <cassert>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::atomic<int> variables[3];
std::mutex mutexes[2];
int guarded[2];
int sums[4];

void run(const char* text, int* sum) {
  int read = 0;
  auto note = [&](int value) { read = (read * 5 + value + 1) % 11; };
  for (const char* word = text; *word; word += 4) {
    const int at = word[1] - '0', v = word[2] - '0', w = word[3] - '0';
    int expected = v;
    switch (word[0]) {
      case 'l':
        note(variables[at].load());
        break;
      case 's':
        variables[at].store(v);
        break;
      case 'a':
        note(variables[at].fetch_add(v));
        break;
      case 'c':
        variables[at].compare_exchange_strong(expected, w);
        note(expected);
        break;
      case 'w':
        while (variables[at].load() != v) std::this_thread::yield();
        break;
      case 'k':
        mutexes[at].lock();
        break;
      case 'u':
        mutexes[at].unlock();
        break;
      case 'p':
        note(guarded[at]);
        break;
      case 'q':
        guarded[at] = v;
        break;
    }
  }
  *sum = read;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::thread> threads;
  for (int i = 1; i < argc; ++i) threads.emplace_back(run, argv[i], &sums[i - 1]);
  for (std::thread& thread : threads) thread.join();
  int all = 0;
  for (int sum : sums) all += sum;
  assert(all % 3 != 0);
}
