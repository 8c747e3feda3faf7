// SPDX-License-Identifier: Apache-2.0
//
// A queue for one producer and one consumer, as it is often written: two plain indexes, "each written by one
// thread only". Both threads wait in loops that do nothing but look. On every machine of today it works at
// -O0 (at -O2 compilers take the looking out of the loops, and it may never end); an old index, or a slot
// that is read before the message is in it, breaks it.
//
// EXPECT-VERDICT: Ring::slots[] destructive
// EXPECT-VERDICT: Ring::head destructive
// EXPECT-VERDICT: Ring::tail destructive
// OPT: -O0
// EXPECT-RACE: Ring::slots[]
// EXPECT-RACE: Ring::head
// EXPECT-RACE: Ring::tail
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

struct Message {
  int id;
  char text[16];
};

struct Ring {
  Message slots[4];
  unsigned head = 0, tail = 0;

  bool push(const Message& message) {
    if (head - tail == 4) return false;
    slots[head % 4] = message;
    ++head;
    return true;
  }
  bool pop(Message& message) {
    if (head == tail) return false;
    message = slots[tail % 4];
    ++tail;
    return true;
  }
};

Ring ring;
constexpr int kMessages = 6;

void produce() {
  for (int i = 1; i <= kMessages;) {
    Message message{i, {}};
    std::snprintf(message.text, sizeof message.text, "message %d", i);
    if (ring.push(message)) ++i;
  }
}

void consume(long& sum) {
  for (int n = 0; n < kMessages;) {
    Message message;
    if (!ring.pop(message)) continue;
    ++n;
    sum += message.id;
    char expected[16];
    std::snprintf(expected, sizeof expected, "message %d", message.id);
    if (std::strcmp(expected, message.text) != 0) std::abort();
  }
}

int main() {
  long sum = 0;
  std::thread producer(produce), consumer(consume, std::ref(sum));
  producer.join();
  consumer.join();
  std::printf("%ld\n", sum);
  return sum == kMessages * (kMessages + 1) / 2 ? 0 : 1;
}
