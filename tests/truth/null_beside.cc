// SPDX-License-Identifier: Apache-2.0
//
// A pointer that is tested and then used while another thread clears it, beside a counter.
//
// truth: session destructive signal:SIGSEGV: it may be cleared between the test and the use
// truth: lookups harmless beside session: nothing reads it
#include <thread>

struct Session {
  int user;
};

Session only{7};
Session* session = &only;
int lookups = 0;
int user = 0;

int main() {
  std::thread looker([] {
    ++lookups;
    if (session != nullptr) user = session->user;
  });
  std::thread closer([] {
    ++lookups;
    session = nullptr;
  });
  looker.join();
  closer.join();
  return user == 0 || user == 7 ? 0 : 1;
}
