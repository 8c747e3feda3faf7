// SPDX-License-Identifier: Apache-2.0
//
// Drives a campaign that no process drives any more, by starting the campaign's command again.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/types.h"

namespace duress::cluster {

/// Threads: one. Ends what it started with itself.
class Driver {
 public:
  Driver(std::string dir, u64 shard, std::function<void(const std::string&)> say)
      : dir_(std::move(dir)), shard_(shard), say_(std::move(say)) {}
  ~Driver();

  /// `abandoned`: nobody drives the campaign.
  void look(bool abandoned);

 private:
  void start();

  std::string dir_;
  u64 shard_;
  std::function<void(const std::string&)> say_;
  pid_t pid_ = -1;
};

}  // namespace duress::cluster
