// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_input.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>

namespace duress::trace {

std::string TraceInput::open(const std::string& path) {
  path_ = path;
  std::string error;
  source_ = open_source(path, error);
  if (!source_) return error;
  char magic[sizeof recording::kMagic] = {};
  std::size_t got = source_->read(magic, sizeof magic);
  text_ = got != sizeof magic || std::memcmp(magic, recording::kMagic, sizeof magic) != 0;
  source_ = open_source(path, error);
  if (!source_) return error;
  if (text_) return {};
  reader_ = std::make_unique<EventReader>(*source_);
  return reader_->open() ? "" : fmt::format("{}: {}", path, reader_->problem());
}

void TraceInput::take_problem() {
  if (!reader_->problem().empty()) problem_ = fmt::format("{}: {}", path_, reader_->problem());
}

std::string TraceInput::log_text() const {
  if (reader_) return reader_->text();
  return "{\"t\":\"start\",\"version\":1,\"pid\":0}\n"
         "{\"t\":\"sites\",\"module\":0,\"first\":16,\"count\":2147483647}\n";
}

void TraceInput::each_line(const std::function<void(const Event&)>& visit) {
  std::ifstream in(path_, std::ios::binary);
  std::vector<Event> events;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line[0] == '#') {
      rapid_.skip();
      continue;
    }
    events.clear();
    if (!rapid_.line(line, events)) {
      problem_ = fmt::format("{}:{}: {}", path_, number, rapid_.problem());
      break;
    }
    for (const Event& event : events) visit(event);
  }
}

}  // namespace duress::trace
