// SPDX-License-Identifier: Apache-2.0
//
// A lost update: a race in every execution, and a wrong result in some. In the run that FAULT_RUN names (runs
// are counted in the file FAULT_COUNT, one byte each) something happens to it that is not its doing:
//   FAULT_FILL=FILE   the disk on which the file lies is filled up
//   FAULT_FIFO=FILE   it asks for its end through the FIFO, and waits for it; in every FAULT_RUN-th run, or with
//                     FAULT_TIMES=N in N runs from that one
//   FAULT_GROUP=DIR   it joins that control group, which has little memory, and uses more; as often as above
//   FAULT_BLOCK=FILE  it does not end by itself, and says so through the FIFO; in all runs from that one
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

static int counter;

static void add() {
  int value = counter;
  counter = value + 1;
}

static void fill(const char* path) {
  static char zeros[4096];
  int file = open(path, O_WRONLY | O_CREAT, 0600);
  while (write(file, zeros, sizeof zeros) > 0) {
  }
  while (write(file, zeros, 1) > 0) {
  }
  close(file);
}

/// The kernel kills it here.
static void use_up_memory(const char* group) {
  int file = open((std::string(group) + "/cgroup.procs").c_str(), O_WRONLY);
  if (write(file, "0", 1) != 1) std::_Exit(5);
  constexpr size_t kMuch = size_t{128} << 20;
  std::memset(std::malloc(kMuch), 1, kMuch);
  std::_Exit(6);
}

/// Past the C library: nothing that the scheduler could take for a deadlock.
[[noreturn]] static void wait_for_end() {
  for (;;) {
    long result, pause = 34;
    asm volatile("syscall" : "=a"(result) : "a"(pause) : "rcx", "r11", "memory");
  }
}

static void suffer_fault() {
  const char* count = std::getenv("FAULT_COUNT");
  if (count == nullptr) return;
  int file = open(count, O_RDWR | O_APPEND | O_CREAT, 0600);
  long runs = write(file, "x", 1) == 1 ? lseek(file, 0, SEEK_END) : 0;
  close(file);
  long wanted = std::atol(std::getenv("FAULT_RUN"));
  const char* disk = std::getenv("FAULT_FILL");
  if (disk != nullptr && runs == wanted) fill(disk);
  const char* fifo = std::getenv("FAULT_FIFO");
  const char* block = std::getenv("FAULT_BLOCK");
  const char* group = std::getenv("FAULT_GROUP");
  const char* times = std::getenv("FAULT_TIMES");
  long most = times != nullptr ? std::atol(times) : 0;
  bool suffers = runs >= wanted && runs - wanted < most;
  if (times == nullptr)
    suffers = block != nullptr ? runs >= wanted : (fifo != nullptr || group != nullptr) && runs % wanted == 0;
  if (!suffers) return;
  if (group != nullptr) use_up_memory(group);
  if (block != nullptr) fifo = block;
  int pipe = open(fifo, O_WRONLY);
  char text[16];
  int length = std::snprintf(text, sizeof text, "%8d", getpid());
  if (write(pipe, text, static_cast<size_t>(length)) == length) wait_for_end();
}

int main() {
  std::thread other(add);
  suffer_fault();
  add();
  other.join();
  std::printf("%d\n", counter);
  return counter == 2 ? 0 : 3;
}
