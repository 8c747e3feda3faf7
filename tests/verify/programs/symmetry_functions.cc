// SPDX-License-Identifier: Apache-2.0
//
// Which threads are alike for --symmetry: of three pairs one has the same function and argument.
//
// EXPECT-VERIFY: 8 none
// VERIFY-WITH: --symmetry: 4 none
// VERIFY-ASSUMES-WITH: --symmetry threads that start alike can be exchanged
#include <pthread.h>

#include <atomic>

std::atomic<int> same, other_function, other_argument[2];

void* add(void* to) {
  ++*static_cast<std::atomic<int>*>(to);
  return nullptr;
}
void* add_one(void* to) {
  static_cast<std::atomic<int>*>(to)->fetch_add(1);
  return nullptr;
}
/// Both threads update the first one.
void* add_to_first(void* to) {
  auto* mine = static_cast<std::atomic<int>*>(to);
  ++*(mine == &other_argument[1] ? mine - 1 : mine);
  return nullptr;
}

int main() {
  pthread_t threads[6];
  pthread_create(&threads[0], nullptr, add, &same);
  pthread_create(&threads[1], nullptr, add, &same);
  pthread_create(&threads[2], nullptr, add, &other_function);
  pthread_create(&threads[3], nullptr, add_one, &other_function);
  pthread_create(&threads[4], nullptr, add_to_first, &other_argument[0]);
  pthread_create(&threads[5], nullptr, add_to_first, &other_argument[1]);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
