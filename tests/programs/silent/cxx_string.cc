// SPDX-License-Identifier: Apache-2.0
//
// Strings in libstdc++.so that are used rightly, by this program and by a library without instrumentation.
//
// EXPECT-NO-RACE
// FLAGS: -std=c++17
// FOREIGN-LIB: ../lib/foreign_string.cc
#include <locale>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

extern "C" size_t foreign_append(const char* more);

std::mutex lock;
std::string shared = "a text that is longer than what fits into the object itself";
const std::string constant = "read by both, longer than what fits into the object";

void work(int number) {
  for (int i = 0; i < 50; ++i) {
    foreign_append("more");
    std::string own = constant;
    own += std::to_string(number);
    std::ostringstream stream;
    stream << std::boolalpha << own << i << true << std::locale().name();
    std::lock_guard<std::mutex> guard(lock);
    shared.append(stream.str());
    if (shared.size() > 500) shared = own;
  }
}

int main() {
  std::thread one(work, 1), two(work, 2);
  one.join();
  two.join();
  return shared.empty();
}
