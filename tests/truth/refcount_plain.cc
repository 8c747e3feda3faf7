// SPDX-License-Identifier: Apache-2.0
//
// A reference count that is not atomic: the last owner deletes.
//
// truth: Buffer::references destructive exit:1: both owners may come to 1, and nobody deletes
#include <atomic>
#include <thread>

std::atomic<int> deleted{0};

struct Buffer {
  int references = 2;
  int bytes[4] = {};

  void release() {
    if (--references == 0) deleted.fetch_add(1);
  }
};

int main() {
  auto* buffer = new Buffer;
  std::thread first([buffer] { buffer->release(); });
  std::thread second([buffer] { buffer->release(); });
  first.join();
  second.join();
  int times = deleted.load();
  delete buffer;
  return times == 1 ? 0 : 1;
}
