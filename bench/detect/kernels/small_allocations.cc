// SPDX-License-Identifier: Apache-2.0
//
// Many small allocations: `work` times a thread allocates an object of 16 to 256 bytes and lets go of one of
// those that it holds, `data` in all threads together. One in eight goes to the next thread, which frees it.
#include <mutex>

#include "../kernel.h"

namespace {
struct Object {
  uint32_t size;  // in bytes, with this head
  uint32_t sum;
  uint64_t words[];
};

Object* make(uint64_t dice) {
  const uint32_t size = 16 + dice % 31 * 8;
  auto* object = static_cast<Object*>(std::malloc(size));
  object->size = size;
  object->sum = 0;
  for (uint32_t i = 0; i < (size - sizeof(Object)) / 8; i++) {
    object->words[i] = dice * (i + 1);
    object->sum += static_cast<uint32_t>(object->words[i] >> 7);
  }
  return object;
}

/// Frees the object; its sum, or something else if its content is not what it was.
uint64_t release(Object* object) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < (object->size - sizeof(Object)) / 8; i++)
    sum += static_cast<uint32_t>(object->words[i] >> 7);
  const uint64_t result = sum == object->sum ? sum + object->size : uint64_t{1} << 60;
  std::free(object);
  return result;
}

struct alignas(64) Mailbox {
  std::mutex mutex;
  std::vector<Object*> objects;
};

uint64_t empty(Mailbox& mailbox) {
  std::vector<Object*> objects;
  {
    std::lock_guard lock(mailbox.mutex);
    objects.swap(mailbox.objects);
  }
  uint64_t sum = 0;
  for (Object* object : objects) sum += release(object);
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 1000000, 4000);
  std::vector<Mailbox> mailboxes(threads);
  std::vector<uint64_t> sums(threads);
  const long each = work / threads, held = data / threads + 1;
  bench::parallel(threads, [&, threads = threads](int t) {
    bench::Random random(t + 1);
    std::vector<Object*> objects(held);
    uint64_t sum = 0;
    for (long i = 0; i < each; i++) {
      const uint64_t dice = random.next() >> 8;
      // First every place once, so that all are held soon.
      Object*& place = objects[i < held ? i : dice % held];
      if (place != nullptr && (dice & 7 << 20) == 0) {
        Mailbox& next = mailboxes[(t + 1) % threads];
        std::lock_guard lock(next.mutex);
        next.objects.push_back(place);
      } else if (place != nullptr) {
        sum += release(place);
      }
      place = make(dice);
      if (i % 64 == 0) sum += empty(mailboxes[t]);
    }
    for (Object* object : objects)
      if (object != nullptr) sum += release(object);
    sums[t] = sum;
  });
  uint64_t checksum = 0;
  for (Mailbox& mailbox : mailboxes) checksum += empty(mailbox);
  for (uint64_t sum : sums) checksum += sum;
  return bench::finish(checksum);
}
