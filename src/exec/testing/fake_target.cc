// SPDX-License-Identifier: Apache-2.0
//
// A program that speaks the protocol of host and target (trail/execution.h) as the runtime does, without
// threads: two strands are simulated, so that every schedule is exact and a test of the host depends on
// nothing else.
//
// Each strand performs kSteps operations; the racy ones are a read and a write of one counter. The first
// argument is what the program does with it. Where that is about values ("stale", "future", ...), the first
// strand stores once and the second loads twice; what a load may return is then up to the request's model.
// The loads of "counter" and "deadlock" may return values of the future too.
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
#include "trail/execution.h"
#include "trail/whole_mark.h"

namespace {

using namespace duress;

constexpr u32 kReadKey = 111, kWriteKey = 222;
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
        adversary_(mix(request.seed ^ 1)) {
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
    if (request_.strategy == StrategyId::kRacefuzzer && request_.pair_count != 0 && what_ != "apart") {
      record_.races_created = 1;
      record_.created[0] = request_.pairs()[0];
    }
    if (what_ == "killed" || what_ == "same-death") be_killed();
    if (what_ == "gives-up") {
      std::fputs("duress: out of memory\n", stderr);
      record_.tool_failed = 1;
      _exit(125);
    }
    if (what_ == "kill-parent") kill(getppid(), SIGKILL);
    if (what_ == "daemon" && fork() == 0) {
      setsid();
      pause();
    }
    if (what_ == "echo") echo();
    if (what_ == "megabytes") {
      for (int i = 0; i < 20; ++i) std::fwrite(std::string(1 << 20, 'x').data(), 1, 1 << 20, stdout);
    }
    if (what_ == "floods-limit") {
      signal(SIGXFSZ, SIG_IGN);  // what does not fit is lost without a word
      for (int i = 0; i < 80; ++i) std::fwrite(std::string(1 << 20, 'x').data(), 1, 1 << 20, stdout);
    }
    if (what_ != "single") schedule();
    if (request_.profile_futures) write_profile();
    record_.unvalidated = promised_.size();
    write_log();
    finish();
  }

 private:
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

  bool tracked() const { return request_.model != ModelId::kSc && !points_.empty(); }

  /// A choice among `count` values; `wanted` unless a trail is followed.
  u32 choose_value(u32 count, u32 wanted) {
    u32 number = static_cast<u32>(record_.choices++), pick = wanted;
    if (request_.strategy == StrategyId::kReplay) {
      pick = 0;
      for (const trail::Deviation& deviation : request_.trail()) {
        if (deviation.choice == number && deviation.kind() == trail::ChoiceKind::kValue)
          pick = std::min(deviation.pick(), count - 1);
      }
    }
    if (pick != 0)
      record_.trail()[record_.deviations++] = trail::Deviation::of(number, trail::ChoiceKind::kValue, pick);
    return pick;
  }

  void note_replaced(int strand, int value, bool future) {
    if (record_.replaced < trail::Record::kMostReplaced)
      record_.first_replaced[record_.replaced] = {static_cast<u32>(strand),
                                                  kReadKey,
                                                  4,
                                                  future,
                                                  trail::ValueType::kInteger,
                                                  0,
                                                  {static_cast<u32>(value), 0},
                                                  {static_cast<u32>(count_), 0}};
    ++record_.replaced;
  }

  /// Of the one value that was stored and the older 0, what the heuristic wants: 0 is the newest.
  u32 wanted_value() {
    switch (request_.heuristic) {
      case HeuristicId::kSequentiallyConsistent:
        return 0;
      case HeuristicId::kOldest:
        return 1;
      case HeuristicId::kOldestButDifferent:
        return seen_ != 0;
      case HeuristicId::kRandom:
        return static_cast<u32>(adversary_.below(2));
      case HeuristicId::kRandomButDifferent:
        return seen_ < 0 ? static_cast<u32>(adversary_.below(2)) : seen_ != 0;
    }
    return 0;
  }

