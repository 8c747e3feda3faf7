// SPDX-License-Identifier: Apache-2.0
//
// Much of one thing: `sizes KIND COUNT [LIBRARY]`. Afterwards two threads race on `last`: what came before must not
// have made the detector blind. `server` answers COUNT requests in four threads; its work is the same from one
// request to the next, so memory that grows is the detector's.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

static int last;
static long total;
static std::mutex total_lock;

static void in_two_threads(long count, void (*body)(long)) {
  std::thread other(body, count / 2);
  body(count - count / 2);
  other.join();
}

static void lock_many(long count) {
  static std::mutex mutexes[1000];
  static long values[1000];
  for (long i = 0; i < count; ++i) {
    std::lock_guard guard(mutexes[i % 1000]);
    ++values[i % 1000];
  }
  std::lock_guard guard(total_lock);
  total += count;
}

static void atomics(long count) {
  static std::atomic<long> values[1000];
  for (long i = 0; i < count; ++i) values[i % 1000].fetch_add(1, std::memory_order_acq_rel);
  std::lock_guard guard(total_lock);
  total += count;
}

__attribute__((noinline)) static long descend(long depth, volatile long* above) {
  volatile long here = *above + 1;
  long below = depth > 1 ? descend(depth - 1, &here) : here;
  return below + (here - here);
}

static void* recurse(void* depth) {
  volatile long zero = 0;
  total = descend(*static_cast<long*>(depth), &zero);
  return nullptr;
}

static void recursion(long depth) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t{1} << 20) + static_cast<size_t>(depth) * 512);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, recurse, &depth) != 0) std::abort();
  pthread_join(thread, nullptr);
}

/// `count` megabytes, a word of each page.
static void heap(long count) {
  constexpr size_t kBlock = 1 << 20, kPage = 4096;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (long i = 0; i < count; ++i) {
    blocks.emplace_back(new char[kBlock]);
    for (size_t at = 0; at < kBlock; at += kPage) blocks.back()[at] = 1;
  }
  for (auto& block : blocks)
    for (size_t at = 0; at < kBlock; at += kPage) total += block[at];
  total /= kBlock / kPage;
}

static void children(long count) {
  for (long i = 0; i < count; ++i) {
    pid_t child = fork();
    if (child == 0) {
      std::lock_guard guard(total_lock);
      _exit(total == i ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::abort();
    ++total;
  }
}

static void libraries(long count, const char* path) {
  for (long i = 0; i < count; ++i) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto* step =
        library != nullptr ? reinterpret_cast<long (*)(long)>(dlsym(library, "library_step")) : nullptr;
    if (step == nullptr) std::abort();
    total += step(0) == 1 ? 1 : 0;
    dlclose(library);
  }
}

static void threads(long count) {
  std::vector<std::thread> all;
  std::mutex lock;
  std::condition_variable changed;
  long waiting = 0;
  for (long i = 0; i < count; ++i) {
    all.emplace_back([&] {
      std::unique_lock guard(lock);
      ++waiting;
      changed.notify_all();
      changed.wait(guard, [&] { return waiting == count; });
      ++total;
    });
  }
  for (std::thread& thread : all) thread.join();
}

static void short_threads(long count) {
  for (long i = 0; i < count; ++i) std::thread([] { ++total; }).join();
}

static void server(long count) {
  struct Request {
    long number;
    std::string text;
  };
  std::mutex lock;
  std::condition_variable changed;
  std::queue<std::shared_ptr<Request>> queue;
  std::map<long, std::string> cache;
  bool ended = false;
  auto work = [&] {
    for (;;) {
      std::unique_lock guard(lock);
      changed.wait(guard, [&] { return ended || !queue.empty(); });
      if (queue.empty()) return;
      std::shared_ptr<Request> request = queue.front();
      queue.pop();
      guard.unlock();
      changed.notify_all();
      std::vector<std::string> parts;
      for (size_t i = 0; i < 20; ++i) parts.emplace_back(request->text.substr(i, 10 + i * 7));
      guard.lock();
      cache[request->number % 1000] = parts[static_cast<size_t>(request->number % 20)];
      ++total;
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back(work);
  for (long i = 0; i < count; ++i) {
    auto request =
        std::make_shared<Request>(Request{i, std::string(static_cast<size_t>(100 + i % 5000), 'r')});
    std::unique_lock guard(lock);
    changed.wait(guard, [&] { return queue.size() < 64; });
    queue.push(std::move(request));
    changed.notify_all();
    guard.unlock();
    if (i % 1000 == 0) std::thread([] { std::lock_guard guard(total_lock); }).join();
  }
  {
    std::lock_guard guard(lock);
    ended = true;
  }
  changed.notify_all();
  for (std::thread& worker : workers) worker.join();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string kind = argv[1];
  const long count = std::atol(argv[2]);
  if (kind == "locks") in_two_threads(count, lock_many);
  if (kind == "atomics") in_two_threads(count, atomics);
  if (kind == "recursion") recursion(count);
  if (kind == "heap") heap(count);
  if (kind == "children") children(count);
  if (kind == "libraries") libraries(count, argv[3]);
  if (kind == "threads") threads(count);
  if (kind == "short") short_threads(count);
  if (kind == "server") server(count);
  std::printf("%ld\n", total);
  std::thread other([] { ++last; });
  ++last;
  other.join();
  return total == count ? 0 : 3;
}
