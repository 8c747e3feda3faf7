// SPDX-License-Identifier: Apache-2.0
//
// A block compressor in the manner of pigz: threads take blocks by an atomic counter, compress each with a
// small LZ77 with hash chains, and unpack it again to prove it. `work` blocks are compressed, out of an input
// of `data` blocks.
#include <atomic>
#include <string>

#include "../kernel.h"

namespace {
constexpr size_t kBlock = 64 * 1024;

std::vector<uint8_t> compress(const uint8_t* in, size_t size) {
  std::vector<uint8_t> out;
  std::vector<int> last(1 << 13, -1), before(size, -1);
  auto hash = [in](size_t i) {
    return (in[i] * 2654435761u ^ in[i + 1] * 40503u ^ in[i + 2] * 977u) >> 3 & 0x1fff;
  };
  for (size_t i = 0; i < size;) {
    size_t best = 0, distance = 0;
    if (i + 3 < size) {
      int candidate = last[hash(i)];
      for (int tries = 0; candidate >= 0 && tries < 8; tries++, candidate = before[candidate]) {
        size_t length = 0;
        while (length < 255 && i + length < size && in[candidate + length] == in[i + length]) length++;
        if (length > best) best = length, distance = i - candidate;
      }
    }
    size_t step = 1;
    if (best >= 4) {
      out.push_back(1), out.push_back(static_cast<uint8_t>(best));
      out.push_back(static_cast<uint8_t>(distance)), out.push_back(static_cast<uint8_t>(distance >> 8));
      step = best;
    } else {
      out.push_back(0), out.push_back(in[i]);
    }
    for (size_t end = i + step; i < end; i++)
      if (i + 3 < size) before[i] = last[hash(i)], last[hash(i)] = static_cast<int>(i);
  }
  return out;
}

std::vector<uint8_t> expand(const std::vector<uint8_t>& in) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i < in.size();) {
    if (in[i] == 0) {
      out.push_back(in[i + 1]);
      i += 2;
    } else {
      size_t length = in[i + 1], from = out.size() - (in[i + 2] | in[i + 3] << 8);
      for (size_t n = 0; n < length; n++) out.push_back(out[from + n]);
      i += 4;
    }
  }
  return out;
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 350, 350);
  bench::Random random(11);
  std::vector<uint8_t> input;
  static const char* const kWords[] = {"adversarial ", "memory ", "race ", "thread ",
                                       "lock ",        "the ",    "of ",   "stale "};
  while (input.size() < data * kBlock) {
    const char* word = kWords[random.next() >> 40 & 7];
    input.insert(input.end(), word, word + std::strlen(word));
    if ((random.next() & 3) == 0) input.push_back(static_cast<uint8_t>('0' + random.next() % 10));
  }
  std::vector<std::vector<uint8_t>> packed(data);
  std::atomic<long> next = 0;
  std::atomic<bool> wrong = false;
  bench::parallel(threads, [&, work = work, data = data](int) {
    for (long number; (number = next.fetch_add(1)) < work;) {
      const uint8_t* block = &input[number % data * kBlock];
      auto result = compress(block, kBlock), again = expand(result);
      if (again.size() != kBlock || std::memcmp(again.data(), block, kBlock) != 0) wrong = true;
      if (number < data) packed[number] = std::move(result);
    }
  });
  if (wrong) return 1;
  uint64_t checksum = 0;
  for (const auto& block : packed)
    for (uint8_t byte : block) checksum = checksum * 31 + byte;
  return bench::finish(checksum);
}
