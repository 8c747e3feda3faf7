// SPDX-License-Identifier: Apache-2.0
//
// Threads print and allocate through the C and C++ libraries at the same time.
//
// EXPECT-NO-RACE
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

int main() {
  std::vector<std::thread> threads;
  size_t lengths[3] = {};
  for (int t = 0; t < 3; t++)
    threads.emplace_back([t, &lengths] {
      for (int i = 0; i < 50; i++) {
        std::ostringstream line;
        line << "thread " << t << " line " << i << '\n';
        std::string text = line.str();
        lengths[t] += text.size();
        std::fputs(text.c_str(), stdout);
        std::cout << text;
      }
    });
  for (auto& thread : threads) thread.join();
  return lengths[0] == lengths[1] && lengths[1] == lengths[2] ? 0 : 1;
}
