// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1, hsqldb's MemoryWatcherThread.keep_running: a thread watches how much memory a
// small database takes, until a plain flag is cleared. An old value keeps it running for ever; one that was
// read too early ends it before the work is done, and the statistics are wrong.
//
// hsqldb_keep_running [OPERATIONS]; exits with 1 if the statistics are.
//
// EXPECT-VERDICT: MemoryWatcher::keep_running destructive no-end|exit:1
// EXPECT-RACE: MemoryWatcher::keep_running
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

/// Bytes in use after each operation; written by the database, read by the watcher. The atomic orders the
/// records.
struct MemoryLog {
  explicit MemoryLog(size_t records) : bytes(records) {}
  std::vector<long> bytes;
  std::atomic<size_t> count{0};
};

class MemoryWatcher {
 public:
  explicit MemoryWatcher(const MemoryLog& log) : log_(log) {}

  void run() {
    while (keep_running) {
      take_samples();
      std::this_thread::yield();
    }
    take_samples();  // what came before the flag was cleared
  }
  void stop() { keep_running = false; }
  long peak() const { return peak_; }
  size_t samples() const { return samples_; }

 private:
  void take_samples() {
    for (const size_t end = log_.count.load(std::memory_order_acquire); samples_ < end; ++samples_)
      peak_ = std::max(peak_, log_.bytes[samples_]);
  }

  const MemoryLog& log_;
  bool keep_running = true;
  size_t samples_ = 0;
  long peak_ = 0;
};

/// A table with one index.
class Table {
 public:
  void insert(int key, std::string text) {
    bytes_ += static_cast<long>(text.size());
    rows_[key] = std::move(text);
  }
  void erase(int key) {
    auto found = rows_.find(key);
    if (found == rows_.end()) return;
    bytes_ -= static_cast<long>(found->second.size());
    rows_.erase(found);
  }
  long bytes() const { return bytes_; }

 private:
  std::map<int, std::string> rows_;
  long bytes_ = 0;
};

int main(int count, char** arguments) {
  const int operations = count > 1 ? std::atoi(arguments[1]) : 20;
  if (operations < 1) return 2;
  MemoryLog log(operations);
  MemoryWatcher watcher(log);
  std::thread watching(&MemoryWatcher::run, &watcher);
  Table table;
  long peak = 0;
  for (int i = 0; i < operations; ++i) {
    if (i % 3 == 2)
      table.erase(i - 2);
    else
      table.insert(i, std::string(10 + i % 7, 'x'));
    log.bytes[i] = table.bytes();
    log.count.store(i + 1, std::memory_order_release);
    peak = std::max(peak, table.bytes());
  }
  watcher.stop();
  watching.join();
  const bool right = watcher.peak() == peak && watcher.samples() == static_cast<size_t>(operations);
  std::printf("peak %ld bytes in %zu samples: %s\n", watcher.peak(), watcher.samples(),
              right ? "valid" : "wrong");
  return right ? 0 : 1;
}
