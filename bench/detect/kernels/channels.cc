// SPDX-License-Identifier: Apache-2.0
//
// Message passing: each thread has a channel of a mutex and a condition variable and forwards the messages
// that come to whom their content says, until they have made all their hops. `work` hops of `data` messages.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "../kernel.h"

namespace {
struct Message {
  long hops;
  uint64_t words[60];
};
using MessagePointer = std::unique_ptr<Message>;

class Channel {
 public:
  void send(MessagePointer message) {
    {
      std::lock_guard lock(mutex_);
      messages_.push_back(std::move(message));
    }
    not_empty_.notify_one();
  }
  /// The next message; none when the channel is closed.
  MessagePointer receive() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return closed_ || !messages_.empty(); });
    if (messages_.empty()) return nullptr;
    auto message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_empty_;
  std::deque<MessagePointer> messages_;
  bool closed_ = false;
};

uint64_t stir(Message& message) {
  uint64_t sum = 0;
  for (uint64_t& word : message.words) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    sum += word >> 33;
  }
  return sum;
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 200000, 1000);
  std::vector<Channel> channels(threads);
  bench::Random random(31);
  for (long i = 0; i < data; i++) {
    auto message = std::make_unique<Message>();
    message->hops = work / data + 1;
    for (uint64_t& word : message->words) word = random.next();
    channels[i % threads].send(std::move(message));
  }
  std::atomic<long> left = data;
  std::vector<uint64_t> sums(threads);
  bench::parallel(threads, [&, threads = threads](int t) {
    uint64_t sum = 0;
    while (auto message = channels[t].receive()) {
      const uint64_t content = stir(*message);
      if (--message->hops > 0) {
        channels[content % threads].send(std::move(message));
      } else {
        sum += content;
        if (left.fetch_sub(1) == 1)
          for (Channel& channel : channels) channel.close();
      }
    }
    sums[t] = sum;
  });
  uint64_t checksum = 0;
  for (uint64_t sum : sums) checksum += sum;
  return bench::finish(checksum);
}
