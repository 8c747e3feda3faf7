// SPDX-License-Identifier: Apache-2.0
//
// A plain flag says that a value is there.
//
// FIX: make Message::ready atomic
#include <cstdlib>
#include <thread>

struct Message {
  int value = 0;
  volatile bool ready = false;
};

static Message message;

static void send() {
  message.value = 42;
  message.ready = true;
}

static void receive() {
  if (message.ready && message.value != 42) std::abort();
}

int main() {
  std::thread writer(send), reader(receive);
  writer.join();
  reader.join();
}
