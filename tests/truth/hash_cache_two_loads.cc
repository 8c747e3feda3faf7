// SPDX-License-Identifier: Apache-2.0
//
// The same with a second load for the result.
//
// truth: Name::hash_ destructive exit:1: the check may see the hash and the second load the older 0: nothing orders two racing loads
#include <thread>

struct Name {
  unsigned letter;
  unsigned hash_ = 0;

  unsigned hash() {
    if (hash_ == 0) hash_ = letter * 31;
    return hash_;
  }
};

Name name{97};

int main() {
  unsigned a = 0, b = 0;
  std::thread first([&a] { a = name.hash(); });
  std::thread second([&b] { b = name.hash(); });
  first.join();
  second.join();
  return a == 97 * 31 && b == 97 * 31 ? 0 : 1;
}
