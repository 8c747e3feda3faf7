// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1, hsqldb's JavaSystem.memoryRecords: sessions count what they allocate, without a
// lock, and collect garbage when the count is large. With a wrong count that happens too seldom or too often;
// the answers stay the same. The paper's authors could not make it slow.
//
// hsqldb_memory_records [OPERATIONS]
//
// EXPECT-VERDICT: JavaSystem::memory_records no-harm-found
// EXPECT-RACE: JavaSystem::memory_records
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int kSessions = 2, kMostRecords = 8;

struct JavaSystem {
  static int memory_records;
};
int JavaSystem::memory_records = 0;

class Session {
 public:
  explicit Session(int id) : next_(id * 101) {}

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      rows_.push_back(next_ = (next_ * 37 + 11) % 1009);
      JavaSystem::memory_records++;
      if (JavaSystem::memory_records > kMostRecords) {
        JavaSystem::memory_records = 0;
        collect();
      }
    }
    collect();
  }
  const std::vector<int>& rows() const { return rows_; }

 private:
  /// Keeps each value once.
  void collect() {
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  }

  int next_;
  std::vector<int> rows_;
};

int main(int count, char** arguments) {
  const int operations = count > 1 ? std::atoi(arguments[1]) : 30;
  if (operations < 1) return 2;
  std::vector<Session> sessions;
  for (int id = 0; id < kSessions; ++id) sessions.emplace_back(id + 1);
  std::vector<std::thread> threads;
  for (Session& session : sessions) threads.emplace_back(&Session::run, &session, operations);
  for (std::thread& thread : threads) thread.join();
  long sum = 0;
  for (const Session& session : sessions)
    for (int row : session.rows()) sum = (sum * 31 + row) % 1000003;
  std::printf("rows %zu %zu, checksum %ld\n", sessions[0].rows().size(), sessions[1].rows().size(), sum);
}
