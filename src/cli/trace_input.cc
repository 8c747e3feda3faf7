// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_input.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catalog/lookup.h"
#include "cli/command_line.h"
#include "cli/report_files.h"
#include "cli/trace_confirm.h"
#include "report/document.h"
#include "report/json_writer.h"
#include "report/text_writer.h"
#include "trace/builder.h"
#include "trace/offline.h"
#include "trace/sync_p.h"

namespace duress::cli {

namespace {

/// Names of a text trace, for analyses that tell their steps.
class TextNamer final : public Namer {
 public:
  explicit TextNamer(const trace::RapidNames& names) : names_(names) {}
  virtual ~TextNamer() = default;
  void thread(Tid tid, Text& into) const override {
    if (raw(tid) < names_.threads.size()) {
      into.put(names_.threads[raw(tid)].c_str());
    } else {
      into.put('T').number(raw(tid));
    }
  }
  void location(uptr address, Text& into) const override {
    auto it = names_.objects.find(address);
    if (it != names_.objects.end()) {
      into.put(it->second.c_str());
    } else {
      into.hex(address);
    }
  }

 private:
  const trace::RapidNames& names_;
};

struct AnalyzeOptions {
  std::string chain = "FastTrack", file, json, fail_on = "race";
  bool predict = false, steps = false, stats = false, quiet = false, verbose = false, confirm = false;
  ConfirmOptions confirming;
  std::vector<std::string> suppressions;
};

const char* done(finding::Access access) {
  switch (access) {
    case finding::Access::kRead:
      return "reads";
    case finding::Access::kAtomicRead:
      return "atomically reads";
    case finding::Access::kAtomicWrite:
    case finding::Access::kAtomicRmw:
      return "atomically writes";
    case finding::Access::kFree:
      return "frees";
    default:
      return "writes";
  }
}

/// What was found in a text trace: its places are numbers, its names its own.
std::size_t tell_text(const finding::RunLog& log, const trace::RapidNames& names, const std::string& file) {
  auto name = [&](finding::Address address) {
    auto it = names.objects.find(address);
    return it == names.objects.end() ? fmt::format("{:#x}", address) : it->second;
  };
  auto who = [&](int thread) {
    auto i = static_cast<std::size_t>(thread);
    return i < names.threads.size() ? names.threads[i] : fmt::format("T{}", thread);
  };
  std::size_t races = 0;
  for (const finding::ProcessLog& process : log.processes) {
    auto tell = [&](const finding::RaceRecord& race, const char* what) {
      fmt::print("{}:{}: warning: {} on {} [{}]: {} {} it, {} {} it at {}\n", file,
                 race.cur.site ? race.cur.site->index : 0, what, name(race.address), race.analysis,
                 who(race.cur.thread), done(race.cur.access), who(race.prev.thread), done(race.prev.access),
                 race.prev.site ? race.prev.site->index : 0);
    };
    for (const finding::RaceRecord& race : process.races) tell(race, "data race"), ++races;
    for (const finding::RaceRecord& race : process.potentials) tell(race, "potential data race");
    for (const finding::WarningRecord& warning : process.warnings) {
      std::string places;
      for (const finding::AccessRecord& site : warning.sites) {
        places += fmt::format("{}{} at {}", places.empty() ? "" : ", ", who(site.thread),
                              site.site ? site.site->index : 0);
      }
      fmt::print("{}:{}: warning: {}{} [{}]: {}\n", file,
                 warning.sites.empty() || !warning.sites[0].site ? 0 : warning.sites[0].site->index,
                 warning.what, warning.address ? " (" + name(warning.address) + ")" : "", warning.analysis,
                 places);
    }
  }
  return races;
}

/// What comes goes to the analyses, accesses many at a time.
struct Played {
  trace::Offline& offline;
  std::uint64_t& events;
  void operator()(const Event& event) const {
    ++events;
    offline.play(event);
  }
  void operator()(Tid thread, const Access* accesses, std::size_t count) const {
    events += count;
    offline.play(thread, accesses, count);
  }
  void soon(uptr address) const { offline.soon(address); }
};

int analyze(const AnalyzeOptions& options) {
  report::Suppressions suppressions;
  for (const std::string& file : options.suppressions) {
    if (std::string error = suppressions.load(file); !error.empty()) {
      say(error);
      return kExitWrongUse;
    }
  }
  TraceInput input;
  if (std::string error = input.open(options.file); !error.empty()) {
    say(error);
    return kExitWrongUse;
  }
  trace::Offline offline;
  offline.on_line = [](const std::string& text) { fmt::print("{}\n", text); };
  TextNamer namer(input.names());
  if (options.steps) offline.show_steps(namer);
  if (std::string error = offline.build(options.chain); !error.empty()) return wrong_use("trace", error);
  std::uint64_t events = 0;
  std::clock_t begin = std::clock();
  auto start = std::chrono::steady_clock::now();
  trace::SyncP sync_p(offline);
  if (options.predict) {
    input.each([&](const Event& event) {
      ++events;
      offline.play(event);
      sync_p.play(event);
    });
  } else {
    input.each_pipelined(Played{offline, events});
  }
  if (options.predict) {
    sync_p.finish();
    if (!sync_p.complete()) say("the trace is long: not every pair of accesses was looked at");
  }
  if (options.stats) {
    double processor = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    say(fmt::format("{} events in {:.3f} s, {:.1f} million a second; {:.3f} s of processor time", events,
                    seconds, static_cast<double>(events) / seconds / 1e6, processor));
  }
  if (!input.problem().empty()) say(input.problem());
  if (input.cut()) say(fmt::format("{}: cut off; read up to the cut", options.file));
  if (!input.problem().empty() && events == 0) return kExitWrongUse;

  std::string text = input.log_text();
  if (input.is_text())
    text =
        "{\"t\":\"start\",\"version\":1,\"pid\":0}\n{\"t\":\"sites\",\"module\":0,\"first\":16,\"count\":"
        "2147483647}\n";
  finding::RunLog log = offline.finish(text, input.stacks(), options.stats);
  if (input.is_text() && options.confirm)
    return wrong_use("trace", "--confirm needs a trace of the program, not text");
  if (input.is_text()) {
    std::size_t races = tell_text(log, input.names(), options.file);
    for (const auto& [name, value] : log.processes[0].stats) fmt::print("{}  {}\n", name, value);
    return races != 0 && options.fail_on == "race" ? kExitFindings : kExitOk;
  }
  report::Document document = new_document("trace", 1, log.processes[0].argv);
  document.root_pid = log.processes[0].pid;
  report::fill_document(log, suppressions, document);
  report::TextStyle style;
  style.detail = options.quiet     ? report::Detail::kQuiet
                 : options.verbose ? report::Detail::kVerbose
                                   : report::Detail::kNormal;
  style.stats = options.stats;
  std::fflush(stdout);
  if (options.json != "-") fmt::print(stderr, "{}", report::to_text(document, style));
  if (options.json == "-") {
    fmt::print("{}", report::to_json(document));
  } else if (!options.json.empty()) {
    std::ofstream out(options.json, std::ios::binary);
    out << report::to_json(document);
    out.flush();
    if (!out) {
      say(fmt::format("cannot write '{}': {}", options.json, std::strerror(errno)));
      return kExitToolFailed;
    }
  }
  if (options.confirm) {
    if (int code = confirm(options.confirming, log); code != kExitOk) return code;
  }
  return options.fail_on == "race" && !document.races.empty() ? kExitFindings : kExitOk;
}

}  // namespace

std::string TraceInput::open(const std::string& path) {
  path_ = path;
  std::string error;
  source_ = trace::open_source(path, error);
  if (!source_) return error;
  char magic[sizeof recording::kMagic] = {};
  std::size_t got = source_->read(magic, sizeof magic);
  text_ = got != sizeof magic || std::memcmp(magic, recording::kMagic, sizeof magic) != 0;
  source_ = trace::open_source(path, error);
  if (!source_) return error;
  if (text_) return {};
  reader_ = std::make_unique<trace::EventReader>(*source_);
  return reader_->open() ? "" : fmt::format("{}: {}", path, reader_->problem());
}

void TraceInput::take_problem() {
  if (!reader_->problem().empty()) problem_ = fmt::format("{}: {}", path_, reader_->problem());
}

void TraceInput::each_line(const std::function<void(const Event&)>& visit) {
  std::ifstream in(path_, std::ios::binary);
  trace::RapidReader& reader = rapid_;
  std::vector<Event> events;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line[0] == '#') {
      reader.skip();
      continue;
    }
    events.clear();
    if (!reader.line(line, events)) {
      problem_ = fmt::format("{}:{}: {}", path_, number, reader.problem());
      break;
    }
    for (const Event& event : events) visit(event);
  }
}

