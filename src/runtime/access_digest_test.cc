// SPDX-License-Identifier: Apache-2.0
#include "runtime/access_digest.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace duress {
namespace {

using What = AccessDigest::What;
constexpr uptr kHere = 0x7f0000001000;

class AccessDigestTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(d->prepare());
    d->begin();
  }
  std::unique_ptr<AccessDigest> d = std::make_unique<AccessDigest>();
};

TEST_F(AccessDigestTest, StrandsMayTakeTurnsAsTheyLike) {
  d->add(0, kHere, 4, What::kRead);
  d->add(1, kHere, 4, What::kWrite);
  d->add(0, kHere + 8, 4, What::kRead);
  u64 one = d->number();
  d->begin();
  d->add(1, kHere, 4, What::kWrite);
  d->add(0, kHere, 4, What::kRead);
  d->add(0, kHere + 8, 4, What::kRead);
  EXPECT_EQ(d->number(), one);
}

TEST_F(AccessDigestTest, EverythingElseMatters) {
  std::set<u64> numbers;
  int made = 0;
  for (u32 strand : {0u, 1u, 63u}) {
    for (uptr address : {kHere, kHere + 1, kHere + 8, kHere + (uptr{1} << 32)}) {
      for (u64 size : {1, 2, 4, 8, 16, 4096}) {
        for (What what : {What::kRead, What::kWrite, What::kAtomicRead, What::kAtomicWrite}) {
          for (int times : {1, 2}) {
            d->begin();
            for (int i = 0; i < times; ++i) d->add(strand, address, size, what);
            numbers.insert(d->number());
            ++made;
          }
        }
      }
    }
  }
  EXPECT_EQ(numbers.size(), static_cast<size_t>(made));
}

TEST_F(AccessDigestTest, TheOrderInAStrandMatters) {
  d->add(0, kHere, 4, What::kWrite);
  d->add(0, 1, 0, What::kCreated);
  u64 before = d->number();
  d->begin();
  d->add(0, 1, 0, What::kCreated);
  d->add(0, kHere, 4, What::kWrite);
  EXPECT_NE(d->number(), before);
}

TEST_F(AccessDigestTest, RemembersUntilItIsFull) {
  EXPECT_FALSE(d->known(7));
  EXPECT_TRUE(d->remember(7));
  EXPECT_TRUE(d->known(7));
  u64 n = 7;
  while (d->remember(n + 1)) ++n;
  EXPECT_GT(n, 10000u);
  EXPECT_TRUE(d->known(n));
  EXPECT_FALSE(d->known(n + 1));
  d->forget();
  EXPECT_FALSE(d->known(7));
}

}  // namespace
}  // namespace duress
