// SPDX-License-Identifier: Apache-2.0
//
// `duress status`: a campaign on several machines, looked at from outside while it runs.
#include "cluster/status.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/command_app.h"
#include "cli/options.h"
#include "cli/stop.h"

namespace duress::cli {

int status_command(const Arguments& arguments) {
  DirOptions where;
  bool watch = false, json = false;
  CommandApp app("status", "Shows how far a campaign on several machines is, and which workers run.");
  where.add_dir(app, "The folder of the campaign");
  app.add_flag("--watch", watch, "Again every two seconds, until it is finished");
  app.add_flag("--json", json, "One JSON document on stdout");
  if (std::optional<int> code = app.read(arguments)) return *code;
  std::optional<cluster::Folder> folder = cluster::Folder::current(where.absolute_dir());
  if (!folder || !folder->campaign()) {
    say(fmt::format("no campaign of several machines in '{}'; give its folder with --dir", where.dir));
    return kExitWrongUse;
  }
  catch_signals();
  cluster::CampaignStatus status;
  status.look(*folder, false);
  do {
    // Heartbeats come every second.
    for (int i = 0; i < (watch ? 20 : 15) && !stop_asked; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    status.look(*folder, true);
    if (!json && watch && isatty(STDOUT_FILENO) != 0) fmt::print("\033[H\033[J");
    fmt::print("{}", json ? document_of(status) : text_of(status));
    std::fflush(stdout);
  } while (watch && !status.campaign.finished && !stop_asked);
  return kExitOk;
}

}  // namespace duress::cli
