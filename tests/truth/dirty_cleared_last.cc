// SPDX-License-Identifier: Apache-2.0
//
// The flusher copies first and clears the flag afterwards.
//
// truth: modified destructive exit:1: a change between the copy and the clearing is forgotten
#include <mutex>
#include <thread>

std::mutex mutex;
bool modified = false;
int document = 0, saved = 0;

void edit(int version) {
  {
    std::lock_guard guard(mutex);
    document = version;
  }
  modified = true;
}

void flush() {
  if (!modified) return;
  {
    std::lock_guard guard(mutex);
    saved = document;
  }
  modified = false;
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
