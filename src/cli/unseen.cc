// SPDX-License-Identifier: Apache-2.0
#include "cli/unseen.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "collide/elf_file.h"
#include "collide/unseen_atomics.h"
#include "exec/child.h"
#include "exec/machine_checks.h"
#include "report/site_table.h"

namespace duress::cli {
namespace {

/// They only start others, which have a runtime of their own or are none of our business.
bool is_starter(const std::string& path) {
  static constexpr std::string_view kNames[] = {"sh",      "bash",  "dash",  "zsh",  "ksh",   "env",
                                                "timeout", "nice",  "time",  "make", "ninja", "ctest",
                                                "cmake",   "meson", "nohup", "sudo", "xargs"};
  std::error_code ignored;
  std::string name = std::filesystem::path(path).filename().string();
  std::string real = std::filesystem::canonical(path, ignored).filename().string();
  return std::ranges::any_of(kNames, [&](std::string_view one) { return one == name || one == real; });
}

}  // namespace

std::string preload_for(const std::string& program) {
  std::string path = exec::program_path(program);
  if (not_instrumented_text(program).empty() || collide::elf_class(path) != 64 || is_starter(path)) return {};
  if (report::SiteTable::load(path).is_of_another_version()) return {};  // it has a runtime, which says so
  return exec::installed("libduress_preload.so");
}

void drop_unwatched(finding::RunLog& log) {
  std::erase_if(log.processes,
                [](const finding::ProcessLog& process) { return process.preloaded && !process.has_sites; });
}

void mark_unseen(const std::string& program, report::Document& document) {
  if (document.races.empty()) return;
  // gcc's OpenMP runtime tells nobody what it orders (finding/unseen_runtimes.h has said that it is there).
  for (const std::string& what : document.incomplete) {
    if (!what.starts_with("libgomp")) continue;
    for (report::RaceEntry& race : document.races)
      race.unconfirmed = what.substr(0, what.find(' ')) +
                         " may order the accesses; build with duress-cc -fopenmp, which uses libomp";
  }
  std::vector<std::string> functions = collide::unseen_atomics(exec::program_path(program));
  if (functions.empty()) return;
  std::string text = collide::unseen_text(functions);
  document.incomplete.push_back(
      fmt::format("{}: not instrumented, with atomic instructions; accesses that only they order are "
                  "reported as races (duress doctor PROGRAM lists all)",
                  text));
  for (report::RaceEntry& race : document.races)
    race.unconfirmed = text + " may order the accesses; duress classify tries to bring them together";
}

}  // namespace duress::cli
