// SPDX-License-Identifier: Apache-2.0
//
// What several commands say.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "cli/error_stream.h"
#include "exec/child.h"
#include "exec/worker_problem.h"
#include "finding/plain_file.h"
#include "report/path.h"
#include "report/site_table.h"

namespace duress::cli {

void say_plain(const std::string& text) {
  write_errors(report::printable(text) + "\n");
}

void say(const std::string& text) {
  say_plain("duress: " + text);
}

int wrong_use(const std::string& command, const std::string& text) {
  say(fmt::format("{}; see duress {}--help", text, command.empty() ? "" : command + " "));
  return kExitWrongUse;
}

std::string not_instrumented_text(const std::string& program) {
  std::string path = exec::program_path(program);
  report::SiteTable sites = report::SiteTable::load(path);
  if (sites.is_of_another_version())
    return program + " has objects of another version of duress-cc; build everything with the same one";
  if (sites.size() != 0) return {};
  // There may be no address space for it (ulimit -v).
  if (access(path.c_str(), R_OK) == 0 && !finding::PlainFile(path).good()) return {};
  return program + " is not instrumented; build it with duress-cc or duress-c++";
}

std::string worker_problem_text(const std::string& program, const exec::WorkerProblem& problem) {
  std::string text = problem.kind == exec::WorkerProblem::Kind::kEnded ? not_instrumented_text(program) : "";
  return text.empty() ? problem.text : text;
}

std::string report_path(const std::string& path) {
  std::error_code ignored;
  return report::shown_path(path, std::filesystem::current_path(ignored).string());
}

}  // namespace duress::cli
