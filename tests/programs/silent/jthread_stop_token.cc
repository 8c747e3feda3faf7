// SPDX-License-Identifier: Apache-2.0
//
// std::jthread asks its thread to stop; a stop callback runs in the asking thread.
//
// EXPECT-NO-RACE
#include <stop_token>
#include <thread>

int result = 0;
int asked = 0;

int main() {
  {
    std::jthread worker([](std::stop_token token) {
      {
        // Its destructor waits for a callback that is running: then `asked` may be read.
        std::stop_callback callback(token, [] { asked++; });
        while (!token.stop_requested()) std::this_thread::yield();
      }
      result = 42 + asked;
    });
    worker.request_stop();
  }
  return result == 43 ? 0 : 1;
}
