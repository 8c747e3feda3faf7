// SPDX-License-Identifier: Apache-2.0
//
// A concurrent queue between two tasks: what is behind a pointer is handed over with it, or still written afterwards.
//
// WRONG: *payload*|heap block*
#include <tbb/concurrent_queue.h>
#include <tbb/task_group.h>

#include <cstdio>
#include <memory>

#include "teamwork.h"

struct Message {
  int payload = 0;
};

int main() {
  int seen = 0;
  with_two_threads([&] {
    tbb::concurrent_queue<Message*> queue;
    tbb::task_group group;
    std::atomic<int> arrived{0};
    auto message = std::make_unique<Message>();
    group.run([&] {
      message->payload = 7;
      queue.push(message.get());
#ifdef WRONG
      meet(arrived);
      message->payload = 8;
#endif
    });
    group.run([&] {
      Message* received = nullptr;
      while (!queue.try_pop(received)) std::this_thread::yield();
#ifdef WRONG
      meet(arrived);
#endif
      seen = received->payload;
    });
    group.wait();
  });
  std::printf("%d\n", seen > 0);
}
