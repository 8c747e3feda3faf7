// SPDX-License-Identifier: Apache-2.0
//
// TEST and EXPECT_* for programs that duress-c++ compiles: it makes three bodies of every function, and of
// googletest's templates that takes half a minute.
#pragma once

#include <stdio.h>
#include <string.h>

namespace small_test {

struct Test {
  const char* suite;
  const char* name;
  void (*body)();
  Test* next;
};
inline Test* first = nullptr;
inline Test** last = &first;
inline int failed = 0;

struct Add {
  explicit Add(Test* test) {
    *last = test;
    last = &test->next;
  }
};

__attribute__((noinline)) inline void fail(const char* file, int line, const char* what, long long a,
                                           long long b) {
  ++failed;
  printf("%s:%d: %s: %lld and %lld\n", file, line, what, a, b);
}

/// All tests whose suite is named, or all; 1 if one failed or none was found.
inline int run(int count, char** suites) {
  int ran = 0, bad = 0;
  for (Test* t = first; t; t = t->next) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted |= strcmp(suites[i], t->suite) == 0;
    if (!wanted) continue;
    int before = failed;
    t->body();
    ++ran;
    bad += failed != before;
    if (failed != before) printf("FAILED: %s.%s\n", t->suite, t->name);
  }
  printf("%d tests, %d failed\n", ran, bad);
  return bad != 0 || ran == 0;
}

}  // namespace small_test

#define TEST(suite, name)                                                                       \
  static void test_##suite##_##name();                                                          \
  static small_test::Test info_##suite##_##name{#suite, #name, test_##suite##_##name, nullptr}; \
  static small_test::Add add_##suite##_##name{&info_##suite##_##name};                          \
  static void test_##suite##_##name()

#define SMALL_TEST_COMPARE(a, op, b)                                                            \
  do {                                                                                          \
    auto left = static_cast<long long>(a);                                                      \
    auto right = static_cast<long long>(b);                                                     \
    if (!(left op right)) small_test::fail(__FILE__, __LINE__, #a " " #op " " #b, left, right); \
  } while (false)
#define EXPECT_EQ(a, b) SMALL_TEST_COMPARE(a, ==, b)
#define EXPECT_LE(a, b) SMALL_TEST_COMPARE(a, <=, b)
#define EXPECT_GE(a, b) SMALL_TEST_COMPARE(a, >=, b)
#define EXPECT_GT(a, b) SMALL_TEST_COMPARE(a, >, b)
#define EXPECT_TRUE(a) SMALL_TEST_COMPARE((a) ? 1 : 0, ==, 1)
#define EXPECT_FALSE(a) SMALL_TEST_COMPARE((a) ? 1 : 0, ==, 0)
