// SPDX-License-Identifier: Apache-2.0
//
// `duress fix`: the change that `duress verify` proposes for a race, as a diff or applied.
#include <fmt/format.h>

#include "cli/command_app.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "repair/advice.h"

namespace duress::cli {

int fix_command(const Arguments& arguments) {
  DirOptions folder;
  std::string id;
  bool apply = false;
  CommandApp app("fix", "Prints the fix for a race as a unified diff, or applies it.");
  app.add_option("ID", id, "The race, or under --model rc11 the failure: R-12ab, F-34cd").required();
  folder.add_dir(app, "Folder with findings");
  app.add_flag("--apply", apply, "Apply the change to the source files");
  app.footer(
      "0: printed, or applied; 1: a fix is known but cannot be applied automatically; 2: wrong use; 125: no "
      "fix\n"
      "is known.\n\n"
      "  duress verify -- ./queue_test; duress fix R-12ab | patch -p1\n"
      "  duress fix R-12ab --apply");
  if (std::optional<int> code = app.read(arguments)) return *code;
  if (id.find('/') != std::string::npos) return wrong_use("fix", fmt::format("'{}' is not an id", id));
  std::string error;
  std::optional<repair::Advice> advice = repair::load_advice(folder.absolute_dir(), id, error);
  if (!advice) {
    say(error);
    return kExitToolFailed;
  }
  say(fmt::format("{}: no race and no failure in all {} interleavings then", advice->text,
                  advice->interleavings));
  if (advice->edits.empty()) {
    say("Duress cannot write this change; edit the source yourself");
    return 1;
  }
  if (!apply) {
    fmt::print("{}", advice->diff());
    return kExitOk;
  }
  error = repair::apply_advice(*advice);
  if (error.empty()) return kExitOk;
  say(error);
  return kExitToolFailed;
}

}  // namespace duress::cli
