// SPDX-License-Identifier: Apache-2.0
//
// The owner sets the flag of a new block only if it comes first. What is copied without having a value, and
// members of a bit-field that are set one after the other, are no errors.
//
// EXPECT-VERIFY: * none
// VERIFY-FAULT: -DINTEGER failure never-written
// VERIFY-FAULT: -DPOINTER failure never-written
// VERIFY-FAULT: -DBYTE failure never-written
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

struct Padded {
  char small;
  long large;
};

struct Bits {
  unsigned one : 3, two : 5, three : 24;
};

struct Pair {
  int first, second;
};

void take(Padded) {}
void take_pair(Pair pair) {
  if (pair.first != 1) abort();
}

void legal() {
  auto* padded = static_cast<Padded*>(malloc(2 * sizeof(Padded)));
  padded->small = 1;
  padded->large = 2;
  padded[1] = padded[0];
  take(*padded);
  Padded copy;
  memcpy(&copy, padded, sizeof copy);
  free(padded);
  auto* bits = static_cast<Bits*>(malloc(sizeof(Bits)));
  bits->two = 2;
  bits->one = 1;
  if (bits->one != 1) abort();
  free(bits);
  auto* pair = static_cast<Pair*>(malloc(2 * sizeof(Pair)));
  pair->first = 1;
  pair[1] = pair[0];
  take_pair(pair[1]);
  free(pair);
  auto* empty = new std::optional<int>;
  std::optional<int> other = *empty;
  delete empty;
  if (other) abort();
  auto* cleared = static_cast<int*>(calloc(4, sizeof(int)));
  if (cleared[3] != 0) abort();
  free(cleared);
}

struct Node {
  int* next;
  int flag;
  bool known;
};

std::mutex lock;
Node* node;

int main() {
  legal();
  node = static_cast<Node*>(malloc(sizeof(Node)));
  int other = 0;
  node->next = nullptr;
  std::thread owner([&] {
    std::lock_guard guard(lock);
#if !defined(INTEGER) && !defined(POINTER) && !defined(BYTE)
    node->flag = 1;
    node->known = true;
#endif
  });
  owner.join();
#ifdef INTEGER
  if (node->flag > 3) other = 1;
#elif defined(POINTER)
  Node* second = static_cast<Node*>(malloc(sizeof(Node)));
  if (second->next == &other) other = 1;
#elif defined(BYTE)
  if (node->known) other = 1;
#else
  if (node->known) other = node->flag - 1;
#endif
  free(node);
  return other == 2;
}
