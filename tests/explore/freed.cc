// SPDX-License-Identifier: Apache-2.0
//
// Memory that one thread frees while another may still use it. The first argument says which way, the second
// `right` has it used before it is freed. Only one access of the user races, and no operation of a thread is
// a schedule point unless that race has been seen.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

static volatile int sink;

/// `user` begins in a thread of its own; wrong: `owner` does not wait for its end.
static void beside(bool right, const std::function<void()>& user, const std::function<void()>& owner) {
  std::thread thread(user);
  if (right) thread.join();
  owner();
  if (!right) thread.join();
}

static void thread_frees(bool right) {
  int* p = new int(1);
  if (right) sink = *p;
  std::thread thread([p] { delete p; });
  if (!right) sink = *p;
  thread.join();
}

static void main_frees(bool right) {
  int* p = new int(1);
  beside(right, [p] { sink = *p; }, [p] { delete p; });
}

static void vector_grows(bool right) {
  std::vector<int> numbers{1};
  if (right) numbers.reserve(2);
  int* first = numbers.data();
  std::thread thread([first] { sink = *first; });
  numbers.push_back(2);
  thread.join();
}

static void string_destroyed(bool right) {
  auto text = std::make_unique<std::string>("longer than what fits into the object itself");
  const char* characters = text->c_str();
  beside(right, [characters] { sink = characters[3]; }, [&] { text.reset(); });
}

static void raw_pointer(bool right) {
  auto shared = std::make_shared<int>(1);
  std::shared_ptr<int> copy = right ? shared : nullptr;
  int* raw = shared.get();
  std::thread thread([raw, copy = std::move(copy)] { sink = *raw; });
  shared.reset();
  thread.join();
}

static void end_of_block(bool right) {
  char* p = new char[200];
  memset(p, 1, 200);
  beside(right, [p] { sink = p[199]; }, [p] { delete[] p; });
}

/// Behind many operations of both threads that have nothing to do with it.
static void late(bool right) {
  int* p = new int(1);
  auto work = [] {
    for (int i = 0; i < 20; ++i) delete new int(i);
  };
  beside(
      right,
      [p, work] {
        work();
        sink = *p;
        work();
      },
      [p, work] {
        work();
        delete p;
      });
}

int main(int, char** args) {
  const std::string what = args[1];
  const bool right = args[2] != nullptr;
  const std::pair<const char*, void (*)(bool)> ways[] = {{"thread_frees", thread_frees},
                                                         {"main_frees", main_frees},
                                                         {"vector_grows", vector_grows},
                                                         {"string_destroyed", string_destroyed},
                                                         {"raw_pointer", raw_pointer},
                                                         {"end_of_block", end_of_block},
                                                         {"late", late}};
  for (const auto& [name, way] : ways) {
    if (what == name) return way(right), 0;
  }
  return 2;
}
