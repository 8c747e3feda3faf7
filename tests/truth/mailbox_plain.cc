// SPDX-License-Identifier: Apache-2.0
//
// A mailbox with a plain full flag; the receiver looks a few times and goes away.
//
// truth: Mailbox::full destructive exit:1: it may be seen before the letter is there
// truth: Mailbox::letter destructive exit:1: the old letter may be seen though the flag is set
#include <thread>

struct Mailbox {
  int letter = 0;
  bool full = false;
};

Mailbox box;

int main() {
  bool right = true;
  std::thread sender([] {
    box.letter = 17;
    box.full = true;
  });
  std::thread receiver([&right] {
    for (int i = 0; i < 4; ++i) {
      if (!box.full) continue;
      right = box.letter == 17;
      return;
    }
  });
  sender.join();
  receiver.join();
  return right ? 0 : 1;
}
