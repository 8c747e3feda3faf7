// SPDX-License-Identifier: Apache-2.0
//
// Counting words: each thread fills its own std::unordered_map of strings and merges it into the shared one
// under a mutex after every part. Strings, nodes and rehashing: allocation-heavy. `work` parts; the shared
// map knows `data` words already.
#include <mutex>
#include <string>
#include <unordered_map>

#include "../kernel.h"

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 220, 9000);
  constexpr int kWordsPerPart = 30000;
  std::unordered_map<std::string, long> total;
  for (long i = 0; i < data; i++) total["word" + std::to_string(i)] = 1;
  std::mutex mutex;
  bench::parallel(threads, [&, threads = threads, work = work, data = data](int t) {
    for (long part = t; part < work; part += threads) {
      bench::Random random(part + 1);
      std::unordered_map<std::string, long> mine;
      std::string text;
      for (int i = 0; i < kWordsPerPart; i++) text += "word" + std::to_string(random.next() % data) + " ";
      for (size_t begin = 0, end; (end = text.find(' ', begin)) != std::string::npos; begin = end + 1)
        mine[text.substr(begin, end - begin)]++;
      std::lock_guard lock(mutex);
      for (const auto& [word, count] : mine) total[word] += count;
    }
  });
  uint64_t checksum = 0;
  for (const auto& [word, count] : total) {
    uint64_t hash = 0;
    for (char letter : word) hash = hash * 131 + letter;
    checksum += hash * count;
  }
  return bench::finish(checksum);
}
