// SPDX-License-Identifier: Apache-2.0
//
// A file that is a trace or RAPID's text, read event by event.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "trace/decode_pipeline.h"
#include "trace/rapid.h"
#include "trace/trace_file.h"

namespace duress::trace {

class TraceInput {
 public:
  /// "" or what is wrong.
  std::string open(const std::string& path);
  const std::string& path() const { return path_; }
  bool is_text() const { return text_; }

  /// Visits every event. Afterwards problem() says what could not be read, with line or offset.
  template <typename Visit>
  void each(Visit visit) {
    if (text_) return each_line([&](const Event& e) { visit(e); });
    reader_->each(visit);
    take_problem();
  }
  /// The same with a thread that reads ahead (decode_pipeline.h).
  template <typename Play>
  void each_pipelined(Play play) {
    if (text_) return each_line([&](const Event& e) { play(e); });
    trace::each_pipelined(*reader_, play);
    take_problem();
  }
  const std::string& problem() const { return problem_; }
  bool cut() const { return reader_ && reader_->cut(); }

  const RapidNames& names() const { return rapid_.names(); }  // of text
  const Stacks& stacks() const { return reader_ ? reader_->stacks() : no_stacks_; }
  /// The lines of the log that the trace holds, or that would belong to a text.
  std::string log_text() const;

 private:
  void each_line(const std::function<void(const Event&)>& visit);
  void take_problem();

  std::string path_;
  bool text_ = false;
  std::unique_ptr<Source> source_;
  std::unique_ptr<EventReader> reader_;
  RapidReader rapid_;
  Stacks no_stacks_;
  std::string problem_;
};

}  // namespace duress::trace
