// SPDX-License-Identifier: Apache-2.0
//
// Two threads take turns; in about one of seven orders the program then does what the word says. For ahead.py:
// executions that a process performs one after the other without being asked in between, of which some are not
// like the others.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int kTurns = 4;
std::atomic<int> next{0};
int who[2 * kTurns];  // each element by one thread
int shared = 0;
std::mutex one, other;

void take_turns(int id) {
  for (int i = 0; i < kTurns; ++i) who[next.fetch_add(1)] = id;
}

unsigned order() {
  unsigned hash = 2166136261u;
  for (int id : who) hash = (hash ^ static_cast<unsigned>(id + 1)) * 16777619u;
  return hash >> 8;
}

void in_two_threads(void (*first)(), void (*second)()) {
  std::thread a(first), b(second);
  a.join();
  b.join();
}

void hang() {
  // Whoever wants to know that it hangs has the other end of this FIFO.
  if (const char* fifo = getenv("AHEAD_HANGS")) close(open(fifo, O_WRONLY));
  poll(nullptr, 0, -1);
}

void act(const std::string& word) {
  if (word == "print") printf("%u\n", order() % 100);
  if (word == "complain") fprintf(stderr, "order %u\n", order() % 100);
  if (word == "abort") abort();
  if (word == "fault") *static_cast<volatile int*>(nullptr) = 1;
  if (word == "kill") kill(getpid(), SIGTERM);
  if (word == "exit") exit(3);
  if (word == "_exit") _exit(0);
  if (word == "hang") hang();
  if (word == "race") in_two_threads([] { ++shared; }, [] { ++shared; });
  if (word == "late")
    in_two_threads([] { next.store(shared = 1); },
                   [] {
                     if (next.load() == 1) ++shared;
                   });
  if (word == "lock")
    in_two_threads(
        [] {
          std::scoped_lock a(one);
          std::scoped_lock b(other);
        },
        [] {
          std::scoped_lock b(other);
          std::scoped_lock a(one);
        });
  if (word == "memory") memset(malloc(3 << 20), 1, 3 << 20);
  if (word == "folder" && chdir("/") != 0) abort();
  if (word == "child") {
    if (pid_t pid = fork(); pid == 0)
      _exit(0);
    else
      waitpid(pid, nullptr, 0);
  }
}

}  // namespace

int main(int, char** argv) {
  std::string word = argv[1];
  in_two_threads([] { take_turns(0); }, [] { take_turns(1); });
  if (word == "always") printf("%u\n", order() % 100);
  if (order() % (word == "hang" ? 23 : 7) == 3) act(word);
}
