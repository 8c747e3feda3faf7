// SPDX-License-Identifier: Apache-2.0
//
// A search of which all parts may end when one has found it.
//
// truth: found slower: who sees it late searches on, and finds nothing that would be wrong
#include <atomic>
#include <thread>

bool found = false;
std::atomic<int> compared{0};

int search(int first, int last, int wanted) {
  for (int i = first; i < last && !found; ++i) {
    for (int k = 0; k < 12; ++k) compared.fetch_add(1);
    if (i != wanted) continue;
    found = true;
    return i;
  }
  return -1;
}

int main() {
  int results[2];
  std::thread near([&results] { results[0] = search(0, 30, 0); });
  std::thread far([&results] { results[1] = search(30, 60, 0); });
  near.join();
  far.join();
  return results[0] == 0 && results[1] == -1 ? 0 : 1;
}
