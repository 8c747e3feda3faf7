// SPDX-License-Identifier: Apache-2.0
//
// Branch and bound: the best solution is updated under a lock and read without it to prune.
//
// truth: best slower: an old bound prunes less, and every better solution is compared again under the lock
#include <mutex>
#include <thread>

std::mutex mutex;
int best = 50;
int expanded = 0;

void offer(int cost) {
  std::lock_guard guard(mutex);
  if (cost < best) best = cost;
}

int main() {
  std::thread lucky([] { offer(1); });
  std::thread thorough([] {
    for (int subtree = 0; subtree < 30; ++subtree) {
      if (best <= 10) continue;
      for (int leaf = 0; leaf < 20; ++leaf) {
        if (best <= 10 + leaf) break;
        ++expanded;
      }
    }
  });
  lucky.join();
  thorough.join();
  return best == 1 ? 0 : 1;
}
