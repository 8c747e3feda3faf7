// SPDX-License-Identifier: Apache-2.0
//
// A program that speaks the protocol of host and target (trail/execution.h) as the runtime does, without
// threads: two strands are simulated, so that every schedule is exact and a test of the host depends on
// nothing else.
//
// Each strand performs kSteps operations; the racy ones are a read and a write of one counter. The first
// argument is what the program does with it. Where that is about values ("stale", "future", ...), the first
// strand stores once and the second loads twice; what a load may return is then up to the request's model.
// The loads of "counter" and "deadlock" may return values of the future too. The memory is in fake_memory.h,
// the log in fake_log.h, what disturbs the host before the first step in fake_faults.h.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/prng.h"
#include "catalog/strategies.h"
#include "exec/testing/fake_faults.h"
#include "exec/testing/fake_log.h"
#include "exec/testing/fake_memory.h"
#include "trail/execution.h"
#include "trail/whole_mark.h"

namespace {

using namespace duress;
using testing::kReadKey;
using testing::kWriteKey;

constexpr int kSteps = 8, kRead = 3, kWrite = 4, kReadAgain = 5;
constexpr const char* kAboutValues[] = {"stale", "future", "broken-promise", "slower",
                                        "same",  "noisy",  "prints"};

std::string option(const char* name) {
  std::string text = ":" + std::string(std::getenv("DURESS_OPTIONS") ? std::getenv("DURESS_OPTIONS") : "");
  std::string start = ":" + std::string(name) + "=";
  std::size_t at = text.rfind(start);
  if (at == std::string::npos) return {};
  at += start.size();
  return text.substr(at, text.find(':', at) - at);
}

template <typename T>
T* map(const std::string& path, u64 bytes) {
  int fd = open(path.c_str(), O_RDWR);
  void* memory = fd < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) _exit(125);
  close(fd);
  return static_cast<T*>(memory);
}

class Simulation {
 public:
  Simulation(const trail::Request& request, trail::Record& record, std::string what)
      : request_(request),
        record_(record),
        what_(std::move(what)),
        random_(request.seed),
        memory_(request, record),
        log_(option("log_dir")) {
    points_.assign(request.sites().begin(), request.sites().end());
    for (const char* mode : kAboutValues) values_ = values_ || what_ == mode;
  }

  [[noreturn]] void run() {
    record_.magic = trail::kMagic;
    record_.version = trail::kVersion;
    record_.strands = what_ == "single" ? 1 : 3;
    if (what_ == "hang") {
      // Whoever wants to know that it hangs now has the other end of this FIFO.
      if (const char* fifo = std::getenv("FAKE_TARGET_HANGS")) close(open(fifo, O_WRONLY));
      pause();
    }
    if (what_ == "endless") take_all_steps();
    if (request_.strategy == StrategyId::kRacefuzzer && request_.pair_count != 0 && what_ != "apart") {
      record_.races_created = 1;
      record_.created[0] = request_.pairs()[0];
    }
    testing::disturb(what_, record_);
    if (what_ != "single") schedule();
    memory_.finish();
    write_log();
    finish();
  }

