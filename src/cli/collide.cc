// SPDX-License-Identifier: Apache-2.0
//
// `duress collide`: samples an unmodified program, started here or running already. The sampling is
// src/collide's and the names are src/report's; here are the options, and what is shown in which order.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "cli/collide_options.h"
#include "cli/report_files.h"
#include "collide/elf_file.h"
#include "collide/tracer.h"
#include "exec/child.h"
#include "exec/oracle.h"
#include "exec/session.h"
#include "report/document.h"
#include "report/text_writer.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

report::Document make_document(const CollideOptions& options, const finding::RunLog& log,
                               report::Suppressions& suppressions) {
  report::Document document = new_document("collide", options.seed, options.trace.program);
  document.collide.emplace();
  document.collide->hidden = options.hidden;
  report::fill_document(log, suppressions, document);
  return document;
}

int execute(CollideOptions& options) {
  report::Suppressions suppressions;
  if (std::optional<int> code = options.load_suppressions(suppressions)) return *code;
  collide::TraceOptions& trace = options.trace;
  if (!trace.program.empty()) {
    const std::string& program = trace.program[0];
    std::string path = exec::program_path(program);
    if (collide::elf_class(path) == 32) {
      say(fmt::format("{} is a 32-bit program; only 64-bit ones can be sampled", program));
      return kExitToolFailed;
    }
  }
  bool watchpoints = true;
  trace.say = [&](const std::string& text) {
    watchpoints = false;
    say(text);
  };
  trace.keeps = [&](const finding::ProcessLog& log) {
    finding::RunLog whole;
    whole.processes.push_back(log);
    report::Suppressions copy = suppressions;
    return !make_document(options, whole, copy).races.empty();
  };
  collide::TraceResult result = collide::trace(trace);
  if (result.start_error != 0) {
    say(fmt::format("cannot start '{}': {}", trace.program[0], std::strerror(result.start_error)));
    return kExitToolFailed;
  }
  if (!result.problem.empty()) {
    say(result.problem);
    return kExitToolFailed;
  }

  report::Document document = make_document(options, result.log, suppressions);
  document.seconds = result.seconds;
  document.root_pid = result.pid;
  report::CollideReport& collide = *document.collide;
  collide.samples = result.counts.samples;
  collide.fired = result.counts.fired;
  collide.armed = result.counts.armed;
  collide.hits = result.counts.hits;
  collide.asked = trace.sampling.limits.per_second > 0 ? 0 : trace.sampling.limits.overhead;
  collide.overhead = result.overhead;
  collide.watchpoints = watchpoints;
  collide.pid = trace.pid;

  if (options.prints()) exec::write_all(STDERR_FILENO, report::to_text(document, options.finding_style()));
  bool written = options.write(document, options.dir);
  written = options.write_suppressions(document) && written;
  if (result.signalled && !result.cut && !options.quiet)
    say("the program was ended by " + exec::signal_name(result.code));
  if (!written) return kExitToolFailed;
  if (options.fail_on == "race" && !document.races.empty()) return kExitFindings;
  if (!trace.program.empty() && result.cut) return document.races.empty() ? kExitOutOfTime : kExitOk;
  int code = !result.ended || trace.program.empty() ? kExitOk
             : result.signalled                     ? 128 + result.code
                                                    : result.code;
  // Who saw nothing cannot say that nothing is wrong.
  return code == kExitOk && result.counts.samples == 0 ? kExitToolFailed : code;
}

}  // namespace

int collide_command(const Arguments& arguments) {
  CollideOptions options;
  if (std::optional<int> code = read_collide_options(arguments, options)) return *code;
  return execute(options);
}

}  // namespace duress::cli
