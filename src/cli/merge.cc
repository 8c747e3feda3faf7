// SPDX-License-Identifier: Apache-2.0
//
// `duress merge`: the report of a campaign on several machines from what its workers have recorded so far. It
// starts the campaign's own command, which takes recorded results instead of executing anything.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cluster/folder.h"

namespace duress::cli {

namespace fs = std::filesystem;

int merge_command(const Arguments& arguments) {
  Arguments dirs, more;
  for (const std::string& word : arguments) {
    if (word == "-h" || word == "--help") {
      fmt::print(
          "What the results in these folders say, while workers run or after.\n"
          "Usage: duress merge DIR... [OPTIONS of the campaign's command, as --json or -v]\n\n"
          "DIR is what duress classify, explore or verify was given with --dir. Results from several folders "
          "are\n"
          "taken together. Nothing is run; the exit code is that of the command.\n");
      return kExitOk;
    }
    (word[0] == '-' ? more : dirs).push_back(word);
  }
  if (dirs.empty()) return wrong_use("merge", "no folder given");
  std::string first = fs::absolute(dirs[0]).lexically_normal().string();
  std::optional<cluster::Folder> folder = cluster::Folder::current(first);
  if (std::string error = folder ? folder->owner_problem() : ""; !error.empty()) {
    say(error);
    return kExitToolFailed;
  }
  std::optional<cluster::CampaignFile> campaign = folder ? folder->campaign() : std::nullopt;
  if (!campaign) {
    say(fmt::format("no campaign of several machines in '{}'", dirs[0]));
    return kExitWrongUse;
  }
  Arguments words{"--executor", "recorded", "--dir", first};
  for (std::size_t i = 1; i < dirs.size(); ++i) {
    words.push_back("--from");
    words.push_back(fs::absolute(dirs[i]).lexically_normal().string());
  }
  words.insert(words.end(), more.begin(), more.end());
  bool ours = true;  // not yet the program's arguments
  for (const std::string& word : campaign->arguments) {
    auto name = [](const std::string& text) { return text.substr(0, text.find('=')); };
    ours = ours && word != "--";
    // An option that is given now replaces the recorded one.
    bool again = ours && word[0] == '-' &&
                 std::any_of(more.begin(), more.end(),
                             [&](const std::string& other) { return name(other) == name(word); });
    if (!again) words.push_back(word);
  }
  if (chdir(campaign->folder.c_str()) != 0) {
    say(fmt::format("cannot enter the folder '{}' where the campaign was started", campaign->folder));
    return kExitToolFailed;
  }
  for (const Command& command : commands()) {
    if (campaign->command == command.name) return command.run(words);
  }
  say(fmt::format("the campaign's command '{}' is not known", campaign->command));
  return kExitToolFailed;
}

}  // namespace duress::cli