 private:
  /// All that it may, in 1.6 s.
  [[noreturn]] void take_all_steps() {
    while (record_.steps <= request_.most_steps) {
      usleep(100'000);
      record_.steps += request_.most_steps / 16 + 1;
    }
    record_.outcome = trail::Outcome::kStepLimit;
    _exit(0);
  }

  bool is_point(int position) const {
    u32 key = position == kRead ? kReadKey : position == kWrite ? kWriteKey : 0;
    if (values_ && position == kReadAgain) key = kReadKey;
    if (key == 0 || request_.points == trail::Points::kAll) return true;
    return std::find(points_.begin(), points_.end(), key) != points_.end();
  }

  int choose(int running) {
    u32 number = static_cast<u32>(record_.choices++);
    int pick = running;
    if (request_.strategy == StrategyId::kReplay) {
      for (const trail::Deviation& deviation : request_.trail()) {
        if (deviation.choice == number && deviation.kind() == trail::ChoiceKind::kThread)
          pick = static_cast<int>(deviation.pick());
      }
      if (pick != 1 && pick != 2) {
        if (record_.diverged == 0) record_.diverged = number + 1;
        pick = running;
      }
    } else {
      pick = 1 + static_cast<int>(random_.below(2));
    }
    if (pick != running) {
      record_.trail()[record_.deviations++] =
          trail::Deviation::of(number, trail::ChoiceKind::kThread, static_cast<u32>(pick));
      ++record_.switches;
    }
    return pick;
  }

  int load(int strand) {
    u64 before = record_.stale_loads;
    int value = memory_.load(strand);
    if (what_ == "slower" && record_.stale_loads != before) record_.steps += 100;
    return value;
  }

  void step_values(int strand, int position) {
    if (strand == 1 && position == kWrite) {
      // A value that is read before it is stored, and then is not stored: it was never legal.
      bool broken = what_ == "broken-promise" && first_ == 1;
      memory_.store(strand, broken ? 2 : what_ == "same" ? 0 : 1);
    }
    if (strand == 2 && position == kRead) {
      too_early_ = !memory_.stored();
      first_ = load(strand);
    }
    if (strand == 2 && position == kReadAgain) second_ = load(strand);
  }

  void step(int strand) {
    int position = position_[strand]++;
    last_ = strand;
    ++record_.steps;
    if (values_) step_values(strand, position);
    if (request_.trace) trace(strand, position);
    if (values_) return;
    bool future = request_.model == ModelId::kFuture && what_ == "counter";
    if (position == kRead) local_[strand] = future ? memory_.load(strand) : memory_.newest();
    if (position == kWrite && future) memory_.store(strand, local_[strand] + 1);
    if (position == kWrite) memory_.set(local_[strand] + 1);
    // Strand 1 takes a, then b; strand 2 the other way round.
    if (what_ == "deadlock" && position >= 1 && position <= 2) {
      int& lock = locks_[(position == 1) == (strand == 1) ? 0 : 1];
      if (lock != 0 && lock != strand)
        blocked_[strand] = lock;
      else
        lock = strand;
    }
    if (what_ == "deadlock" && position == 5) {
      for (int& lock : locks_) lock = lock == strand ? 0 : lock;
      for (int& holder : blocked_) holder = 0;
    }
  }

  bool can_run(int strand) const { return position_[strand] < kSteps && blocked_[strand] == 0; }

  void schedule() {
    int running = 1;
    while (can_run(1) || can_run(2)) {
      bool point = is_point(position_[running]) || !can_run(running);
      if (can_run(1) && can_run(2) && point)
        running = choose(running);
      else if (!can_run(running))
        running = 3 - running;
      step(running);
    }
  }

  void trace(int strand, int position) {
    bool write = position == kWrite, read = position == kRead;
    int value = memory_.newest() + (write ? 1 : 0);
    if (values_) {
      write = strand == 1 && position == kWrite;
      read = strand == 2 && (position == kRead || position == kReadAgain);
      value = write ? memory_.newest() : position == kRead ? first_ : second_;
    }
    log_.step(record_.steps, strand,
              write  ? "write"
              : read ? "read"
                     : nullptr,
              value, position == kReadAgain ? kRead : position);
  }

  bool is_deadlock() const { return blocked_[1] != 0 && blocked_[2] != 0; }

  void write_log() {
    std::string chain = option("chain");
    bool reports = request_.detect != trail::Detect::kNothing &&
                   ((what_ != "hybrid" && what_ != "apart") || chain == "Hybrid");
    if (reports) {
      log_.race(chain, kWrite, kRead);
      log_.points(kRead, kReadKey, kWrite, kWriteKey);
    }
    if (is_deadlock()) log_.deadlock();
    u64 bytes = log_.flush();
    if (bytes == 0) return;
    record_.log_bytes = bytes;
    if (what_ == "lost-line") unlink((option("log_dir") + "/" + trail::kWholeMark).c_str());
    if (what_ == "short-log" && !log_.cut(10)) _exit(125);
    if (what_ == "no-log") unlink(log_.path().c_str());
    if (what_ == "damaged-log") log_.append("half a li\n");
    log_.close();
  }

  [[noreturn]] void die() {
    record_.own_signal = SIGABRT;
    std::abort();
  }

  [[noreturn]] void finish() {
    int count = memory_.newest();
    bool lost = what_ != "single" && count != 2;
    if (is_deadlock()) {
      record_.outcome = trail::Outcome::kDeadlock;
      _exit(66);
    }
    if (what_ == "new-accesses") {
      record_.races_unchecked = request_.skip_known;
      std::printf("%d%d\n", request_.skip_known, request_.learn_accesses);
    }
    if (what_ == "output") std::printf("count %d\n", count);
    if (what_ == "prints") std::printf("%d %d\n", first_, second_);
    if (what_ == "noisy") std::printf("%llx %d\n", static_cast<unsigned long long>(request_.seed), second_);
    std::fflush(stdout);
    if (what_ == "counter" && lost) {
      std::fprintf(stderr, "fake: fake.cc:12: int main(): Assertion `count == 2' failed.\n");
      die();
    }
    bool stale = what_ == "stale" && first_ == 1 && second_ == 0;
    bool early = (what_ == "future" || what_ == "broken-promise") && too_early_ && first_ != 0;
    if (stale || early) {
      std::fprintf(stderr, "fake: fake.cc:34: int main(): Assertion `legal' failed.\n");
      die();
    }
    if (what_ == "crash") {
      signal(SIGSEGV, SIG_DFL);
      record_.own_signal = SIGSEGV;
      kill(getpid(), SIGSEGV);
      pause();
    }
    record_.outcome = trail::Outcome::kEnded;
    // Two ways to fail: which one depends on who came last.
    if (what_ == "two" && lost) _exit(last_ == 1 ? 3 : 4);
    _exit((what_ == "exit" && lost) || what_ == "always" ? 3 : 0);
  }

  const trail::Request& request_;
  trail::Record& record_;
  std::string what_;
  Prng random_;
  testing::FakeMemory memory_;
  testing::FakeLog log_;
  std::vector<u32> points_;
  int position_[3] = {}, local_[3] = {}, blocked_[3] = {}, locks_[2] = {};
  int last_ = 0;  // the strand that made the last step
  // About values:
  bool values_ = false, too_early_ = false;
  int first_ = 0, second_ = 0;  // what the second strand loaded
};

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "counter";
  if (option("mode") != "controlled" || what == "exit-at-once") return 0;
  if (what == "silent") pause();
  auto* request = map<trail::Request>(option("request"), trail::kRequestBytes);
  auto* record = map<trail::Record>(option("record"), trail::kRecordBytes);
  std::string server = option("server");
  if (server.empty()) Simulation(*request, *record, what).run();
  int in = std::atoi(server.c_str()), out = std::atoi(server.substr(server.find(',') + 1).c_str());
  for (char command; read(in, &command, 1) == 1;) {
    pid_t pid = fork();
    if (pid == 0) {
      close(in);
      close(out);
      lseek(0, 0, SEEK_SET);
      if (what == "never-begins") _exit(0);
      Simulation(*request, *record, what).run();
    }
    trail::Reply reply{pid, -1};
    if (write(out, &reply, sizeof reply) != sizeof reply) return 1;
    waitpid(pid, &reply.status, 0);
    if (write(out, &reply, sizeof reply) != sizeof reply) return 1;
  }
}
