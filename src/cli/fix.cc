// SPDX-License-Identifier: Apache-2.0
//
// `duress fix`: the change that `duress verify` proposes for a race, as a diff, or made.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "repair/advice.h"

namespace duress::cli {

int fix_command(const Arguments& arguments) {
  std::string id, dir = ".duress";
  bool apply = false;
  CLI::App app("Prints the change that fixes a race found by `duress verify`, as a unified diff.",
               "duress fix");
  app.set_help_flag("-h,--help", "This text");
  app.add_option("ID", id, "The race, or under --model rc11 the failure: R-12ab, F-34cd")->required();
  app.add_option("--dir", dir, "Folder with findings; default .duress");
  app.add_flag("--apply", apply, "Make the change");
  app.footer(
      "0: printed, or made; 1: the change is known but too much for a program to make; 2: wrong use; 125: no "
      "fix "
      "is known.\n\n"
      "  duress verify -- ./queue_test && duress fix R-12ab | patch -p1\n"
      "  duress fix R-12ab --apply");
  try {
    Arguments reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    return wrong_use("fix", error.what());
  }
  if (id.find('/') != std::string::npos) return wrong_use("fix", fmt::format("'{}' is no id", id));
  std::string error;
  std::optional<repair::Advice> advice =
      repair::load_advice(std::filesystem::absolute(dir).lexically_normal().string(), id, error);
  if (!advice) {
    say(error);
    return kExitToolFailed;
  }
  say(fmt::format("{}: no race and no failure in all {} interleavings then", advice->text,
                  advice->interleavings));
  if (advice->edits.empty()) {
    say("that has to be done by hand");
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
