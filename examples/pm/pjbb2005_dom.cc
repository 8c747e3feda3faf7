// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1 and figure 12, pjbb2005's DomNode.eventDataLock and DomEvent.stop: one event
// object is kept for reuse. Who finds it free takes it, under a lock; it is given back without the lock. An
// old or a future `false` of the flag gives the object to two threads at once. An old `true` of `stop` ends a
// dispatch at its first node.
//
// pjbb2005_dom [EVENTS [ordered]]; exits with 1 if an event came to the wrong number of nodes. (In the paper
// the damage was not observable.) Ordered: one thread comes after the other, so that both use the shared
// object in every run.
//
// EXPECT-VERDICT: DomNode::event_data_lock destructive exit:1
// EXPECT-VERDICT: DomEvent::stop destructive exit:1
// EXPECT-RACE: DomNode::event_data_lock
// EXPECT-RACE: DomEvent::stop
// RUN-ARGS: 4 ordered
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "invisible_barrier.h"

constexpr int kThreads = 2, kNodes = 5, kStopAt = 3;

struct DomEvent {
  bool stop = false;
  void initialize() { stop = false; }
  void clear() { stop = true; }
};

class DomNode {
 public:
  /// How many nodes heard of it.
  static int insertion_event() {
    bool do_free = false;
    DomEvent fresh, *event = nullptr;
    {
      std::lock_guard lock(mutex);
      if (!event_data_lock) {
        event_data_lock = true;
        do_free = true;
        event = &reused;
      }
    }
    if (event == nullptr) event = &fresh;
    event->initialize();
    const int heard = dispatch(*event);
    if (do_free) {
      event->clear();
      event_data_lock = false;
    }
    return heard;
  }

 private:
  static int dispatch(DomEvent& event) {
    int heard = 0;
    for (int node = 0; node < kNodes && !event.stop; ++node) {
      ++heard;
      listeners_called.fetch_add(1, std::memory_order_relaxed);
      if (node + 1 == kStopAt) event.stop = true;  // this listener wants nobody else to hear of it
    }
    return heard;
  }

  static std::mutex mutex;
  static bool event_data_lock;
  static DomEvent reused;
  static std::atomic<long> listeners_called;
};
std::mutex DomNode::mutex;
bool DomNode::event_data_lock = false;
DomEvent DomNode::reused;
std::atomic<long> DomNode::listeners_called{0};

int ended = 0;  // threads

int main(int count, char** arguments) {
  const int events = count > 1 ? std::atoi(arguments[1]) : 8;
  if (events < 1) return 2;
  const bool ordered = count > 2;
  int wrong[kThreads] = {};
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id)
    threads.emplace_back([&wrong, id, events, ordered] {
      if (ordered) invisible_start(kThreads);
      if (ordered) invisible_wait(&ended, id);
      for (int i = 0; i < events; ++i) wrong[id] += DomNode::insertion_event() != kStopAt;
      if (ordered) invisible_signal(&ended);
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d wrong\n", wrong[0] + wrong[1]);
  return wrong[0] + wrong[1] == 0 ? 0 : 1;
}
