// SPDX-License-Identifier: Apache-2.0
//
// `duress trace analyze` and `duress trace predict`: races of an execution that was recorded.
#include <fmt/format.h>

#include "catalog/lookup.h"
#include "cli/command_app.h"
#include "cli/error_stream.h"
#include "cli/trace_confirm.h"
#include "exec/session.h"
#include "report/document.h"
#include "report/json_writer.h"
#include "report/text_writer.h"
#include "trace/analyze.h"

namespace duress::cli {
namespace {

struct AnalyzeOptions : ScreenOptions, SuppressionOptions {
  trace::AnalyzeOptions analysis;
  std::string file, json, fail_on = "race";
  bool confirm = false;
  ConfirmOptions confirming;
};

/// Says what is to be known of the trace. False: nothing could be read.
bool say_notes(const AnalyzeOptions& options, const trace::TraceInput& input, const trace::Analyzed& result) {
  if (!result.complete) say("the trace is long: not every pair of accesses was looked at");
  if (options.analysis.stats)
    say(fmt::format("{} events in {:.3f} s, {:.1f} million a second; {:.3f} s of processor time",
                    result.events, result.seconds, static_cast<double>(result.events) / result.seconds / 1e6,
                    result.processor_seconds));
  if (!input.problem().empty()) say(input.problem());
  if (input.cut()) say(fmt::format("{}: cut off; read up to the cut", options.file));
  return input.problem().empty() || result.events != 0;
}

int print_text_findings(const AnalyzeOptions& options, const trace::TraceInput& input,
                        const finding::ProcessLog& process, const finding::RunLog& log) {
  if (options.confirm) return wrong_use("trace", "--confirm needs a trace of the program, not text");
  fmt::print("{}", trace::findings_text(log, input));
  for (const auto& [name, value] : process.stats) fmt::print("{}  {}\n", name, value);
  return !process.races.empty() && options.fail_on == "race" ? kExitFindings : kExitOk;
}

int analyze(const AnalyzeOptions& options) {
  report::Suppressions suppressions;
  if (std::optional<int> code = options.load_suppressions(suppressions)) return *code;
  trace::TraceInput input;
  if (std::string error = input.open(options.file); !error.empty()) {
    say(error);
    return kExitWrongUse;
  }
  trace::Analyzed result =
      trace::analyze(input, options.analysis, [](const std::string& text) { fmt::print("{}\n", text); });
  if (!result.problem.empty()) return wrong_use("trace", result.problem);
  if (!say_notes(options, input, result)) return kExitWrongUse;
  const finding::ProcessLog& process = result.log.processes[0];
  if (input.is_text()) return print_text_findings(options, input, process, result.log);
  report::Document document = new_document("trace", 1, process.argv);
  document.root_pid = process.pid;
  report::fill_document(result.log, suppressions, document);
  std::fflush(stdout);
  if (options.json != "-")
    write_errors(report::to_text(document, options.finding_style(), options.analysis.stats));
  if (!options.json.empty()) {
    if (std::string error = exec::write_document(options.json, report::to_json(document)); !error.empty()) {
      say(error);
      return kExitToolFailed;
    }
  }
  if (options.confirm) {
    if (int code = confirm(options.confirming, result.log); code != kExitOk) return code;
  }
  return options.fail_on == "race" && !document.races.empty() ? kExitFindings : kExitOk;
}

}  // namespace

int analyze_command(const Arguments& arguments, bool predict) {
  AnalyzeOptions options;
  std::string& chain = options.analysis.chain;
  options.analysis.predict = predict;
  options.color = "never";
  if (predict) chain = "SHB";
  CommandApp app(predict ? "trace predict" : "trace analyze",
                 predict ? "Races that follow from a trace, also if it does not show them: SHB and SyncP."
                         : "Runs analyses on a trace or on RAPID's text.");
  app.add_option("-t,--tool", chain,
                 fmt::format("Chain of analyses (see duress list analyses); default {}", chain))
      .checked(catalog::check_chain);
  app.add_flag("--steps", options.analysis.steps, "JRF: h after each event");
  app.add_flag("--stats", options.analysis.stats, "Print the analyses' counters");
  app.add_option("--json", options.json, "Write one JSON document: --json=FILE, - is standard output");
  options.add_suppressions(app);
  app.add_option("--fail-on", options.fail_on, "race (default) or never: what makes the exit code 66")
      .one_of({"race", "never"});
  app.add_flag("-q,--quiet", options.quiet, "Only the first line of each finding");
  app.add_flag("-v,--verbose", options.verbose, "All frames of all stacks");
  app.add_option("FILE", options.file, "The trace").required();
  if (predict) {
    app.add_flag("--confirm", options.confirm, "Run the program after -- and create what was predicted");
    app.add_option("--runs", options.confirming.runs, "With --confirm: how many executions; default 256")
        .at_least(1);
    add_seed(app, options.confirming.seed);
    options.confirming.add_dir(app, "With --confirm: folder for records");
  }
  std::optional<int> code =
      predict ? app.read_before_mark(arguments, options.confirming.target) : app.read(arguments);
  if (code) return *code;
  if (options.confirm && (options.confirming.target.empty() || options.confirming.target[0].empty()))
    return wrong_use("trace", "--confirm needs the program; put it and its arguments after --");
  options.confirming.quiet = options.quiet;
  return analyze(options);
}

}  // namespace duress::cli
