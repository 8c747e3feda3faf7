// SPDX-License-Identifier: Apache-2.0
//
// `duress trace record`: runs a program and packs what its processes recorded.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/command_app.h"
#include "cli/option_error.h"
#include "cli/options.h"
#include "exec/files.h"
#include "exec/ownership.h"
#include "exec/run_once.h"
#include "exec/session.h"
#include "report/words.h"
#include "trace/convert.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::string output = "duress.trace", accesses = "first";
  bool controlled = false, quiet = false;
  std::int64_t seed = 1;
  std::vector<std::string> target;
};

/// Packs the traces in `work`: of the first process into the output, of others beside it. "" or what went
/// wrong; `packed`: how many there were.
std::string pack_all(const RecordOptions& options, const fs::path& work, pid_t pid, int& packed) {
  std::error_code code;
  std::string output = fs::absolute(options.output).string();
  for (const auto& entry : fs::directory_iterator(work, code)) {
    fs::path path = entry.path();
    if (path.extension() != ".trace") continue;
    bool root = path.stem() == std::to_string(pid) || (options.controlled && packed == 0);
    std::string to = root ? output : fmt::format("{}.{}", output, path.stem().string());
    std::string log = exec::read_file(fs::path(path).replace_extension(".jsonl").string()).value_or("");
    if (std::string error = trace::pack(path.string(), log, to); !error.empty()) return error;
    ++packed;
    bool all = options.accesses == "all" || options.controlled;
    if (!options.quiet)
      say(fmt::format("wrote {} ({} bytes, {})", report_path(to), report::grouped(fs::file_size(to, code)),
                      all ? "all accesses" : "first access per epoch"));
  }
  return {};
}

int record(const RecordOptions& options, const fs::path& work) {
  exec::OneRun run{options.target, work.string(), "", std::nullopt};
  run.options =
      fmt::format("chain=Record:first={}:seed={}", options.accesses == "first" ? 1 : 0, options.seed);
  if (options.controlled) run.plan = exec::random_plan(static_cast<u64>(options.seed));
  exec::OneRunResult result = exec::run_once(run);
  std::string error = result.problem;
  if (result.signalled && result.code == SIGXFSZ) error = result.damage;
  int packed = 0;
  if (error.empty()) error = pack_all(options, work, result.pid, packed);
  if (error.empty() && packed == 0) error = not_instrumented_text(options.target[0]);
  bool told = result.code == kExitToolFailed && !result.signalled;  // the runtime said what it lacks
  if (error.empty() && packed == 0 && told) return kExitToolFailed;
  if (error.empty() && packed == 0)
    error = fmt::format("{} left no trace; see duress doctor", options.target[0]);
  if (error.empty()) return result.exit_code();
  say(error);
  return kExitToolFailed;
}

}  // namespace

int record_command(const Arguments& arguments) {
  RecordOptions options;
  CommandApp app("trace record", "Runs a program and writes its events to a file.");
  app.add_option("-o,--output", options.output, "The file; default duress.trace").one_at_a_time();
  app.add_option("--accesses", options.accesses,
                 "first (default): of each thread's accesses between two releases the first to a location; "
                 "all: every access of the source")
      .one_of({"first", "all"});
  app.add_flag("--controlled", options.controlled, "One thread at a time, as --seed says; all accesses");
  add_seed(app, options.seed);
  app.add_flag("-q,--quiet", options.quiet, "Print nothing");
  if (std::optional<int> code = app.read_with_target(arguments, options.target)) return *code;
  std::error_code code;
  fs::path output = fs::absolute(options.output);
  if (std::string error = fs::exists(output, code) ? exec::check_document(output.string()) : "";
      !error.empty())
    return wrong_use("trace", option_error("--output", error));
  fs::create_directories(output.parent_path(), code);
  fs::path work = exec::private_folder(output.string() + fmt::format(".work-{}", getpid()));
  if (work.empty()) {
    say(fmt::format("cannot make a folder beside '{}': {}", options.output, std::strerror(errno)));
    return kExitToolFailed;
  }
  int result = record(options, work);
  fs::remove_all(work, code);
  return result;
}

}  // namespace duress::cli