  int load(int strand) {
    u32 number = ++loads_;
    ++record_.reads;
    int value = count_;
    for (const trail::Prediction& p : request_.predictions()) {
      if (!tracked() || request_.model < ModelId::kFuture) break;
      if (p.strand != static_cast<u32>(strand) || p.site != kReadKey || p.ordinal != number) continue;
      if (p.value[0] == static_cast<u64>(count_)) continue;
      value = static_cast<int>(p.value[0]);
      ++record_.future_loads;
      promised_.push_back(value);
      note_replaced(strand, value, true);
    }
    bool open = stored_ && strand != 1 && tracked() &&
                (request_.model == ModelId::kStale || request_.model == ModelId::kBoth);
    if (open && value == count_) {
      if (choose_value(2, wanted_value()) == 1 && count_ != 0) {
        value = 0;
        ++record_.stale_loads;
        note_replaced(strand, value, false);
        if (what_ == "slower") record_.steps += 100;
      }
    }
    if (request_.profile_futures) profiled_.push_back({strand, number, value, stores_.size()});
    return seen_ = value;
  }

  void store(int strand, int value) {
    ++record_.stores;
    ++record_.writes;
    record_.changing_stores += value != count_;
    record_.instances = 1;
    record_.largest = record_.largest_uncompressed = 2;
    std::erase(promised_, value);
    stores_.push_back({strand, value});
    stored_ = true;
    count_ = value;
  }

  /// For each load the values that were stored after it.
  void write_profile() {
    for (const Load& load : profiled_) {
      for (std::size_t i = load.stores; i < stores_.size(); ++i) {
        auto [strand, value] = stores_[i];
        if (value == load.value || strand == load.strand) continue;
        record_.future_values()[record_.future_value_count++] = {
            static_cast<u32>(load.strand), kReadKey, load.number, 4, {static_cast<u64>(value), 0}};
      }
    }
  }

