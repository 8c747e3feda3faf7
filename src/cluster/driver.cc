// SPDX-License-Identifier: Apache-2.0
#include "cluster/driver.h"

#include <signal.h>

#include <optional>
#include <vector>

#include "cluster/folder.h"
#include "exec/child.h"
#include "exec/layout.h"

namespace duress::cluster {

Driver::~Driver() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  exec::child_code(pid_, true);
}

void Driver::look(bool abandoned) {
  if (pid_ > 0 && exec::child_code(pid_, false) >= 0) pid_ = -1;
  // One driver is enough: the first shard's.
  if (abandoned && pid_ <= 0 && shard_ == 1) start();
}

void Driver::start() {
  std::optional<Folder> folder = Folder::current(dir_);
  std::optional<CampaignFile> campaign = folder ? folder->campaign() : std::nullopt;
  if (!campaign || campaign->finished) return;
  exec::ChildStart command;
  command.argv = {exec::layout().duress, campaign->command, "--executor", "background", "--dir", dir_};
  command.argv.insert(command.argv.end(), campaign->arguments.begin(), campaign->arguments.end());
  pid_ = exec::start_child(command);
  say_("no process drives the campaign; this worker does, until the command is started again");
}

}  // namespace duress::cluster
