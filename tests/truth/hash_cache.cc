// SPDX-License-Identifier: Apache-2.0
//
// The hash of an immutable text is computed on demand and kept, as java.lang.String does: one load.
//
// truth: Text::hash_ harmless: the value that was read once is either 0, then it is computed again, or the hash
#include <thread>

struct Text {
  const char* letters;
  unsigned hash_ = 0;

  unsigned hash() {
    unsigned known = hash_;
    if (known == 0) {
      for (const char* c = letters; *c != 0; ++c) known = known * 31 + static_cast<unsigned>(*c);
      hash_ = known;
    }
    return known;
  }
};

Text text{"ab"};

int main() {
  unsigned a = 0, b = 0;
  std::thread first([&a] { a = text.hash(); });
  std::thread second([&b] { b = text.hash(); });
  first.join();
  second.join();
  return a == b && a == 97u * 31 + 98 ? 0 : 1;
}