  void step_values(int strand, int position) {
    if (strand == 1 && position == kWrite) {
      // A value that is read before it is stored, and then is not stored: it was never legal.
      bool broken = what_ == "broken-promise" && first_ == 1;
      store(strand, broken ? 2 : what_ == "same" ? 0 : 1);
    }
    if (strand == 2 && position == kRead) {
      too_early_ = !stored_;
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
    if (position == kRead) local_[strand] = future ? load(strand) : count_;
    if (position == kWrite && future) store(strand, local_[strand] + 1);
    if (position == kWrite) count_ = local_[strand] + 1;
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

  std::FILE* log() {
    if (log_ == nullptr) {
      std::string path = option("log_dir") + "/" + std::to_string(getpid()) + ".jsonl";
      log_ = std::fopen(path.c_str(), "a");
      std::fprintf(log_,
                   "{\"t\":\"start\",\"version\":1,\"pid\":%d,\"ppid\":1,\"exe\":\"/fake\",\"argv\":[]}\n",
                   getpid());
    }
    return log_;
  }

  void trace(int strand, int position) {
    bool write = position == kWrite, access = write || position == kRead;
    int value = count_ + (write ? 1 : 0);
    if (values_) {
      write = strand == 1 && position == kWrite;
      access = write || (strand == 2 && (position == kRead || position == kReadAgain));
      value = write ? count_ : position == kRead ? first_ : second_;
    }
    std::fprintf(
        log(),
        "{\"t\":\"step\",\"n\":%llu,\"strand\":%d,\"name\":\"worker\",\"op\":\"%s\",\"object\":\"0x10\"",
        static_cast<unsigned long long>(record_.steps), strand,
        write    ? "write"
        : access ? "read"
                 : "lock");
    if (access)
      std::fprintf(log(), ",\"size\":4,\"value\":\"0x%x\",\"site\":[0,%d]", value,
                   position == kReadAgain ? kRead : position);
    std::fprintf(log(), "}\n");
  }

  void write_log() {
    bool reports = request_.detect != trail::Detect::kNothing &&
                   ((what_ != "hybrid" && what_ != "apart") || option("chain") == "Hybrid");
    if (reports) {
      const char* access =
          "{\"thread\":%d,\"access\":\"%s\",\"addr\":\"0x10\",\"size\":4,\"site\":[0,%d],\"stack\":[],"
          "\"locks\":[]}";
      std::fprintf(log(), "{\"t\":\"race\",\"analysis\":\"%s\",\"addr\":\"0x10\",\"size\":4,\"prev\":",
                   option("chain").c_str());
      std::fprintf(log(), access, 1, "write", kWrite);
      std::fprintf(log(), ",\"cur\":");
      std::fprintf(log(), access, 2, "read", kRead);
      std::fprintf(log(), ",\"block\":{\"kind\":\"unknown\"}}\n");
      std::fprintf(
          log(), "{\"t\":\"points\",\"sites\":[{\"site\":[0,%d],\"key\":%u},{\"site\":[0,%d],\"key\":%u}]}\n",
          kRead, kReadKey, kWrite, kWriteKey);
    }
    if (blocked_[1] != 0 && blocked_[2] != 0) {
      std::fprintf(log(),
                   "{\"t\":\"stuck\",\"outcome\":\"deadlock\",\"strands\":[{\"strand\":1,\"name\":\"one\","
                   "\"state\":\"blocked\","
                   "\"op\":\"lock\",\"object\":\"0xb0\",\"held_by\":[2],\"stack\":[\"0x1001\"]},{\"strand\":"
                   "2,\"name\":\"two\","
                   "\"state\":\"blocked\",\"op\":\"lock\",\"object\":\"0xa0\",\"held_by\":[1],\"stack\":["
                   "\"0x2001\"]}]}\n");
    }
    if (log_ == nullptr) return;
    std::fflush(log_);
    record_.log_bytes = static_cast<u64>(std::ftell(log_));
    if (what_ == "lost-line") unlink((option("log_dir") + "/" + trail::kWholeMark).c_str());
    if (what_ == "short-log" && ftruncate(fileno(log_), 10) != 0) _exit(125);
    if (what_ == "no-log") unlink((option("log_dir") + "/" + std::to_string(getpid()) + ".jsonl").c_str());
    if (what_ == "damaged-log") std::fputs("half a li\n", log_);
    std::fclose(log_);
  }

  /// Kills this process as another one would, if this is run number FAKE_TARGET_KILLED or one of the
  /// FAKE_TARGET_KILLS - 1 after it. Runs are counted in the file FAKE_TARGET_COUNT.
  void be_killed() {
    int count = open(std::getenv("FAKE_TARGET_COUNT"), O_RDWR | O_APPEND | O_CREAT, 0600);
    off_t runs = write(count, "x", 1) == 1 ? lseek(count, 0, SEEK_END) : 0;
    off_t first = std::atoi(std::getenv("FAKE_TARGET_KILLED"));
    if (runs < first || runs >= first + std::atoi(std::getenv("FAKE_TARGET_KILLS"))) return;
    static constexpr int kSignals[] = {SIGKILL, SIGTERM, SIGSEGV};
    int signal = what_ == "killed" ? kSignals[(runs - first) % 3] : SIGKILL;
    pid_t killer = fork();
    if (killer == 0) {
      kill(getppid(), signal);
      _exit(0);
    }
    pause();
  }

  void echo() {
    char buffer[256];
    for (ssize_t got; (got = read(0, buffer, sizeof buffer)) > 0;) {
      if (write(1, buffer, static_cast<std::size_t>(got)) != got) _exit(1);
    }
  }

  [[noreturn]] void die() {
    record_.own_signal = SIGABRT;
    std::abort();
  }

  [[noreturn]] void finish() {
    bool lost = what_ != "single" && count_ != 2;
    if (blocked_[1] != 0 && blocked_[2] != 0) {
      record_.outcome = trail::Outcome::kDeadlock;
      _exit(66);
    }
    if (what_ == "output") std::printf("count %d\n", count_);
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
  Prng random_, adversary_;
  std::vector<u32> points_;
  int position_[3] = {}, local_[3] = {}, blocked_[3] = {}, locks_[2] = {};
  int count_ = 0;
  int last_ = 0;  // the strand that made the last step
  std::FILE* log_ = nullptr;
  // About values:
  struct Load {
    int strand;
    u32 number;
    int value;
    std::size_t stores;  // that came before
  };
  bool values_ = false, stored_ = false, too_early_ = false;
  int first_ = 0, second_ = 0;  // what the second strand loaded
  int seen_ = -1;               // what the last load returned
  u32 loads_ = 0;
  std::vector<std::pair<int, int>> stores_;  // by which strand, what
  std::vector<int> promised_;
  std::vector<Load> profiled_;
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
