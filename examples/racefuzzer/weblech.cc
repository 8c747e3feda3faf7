// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, table 1, weblech: a tool that mirrors a web site with several threads. How many downloads are
// in progress is counted under the lock of the queue and looked at without it; and whether there is something
// in the queue is asked before it is taken, under the lock, but in two steps. Two real races; some schedules
// take from an empty queue.
//
// weblech [ordered]: one thread looks, then another downloads everything.
//
// EXPECT-PAIR: Spider::downloads_in_progress @look @take real exception
// EXPECT-PAIR: Spider::downloads_in_progress @look @done real exception
// EXPECT-RACE: Spider::downloads_in_progress
// RUN-ARGS: ordered
#include <cstdio>
#include <deque>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "invisible_barrier.h"

const std::vector<std::vector<int>> kLinks = {{1}, {2}, {3, 1}, {4}, {5}, {}};  // of each page

class Spider {
 public:
  Spider() : queue_{0}, seen_{0} {}

  void run() {
    while (queue_size() > 0 || downloading()) {
      if (queue_size() == 0) {
        std::this_thread::yield();
        continue;
      }
      download(take());
    }
  }
  bool downloading() const {
    return downloads_in_progress > 0;  // @look
  }
  size_t pages() {
    std::lock_guard lock(mutex_);
    return seen_.size();
  }

 private:
  size_t queue_size() {
    std::lock_guard lock(mutex_);
    return queue_.size();
  }
  int take() {
    std::lock_guard lock(mutex_);
    if (queue_.empty()) throw std::out_of_range("the queue is empty");
    const int page = queue_.front();
    queue_.pop_front();
    ++downloads_in_progress;  // @take
    return page;
  }
  void download(int page) {
    std::lock_guard lock(mutex_);
    for (int link : kLinks[page])
      if (seen_.insert(link).second) queue_.push_back(link);
    --downloads_in_progress;  // @done
  }

  std::mutex mutex_;
  std::deque<int> queue_;
  std::set<int> seen_;
  int downloads_in_progress = 0;
};

int looked = 0, downloaded = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  Spider spider;
  bool busy = false;
  std::thread first([&] {
    if (ordered) {
      busy = spider.downloading();
      invisible_signal(&looked);
      invisible_wait(&downloaded, 1);
    }
    spider.run();
  });
  std::thread second([&] {
    if (ordered) invisible_wait(&looked, 1);
    spider.run();
    if (ordered) invisible_signal(&downloaded);
  });
  std::thread third([&] {
    if (ordered) invisible_wait(&downloaded, 1);
    spider.run();
  });
  first.join();
  second.join();
  third.join();
  std::printf("%zu pages\n", spider.pages());
  return spider.pages() == kLinks.size() && !busy ? 0 : 1;
}