int analyze_command(const Arguments& arguments, bool predict) {
  AnalyzeOptions options;
  options.predict = predict;
  if (predict) options.chain = "SHB";
  CommandApp app(predict ? "trace predict" : "trace analyze",
                 predict ? "Races that follow from a trace, also if it does not show them: SHB and SyncP."
                         : "Runs analyses on a trace or on RAPID's text.");
  app.add_option("-t,--tool", options.chain,
                 fmt::format("Chain of analyses (see duress list analyses); default {}", options.chain));
  app.add_flag("--steps", options.steps, "JRF: h after each event");
  app.add_flag("--stats", options.stats, "Print the analyses' counters");
  app.add_option("--json", options.json, "Write one JSON document: --json=FILE, - is standard output");
  add_suppressions(app, options.suppressions);
  app.add_option("--fail-on", options.fail_on, "race (default) or never: what makes the exit code 66")
      ->check(CLI::IsMember({"race", "never"}));
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each finding");
  app.add_flag("-v,--verbose", options.verbose, "All frames of all stacks");
  app.add_option("FILE", options.file, "The trace")->required();
  if (predict) {
    app.add_flag("--confirm", options.confirm, "Run the program after -- and create what was predicted");
    app.add_option("--runs", options.confirming.runs, "With --confirm: how many executions; default 256")
        ->check(at_least(1));
    add_seed(app, options.confirming.seed);
    options.confirming.add_dir(app, "With --confirm: folder for records");
  }
  std::optional<int> code =
      predict ? app.read_before_mark(arguments, options.confirming.target) : app.read(arguments);
  if (code) return *code;
  if (std::string error = catalog::check_chain(options.chain); !error.empty())
    return wrong_use("trace", error);
  if (options.confirm && (options.confirming.target.empty() || options.confirming.target[0].empty()))
    return wrong_use("trace", "--confirm needs the program; put it and its arguments after --");
  options.confirming.quiet = options.quiet;
  return analyze(options);
}

