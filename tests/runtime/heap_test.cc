// SPDX-License-Identifier: Apache-2.0
//
// malloc's family and operator new: every block is announced with its size, every end before it happens.
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <new>

#include "fake_sync.h"

static volatile size_t huge = SIZE_MAX / 2;

/// The last event was an allocation of `size` bytes at p, and nothing else happened.
static void allocated(void* p, size_t size) {
  CHECK(p && fake_detail(0) == static_cast<long>(size));
  EXPECT_EVENTS({"allocated", p});
}

static void freed(void* p) {
  EXPECT_EVENTS({"freeing", p});
}

static void c_functions() {
  void* p;
  fake_clear();
  p = malloc(10), allocated(p, 10);
  free(p), freed(p);
  free(nullptr);
  EXPECT_NO_EVENTS();
  p = calloc(3, 5), allocated(p, 15);
  CHECK(memcmp(p, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15) == 0);
  fake_clear();
  void* q = realloc(p, 100000);
  CHECK(q);
  EXPECT_EVENTS({"freeing", p}, {"allocated", q});
  errno = 0;
  CHECK(realloc(q, huge) == nullptr && errno == ENOMEM);
  EXPECT_EVENTS({"freeing", q}, {"allocated", q});
  CHECK(reallocarray(q, huge, 4) == nullptr && errno == ENOMEM);
  EXPECT_NO_EVENTS();
  p = reallocarray(q, 10, 10);
  EXPECT_EVENTS({"freeing", q}, {"allocated", p});
  CHECK(realloc(p, 0) == nullptr);
  EXPECT_EVENTS({"freeing", p});
  p = realloc(nullptr, 7), allocated(p, 7), free(p), freed(p);
  p = memalign(256, 7), CHECK(reinterpret_cast<size_t>(p) % 256 == 0), allocated(p, 7), free(p), freed(p);
  p = aligned_alloc(64, 64), CHECK(reinterpret_cast<size_t>(p) % 64 == 0), allocated(p, 64), free(p),
  freed(p);
  p = valloc(5), CHECK(reinterpret_cast<size_t>(p) % 4096 == 0), allocated(p, 5), free(p), freed(p);
  p = pvalloc(5), CHECK(fake_detail(0) >= 4096), free(p), fake_clear();
  errno = 5;
  CHECK(posix_memalign(&p, 3, 8) == EINVAL && posix_memalign(&p, 64, huge) == ENOMEM && errno == 5);
  EXPECT_NO_EVENTS();
  CHECK(posix_memalign(&p, 64, 8) == 0), allocated(p, 8), free(p), freed(p);
  CHECK(malloc(huge) == nullptr && errno == ENOMEM);
  EXPECT_NO_EVENTS();
}

static void operators() {
  fake_clear();
  void* p;
  using Align = std::align_val_t;
  p = operator new(9), allocated(p, 9), operator delete(p), freed(p);
  p = operator new[](9), allocated(p, 9), operator delete[](p), freed(p);
  p = operator new(9, std::nothrow), allocated(p, 9), operator delete(p, std::nothrow), freed(p);
  p = operator new[](9, std::nothrow), allocated(p, 9), operator delete[](p, std::nothrow), freed(p);
  p = operator new(9), allocated(p, 9), operator delete(p, size_t{9}), freed(p);
  p = operator new[](9), allocated(p, 9), operator delete[](p, size_t{9}), freed(p);
  p = operator new(9, Align{128}), allocated(p, 9), operator delete(p, Align{128}), freed(p);
  p = operator new[](9, Align{128}), CHECK(reinterpret_cast<size_t>(p) % 128 == 0), allocated(p, 9);
  operator delete[](p, size_t{9}, Align{128}), freed(p);
  p = operator new(9, Align{128}, std::nothrow), allocated(p, 9), operator delete(p, size_t{9}, Align{128}),
  freed(p);
  p = operator new[](9, Align{128}, std::nothrow), allocated(p, 9);
  operator delete[](p, Align{128}, std::nothrow), freed(p);
  p = operator new(0), allocated(p, 0), operator delete(p), freed(p);
  CHECK(operator new(huge, std::nothrow) == nullptr);
  EXPECT_NO_EVENTS();
  static int asked = 0;
  std::set_new_handler([] {
    if (++asked == 2) std::set_new_handler(nullptr);
  });
  bool thrown = false;
  try {
    (void)operator new(huge);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown && asked == 2);
}

int main() {
  fake_set_awake(1);
  c_functions();
  operators();
  fake_set_awake(0);
  fake_clear();
  free(malloc(4));
  CHECK(fake_count("allocated") == 0 && fake_count("freeing") == 0);
}
