// SPDX-License-Identifier: Apache-2.0
//
// RAPID's text of any bytes; what is understood is written again and must be understood the same way.
#include <cstdlib>
#include <string>

#include "trace/rapid.h"

using namespace duress;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  trace::RapidReader reader;
  std::vector<Event> events;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    if (!reader.line(text.substr(0, end), events) && reader.problem().empty()) std::abort();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  trace::RapidWriter writer(&reader.names());
  std::vector<Event> again;
  trace::RapidReader second;
  for (const Event& event : events) {
    std::string line = writer.line(event);
    if (!line.empty() && !second.line(line, again)) std::abort();
  }
  return 0;
}
