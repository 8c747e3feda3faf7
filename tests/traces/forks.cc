// SPDX-License-Identifier: Apache-2.0
// Forks while another thread is in the middle of an analysis. The child finds the locks free and the other
// thread gone: its own thread may get the number of that one.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>
std::mutex m;
int x;
std::vector<int> v;
int main() {
  std::thread busy([] {
    for (int i = 0; i < 20000; ++i) {
      std::lock_guard g(m);
      ++x;
      v.push_back(i);
    }
  });
  for (int k = 0; k < 20; ++k) {
    pid_t p = fork();
    if (p == 0) {
      int y = 0;
      std::mutex n;
      std::thread t([&] {
        std::lock_guard g(n);
        ++y;
        std::vector<int> w;
        for (int i = 0; i < 200; ++i) w.push_back(i);
      });
      {
        std::lock_guard g(n);
        ++y;
      }
      t.join();
      _exit(y == 2 ? 0 : 1);
    }
    int s;
    waitpid(p, &s, 0);
    if (s) {
      printf("child %d status %x\n", k, s);
    }
  }
  busy.join();
  printf("done %d\n", x);
}