int print_command(const Arguments& arguments) {
  if (arguments.size() != 1 || arguments[0] == "--help" || arguments[0] == "-h") {
    if (arguments.size() == 1) {
      fmt::print("duress trace print FILE: the events of a trace, one a line\n");
      return kExitOk;
    }
    return wrong_use("trace", "print takes one file");
  }
  TraceInput input;
  if (std::string error = input.open(arguments[0]); !error.empty()) {
    say(error);
    return kExitWrongUse;
  }
  trace::Offline offline;
  offline.on_line = [](const std::string& text) { fmt::print("{}\n", text); };
  offline.build("Print");
  input.each([&](const Event& event) { offline.play(event); });
  if (input.cut()) say(fmt::format("{}: cut off; read up to the cut", arguments[0]));
  if (input.problem().empty()) return kExitOk;
  say(input.problem());
  return kExitWrongUse;
}

/// A trace's text is read to its end before its events, because it may lie behind them.
static trace::RapidNames names_of_trace(const std::string& path) {
  std::string error, text;
  std::unique_ptr<trace::Source> source = trace::open_source(path, error);
  if (!source) return {};
  trace::ChunkReader reader(*source);
  trace::Chunk chunk;
  for (bool good = reader.open(); good && reader.next(chunk);) {
    if (chunk.kind == recording::ChunkKind::kText) text.append(chunk.bytes.begin(), chunk.bytes.end());
  }
  return trace::names_from_text(text);
}

int convert_trace(const std::string& from, const std::string& to) {
  TraceInput input;
  if (std::string error = input.open(from); !error.empty()) {
    say(error);
    return kExitWrongUse;
  }
  bool standard = to == "-";
  if (standard && input.is_text()) return wrong_use("trace", "a trace is not written to standard output");
  std::FILE* file = standard ? stdout : std::fopen(to.c_str(), "wb");
  if (file == nullptr) {
    say(fmt::format("cannot write '{}': {}", to, std::strerror(errno)));
    return kExitToolFailed;
  }
  bool good = true;
  if (input.is_text()) {
    trace::Builder builder(file);
    good = builder.open();
    input.each([&](const Event& event) { good = good && builder.add(event); });
    good = good && builder.text(trace::names_text(input.names())) && builder.finish();
  } else {
    trace::RapidNames names = names_of_trace(from);
    trace::RapidWriter writer(&names);
    input.each([&](const Event& event) {
      std::string line = writer.line(event);
      if (!line.empty()) good = good && std::fprintf(file, "%s\n", line.c_str()) > 0;
    });
  }
  good = std::fflush(file) == 0 && good;
  if (!standard) std::fclose(file);
  if (!good) {
    say(fmt::format("cannot write '{}': {}", to, std::strerror(errno)));
    return kExitToolFailed;
  }
  if (input.cut()) say(fmt::format("{}: cut off; read up to the cut", from));
  if (input.problem().empty()) return kExitOk;
  say(input.problem());
  return kExitWrongUse;
}

}  // namespace duress::cli
