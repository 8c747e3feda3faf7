// SPDX-License-Identifier: Apache-2.0
//
// `duress trace` on a file that is there: analyze, print, convert. The file may be a trace or RAPID's text.
#ifndef DURESS_CLI_TRACE_INPUT_H_
#define DURESS_CLI_TRACE_INPUT_H_

#include <functional>
#include <optional>

#include "cli/commands.h"
#include "trace/decode_pipeline.h"
#include "trace/rapid.h"
#include "trace/trace_file.h"

namespace duress::cli {

/// A trace or text, read event by event.
class TraceInput {
 public:
  /// "" or what is wrong. With `report` a file that breaks off is only said so.
  std::string open(const std::string& path);
  bool is_text() const { return text_; }
  bool first_only() const { return reader_ && reader_->first_only(); }

  /// Visits every event. Afterwards problem() says what could not be read, with line or offset.
  template <typename Visit>
  void each(Visit visit) {
    if (text_) return each_line([&](const Event& e) { visit(e); });
    reader_->each(visit);
    take_problem();
  }
  /// The same with a thread that reads ahead (trace/decode_pipeline.h).
  template <typename Play>
  void each_pipelined(Play play) {
    if (text_) return each_line([&](const Event& e) { play(e); });
    trace::each_pipelined(*reader_, play);
    take_problem();
  }
  const std::string& problem() const { return problem_; }
  bool cut() const { return reader_ && reader_->cut(); }

  const trace::RapidNames& names() const { return rapid_.names(); }  // of text
  const trace::Stacks& stacks() const { return reader_ ? reader_->stacks() : no_stacks_; }
  std::string log_text() const { return reader_ ? reader_->text() : std::string(); }

 private:
  void each_line(const std::function<void(const Event&)>& visit);
  void take_problem();

  std::string path_;
  bool text_ = false;
  std::unique_ptr<trace::Source> source_;
  std::unique_ptr<trace::EventReader> reader_;
  trace::RapidReader rapid_;
  trace::Stacks no_stacks_;
  std::string problem_;
};

/// `predict`: with SyncP too.
int analyze_command(const Arguments& arguments, bool predict);
int print_command(const Arguments& arguments);
int convert_trace(const std::string& input, const std::string& output);

}  // namespace duress::cli

#endif  // DURESS_CLI_TRACE_INPUT_H_
