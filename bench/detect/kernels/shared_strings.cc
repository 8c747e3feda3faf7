// SPDX-License-Identifier: Apache-2.0
//
// Immutable strings behind shared_ptr that threads hand to each other: `work` times a thread copies one of
// `data` pointers, under the lock of its stripe, and reads the text without the lock; one time in 16 it puts
// a new text with the same content in its place, so that whoever lets go last frees the old one.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include "../kernel.h"

namespace {
using Text = std::shared_ptr<const std::string>;

Text make_text(uint64_t number) {
  bench::Random random(number + 1);
  auto text = std::make_shared<std::string>(40 + number % 50, ' ');
  for (char& letter : *text) letter = static_cast<char>('a' + (random.next() >> 32) % 26);
  return text;
}

uint64_t hash(const std::string& text) {
  uint64_t result = 0;
  for (char letter : text) result = result * 131 + letter;
  return result;
}

class Texts {
 public:
  explicit Texts(long size) : texts_(size) {
    for (long i = 0; i < size; i++) texts_[i] = make_text(i);
  }
  Text get(uint64_t number) {
    std::lock_guard lock(stripes_[number % kStripes].mutex);
    return texts_[number];
  }
  void put(uint64_t number, Text text) {
    std::lock_guard lock(stripes_[number % kStripes].mutex);
    texts_[number].swap(text);
  }

 private:
  static constexpr size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::mutex mutex;
  };
  std::vector<Text> texts_;
  Stripe stripes_[kStripes];
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 1000000, 4000);
  Texts texts(data);
  std::vector<uint64_t> sums(threads);
  const long each = work / threads;
  bench::parallel(threads, [&, data = data](int t) {
    bench::Random random(t + 1);
    std::vector<Text> kept(32);
    uint64_t sum = 0;
    for (long i = 0; i < each; i++) {
      const uint64_t dice = random.next(), number = (dice >> 16) % data;
      kept[i % 32] = texts.get(number);
      sum += hash(*kept[(dice >> 8) % std::min(i + 1, 32L)]);
      if (dice % 16 == 0) texts.put(number, make_text(number));
    }
    sums[t] = sum;
  });
  uint64_t checksum = 0;
  for (uint64_t sum : sums) checksum = checksum * 31 + sum;
  return bench::finish(checksum);
}
