// SPDX-License-Identifier: Apache-2.0
//
// `duress trace`: record events of a program; analyse, print and convert what was recorded.
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/trace_input.h"
#include "exec/exchange.h"
#include "exec/launch.h"
#include "exec/target_start.h"
#include "report/site_table.h"
#include "report/words.h"

namespace duress::cli {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::string output = "duress.trace";
  std::string accesses = "first";
  bool controlled = false, quiet = false;
  std::int64_t seed = 1;
  std::vector<std::string> target;
};

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Packs what a process wrote, chunk by chunk, with its log. "" or what went wrong.
std::string pack(const fs::path& raw_trace, const fs::path& log, const std::string& output) {
  std::string error;
  std::unique_ptr<trace::Source> source = trace::open_source(raw_trace.string(), error);
  if (!source) return error;
  trace::ChunkReader reader(*source);
  if (!reader.open()) return fmt::format("{}: {}", raw_trace.string(), reader.problem());
  File file(std::fopen(output.c_str(), "wb"));
  if (!file) return fmt::format("cannot write '{}': {}", output, std::strerror(errno));
  trace::ChunkWriter writer(file.get());
  bool good = writer.open(reader.first_only());
  trace::Chunk chunk;
  while (good && reader.next(chunk)) {
    good = writer.put(chunk.kind, chunk.thread, chunk.bytes.data(), chunk.bytes.size());
  }
  std::string text = read_text(log);
  for (std::size_t at = 0; good && at < text.size(); at += 1u << 20) {
    good = writer.put(recording::ChunkKind::kText, 0, text.data() + at,
                      std::min<std::size_t>(text.size() - at, 1u << 20));
  }
  if (std::fflush(file.get()) != 0) good = false;
  return good ? "" : fmt::format("cannot write '{}': {}", output, std::strerror(errno));
}

int record(const RecordOptions& options) {
  std::error_code code;
  fs::path output = fs::absolute(options.output);
  if (fs::is_directory(output, code))
    return wrong_use("trace", fmt::format("'{}' is a folder", options.output));
  fs::path work = output.string() + fmt::format(".work-{}", getpid());
  fs::create_directories(work, code);
  if (code) {
    say(fmt::format("cannot make the folder '{}': {}", work.string(), code.message()));
    return kExitToolFailed;
  }
  std::string words = fmt::format("log_dir={}:chain=Record:first={}:seed={}", work.string(),
                                  options.accesses == "first" ? 1 : 0, options.seed);
  std::unique_ptr<exec::Exchange> exchange;
  if (options.controlled) {
    std::string error;
    exec::Plan plan;
    plan.head.seed = static_cast<u64>(options.seed);
    plan.head.strategy = StrategyId::kRandom;
    plan.head.detect = trail::Detect::kRaces;
    plan.head.points = trail::Points::kLongRuns;  // a thread that spins on a plain variable must be preempted
    exchange = exec::Exchange::make(work.string(), error);
    if (!exchange || !exchange->put(plan)) {
      say(error);
      return kExitToolFailed;
    }
    words = exec::padded_options(fmt::format("{}:mode=controlled:request={}:record={}", words,
                                             exchange->request_path(), exchange->record_path()));
    personality(static_cast<unsigned long>(personality(0xffffffff)) | ADDR_NO_RANDOMIZE);
  }
  exec::LaunchResult result = exec::launch(options.target, {{"DURESS_OPTIONS", words}});
  if (result.start_error != 0) {
    fs::remove_all(work, code);
    say(fmt::format("cannot start '{}': {}", options.target[0], std::strerror(result.start_error)));
    return kExitToolFailed;
  }
  int packed = 0;
  for (const auto& entry : fs::directory_iterator(work, code)) {
    if (entry.path().extension() != ".trace") continue;
    std::string pid = entry.path().stem().string();
    bool root = pid == std::to_string(result.pid) || options.controlled;
    std::string to = root && packed == 0 ? output.string() : fmt::format("{}.{}", output.string(), pid);
    if (!root) to = fmt::format("{}.{}", output.string(), pid);
    fs::path log = entry.path();
    if (std::string error = pack(entry.path(), log.replace_extension(".jsonl"), to); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
    ++packed;
    if (!options.quiet) {
      say(fmt::format(
          "wrote {} ({} bytes, {})", report_path(to), report::grouped(fs::file_size(to, code)),
          options.accesses == "all" || options.controlled ? "all accesses" : "first access per epoch"));
    }
  }
  fs::remove_all(work, code);
  if (packed == 0) {
    bool instrumented = report::SiteTable::load(options.target[0]).size() != 0;
    say(instrumented ? fmt::format("{} left no trace; see duress doctor", options.target[0])
                     : fmt::format("{} is not instrumented; build it with duress-cc or duress-c++",
                                   options.target[0]));
    return kExitToolFailed;
  }
  return result.exit_code();
}

int record_command(const Arguments& arguments) {
  RecordOptions options;
  CommandApp app("trace record", "Runs a program and writes its events to a file.");
  app.add_option("-o,--output", options.output, "The file; default duress.trace")->allow_extra_args(false);
  app.add_option("--accesses", options.accesses,
                 "first (default): of each thread's accesses between two releases the first to a location; "
                 "all: every access of the source")
      ->check(CLI::IsMember({"first", "all"}));
  app.add_flag("--controlled", options.controlled, "One thread at a time, as --seed says; all accesses");
  add_seed(app, options.seed);
  app.add_flag("-q,--quiet", options.quiet, "Print nothing");
  if (std::optional<int> code = app.read_with_target(arguments, options.target)) return *code;
  return record(options);
}

int convert_command(const Arguments& arguments) {
  std::string input, output;
  CommandApp app("trace convert", "Turns a trace into RAPID's text, and RAPID's text into a trace.");
  app.add_option("INPUT", input, "A trace, or text")->required();
  app.add_option("OUTPUT", output, "The other; - is standard output (text only)")->required();
  if (std::optional<int> code = app.read(arguments)) return *code;
  return convert_trace(input, output);
}

}  // namespace

int trace_command(const Arguments& arguments) {
  static constexpr const char* kUsage =
      "duress trace record [-o FILE] [--accesses first|all] [--controlled] -- PROG ARGS\n"
      "duress trace analyze [-t CHAIN] [--steps] FILE\n"
      "duress trace predict FILE [--confirm -- PROG ARGS]\n"
      "duress trace print FILE\n"
      "duress trace convert INPUT OUTPUT\n";
  if (arguments.empty()) return wrong_use("trace", "record, analyze, predict, print or convert?");
  const std::string& what = arguments[0];
  Arguments rest(arguments.begin() + 1, arguments.end());
  if (what == "--help" || what == "-h") {
    fmt::print("{}", kUsage);
    return kExitOk;
  }
  if (what == "record") return record_command(rest);
  if (what == "analyze") return analyze_command(rest, false);
  if (what == "predict") return analyze_command(rest, true);
  if (what == "print") return print_command(rest);
  if (what == "convert") return convert_command(rest);
  return wrong_use("trace", fmt::format("'{}' is not record, analyze, predict, print or convert", what));
}

}  // namespace duress::cli
