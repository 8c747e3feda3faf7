// SPDX-License-Identifier: Apache-2.0
//
// The test asks for the layout of its own types.
#include "report/type_layout.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <mutex>

namespace layout_test {

struct Inner {
  char tag;
  std::mutex lock;
  pthread_mutex_t posix;
};
struct Base {
  long before;
  std::mutex base_mu;
};
template <typename T>
struct Box : Base {
  T value;
  std::mutex mu_;
  Inner inner;
  static int shared;
};

// Used, so that debug information has it whole.
Box<int> box;

}  // namespace layout_test

namespace duress::report {
namespace {

std::int64_t distance(const void* from, const void* to) {
  return static_cast<const char*>(to) - static_cast<const char*>(from);
}

TEST(TypeLayout, FindsTheFieldBeside) {
  TypeLayout layout("/proc/self/exe");
  auto& box = layout_test::box;
  const std::string value = "layout_test::Box<int>::value";
  EXPECT_EQ(layout.neighbour(value, 0), value);
  EXPECT_EQ(layout.neighbour(value, distance(&box.value, &box.mu_)), "layout_test::Box<int>::mu_");
  EXPECT_EQ(layout.neighbour(value, distance(&box.value, &box.inner.lock)),
            "layout_test::Box<int>::inner.lock");
  EXPECT_EQ(layout.neighbour(value, distance(&box.value, &box.inner.posix)),
            "layout_test::Box<int>::inner.posix");
  EXPECT_EQ(layout.neighbour(value, distance(&box.value, &box.base_mu)), "layout_test::Box<int>::base_mu");
  EXPECT_EQ(layout.neighbour("layout_test::Box<int>::inner.tag", distance(&box.inner.tag, &box.mu_)),
            "layout_test::Box<int>::mu_");
}

TEST(TypeLayout, SaysNothingOutsideOrUnknown) {
  TypeLayout layout("/proc/self/exe");
  EXPECT_FALSE(layout.neighbour("layout_test::Box<int>::value", 1));  // in the middle
  EXPECT_FALSE(layout.neighbour("layout_test::Box<int>::value", 4096));
  EXPECT_FALSE(layout.neighbour("layout_test::Box<int>::value", -4096));
  EXPECT_FALSE(layout.neighbour("layout_test::Box<int>::none", 0));
  EXPECT_FALSE(layout.neighbour("layout_test::Nothing::value", 0));
  EXPECT_FALSE(layout.neighbour("counter", 0));
  EXPECT_FALSE(layout.neighbour("", 0));
  EXPECT_FALSE(TypeLayout("/nonexistent/program").neighbour("A::b", 0));
  EXPECT_FALSE(TypeLayout("/etc/passwd").neighbour("A::b", 0));
}

}  // namespace
}  // namespace duress::report
