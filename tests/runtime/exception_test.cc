// SPDX-License-Identifier: Apache-2.0
//
// Exceptions that threads share: dropping a reference is announced, and the last one acquires before the end.
#include <exception>
#include <stdexcept>

#include "fake_sync.h"

static bool ended = false;
struct Failure {
  ~Failure() { ended = true; }
  int number = 5;
};

static void unshared() {
  const void* object = nullptr;
  fake_clear();
  try {
    throw std::runtime_error("x");
  } catch (const std::exception& e) {
    object = &e;
    fake_clear();
  }
  EXPECT_EVENTS({"acquire", object});
}

static void shared() {
  std::exception_ptr p = std::make_exception_ptr(Failure());
  ended = false;
  const void* object = nullptr;
  for (int i = 0; i < 2; ++i) {
    try {
      std::rethrow_exception(p);
    } catch (const Failure& f) {
      object = &f;
      CHECK(f.number == 5);
      fake_clear();
    }
    EXPECT_EVENTS({"release_join", object}, {"acquire", object});
  }
  std::exception_ptr q = p;
  fake_clear();
  p = nullptr;
  EXPECT_EVENTS({"release_join", object}, {"acquire", object});
  CHECK(!ended);
  q = nullptr;
  EXPECT_EVENTS({"acquire", object});
  CHECK(ended);
}

int main() {
  fake_set_awake(1);
  unshared();
  shared();
}
