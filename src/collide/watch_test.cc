// SPDX-License-Identifier: Apache-2.0
//
// One thread watches another, which moves only when it is told to.
#include "collide/watch.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <semaphore>
#include <thread>

namespace duress::collide {
namespace {

alignas(8) volatile std::uint64_t watched[2];

/// mov [watched], and where it ends.
__attribute__((noinline)) void write_watched(std::uint64_t value) {
  watched[0] = value;
}
__attribute__((noinline)) std::uint64_t read_watched() {
  return watched[0];
}

class WatchTest : public testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::thread([this] {
      tid_ = static_cast<pid_t>(syscall(SYS_gettid));
      done_.release();
      for (;;) {
        next_.acquire();
        if (!what_) return;
        what_();
        done_.release();
      }
    });
    done_.acquire();
    watch_ = Watch::open(tid_);
    if (!watch_ &&
        (errno == EACCES || errno == EPERM || errno == ENOENT || errno == ENOSYS || errno == ENODEV))
      GTEST_SKIP() << "no hardware watchpoints here";
    ASSERT_TRUE(watch_);
  }
  void TearDown() override {
    if (!thread_.joinable()) return;
    what_ = nullptr;
    next_.release();
    thread_.join();
  }
  void let(std::function<void()> what) {
    what_ = std::move(what);
    next_.release();
    done_.acquire();
  }
  Address address() const { return reinterpret_cast<Address>(&watched[0]); }

  pid_t tid_ = 0;
  std::thread thread_;
  std::binary_semaphore next_{0}, done_{0};
  std::function<void()> what_;
  std::unique_ptr<Watch> watch_;
};

bool inside(Address ip, const void* function) {
  auto begin = reinterpret_cast<Address>(function);
  return ip > begin && ip < begin + 128;
}

TEST_F(WatchTest, AWriteIsSeenWithItsRegistersAndStack) {
  ASSERT_TRUE(watch_->set(address(), 8, false));
  EXPECT_FALSE(watch_->take());
  let([] { write_watched(77); });
  auto hit = watch_->take();
  ASSERT_TRUE(hit);
  ASSERT_TRUE(hit->detailed);
  EXPECT_TRUE(inside(hit->registers[kRip], reinterpret_cast<const void*>(&write_watched)));
  EXPECT_GE(hit->stack.size(), 64u);
  EXPECT_FALSE(watch_->take());
}

TEST_F(WatchTest, ReadsOnlyIfAsked) {
  ASSERT_TRUE(watch_->set(address(), 8, false));
  let([] { read_watched(); });
  EXPECT_FALSE(watch_->take());
  ASSERT_TRUE(watch_->set(address(), 8, true));
  let([] { read_watched(); });
  EXPECT_TRUE(watch_->take());
}

TEST_F(WatchTest, NeighboursAreNotWatched) {
  ASSERT_TRUE(watch_->set(address() + 8, 8, true));
  let([] { write_watched(1); });
  EXPECT_FALSE(watch_->take());
}

TEST_F(WatchTest, MovedAndCleared) {
  ASSERT_TRUE(watch_->set(address() + 8, 8, true));
  ASSERT_TRUE(watch_->set(address(), 4, true));
  watch_->clear();
  let([] { write_watched(1); });
  EXPECT_FALSE(watch_->take());
  ASSERT_TRUE(watch_->set(address(), 4, true));
  let([] { write_watched(2); });
  EXPECT_TRUE(watch_->take());
}

TEST_F(WatchTest, OneHitIsAllItCosts) {
  ASSERT_TRUE(watch_->set(address(), 8, true));
  let([] {
    for (int i = 0; i < 1000; ++i) write_watched(static_cast<std::uint64_t>(i));
  });
  EXPECT_TRUE(watch_->take());
  EXPECT_FALSE(watch_->take());
}

}  // namespace
}  // namespace duress::collide
