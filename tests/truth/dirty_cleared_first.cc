// SPDX-License-Identifier: Apache-2.0
//
// A dirty flag without a lock: the flusher clears it before it copies.
//
// truth: dirty harmless: a change after the copy sets the flag after it was cleared; main flushes once more at the end
#include <mutex>
#include <thread>

std::mutex mutex;
bool dirty = false;
int document = 0, saved = 0;

void edit(int version) {
  {
    std::lock_guard guard(mutex);
    document = version;
  }
  dirty = true;
}

void flush() {
  if (!dirty) return;
  dirty = false;
  std::lock_guard guard(mutex);
  saved = document;
}

int main() {
  std::thread editor([] {
    edit(1);
    edit(2);
  });
  std::thread saver([] {
    flush();
    flush();
  });
  editor.join();
  saver.join();
  flush();
  return saved == 2 ? 0 : 1;
}
