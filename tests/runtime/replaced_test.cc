// SPDX-License-Identifier: Apache-2.0
//
// A program that defines functions of these names itself keeps its own, and partly replaced operators work.
#include <stdlib.h>
#include <string.h>

#include <new>

#include "fake_sync.h"

static char pool[4096];
static size_t used = 0;
static int released = 0, daemons = 0;

void* operator new(size_t size) {
  void* p = pool + used;
  used += (size + 15) / 16 * 16;
  return p;
}
void operator delete(void*) noexcept {
  ++released;
}
extern "C" int daemon(int, int) noexcept {
  return ++daemons;
}

int main() {
  fake_set_awake(1);
  fake_clear();
  char* many = new char[100];
  CHECK(many >= pool && many < pool + sizeof pool);
  delete[] many;
  long* one = new (std::nothrow) long;
  CHECK(reinterpret_cast<char*>(one) >= pool && reinterpret_cast<char*>(one) < pool + sizeof pool);
  operator delete(one, sizeof *one);
  CHECK(released == 2 && daemon(0, 0) == 1);
  EXPECT_NO_EVENTS();
}
