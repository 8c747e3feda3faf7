// SPDX-License-Identifier: Apache-2.0
#include "trace/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "trace/builder.h"

namespace duress::trace {
namespace {

/// A trace's text is read to its end before its events, because it may lie behind them.
RapidNames names_of_trace(const std::string& path) {
  std::string error, text;
  std::unique_ptr<Source> source = open_source(path, error);
  if (!source) return {};
  ChunkReader reader(*source);
  Chunk chunk;
  for (bool good = reader.open(); good && reader.next(chunk);) {
    if (chunk.kind == recording::ChunkKind::kText) text.append(chunk.bytes.begin(), chunk.bytes.end());
  }
  return names_from_text(text);
}

bool copy_chunks(ChunkReader& reader, const std::string& log, std::FILE* file) {
  constexpr std::size_t kMost = 1u << 20;
  ChunkWriter writer(file);
  bool good = writer.open(reader.first_only());
  Chunk chunk;
  while (good && reader.next(chunk))
    good = writer.put(chunk.kind, chunk.thread, chunk.bytes.data(), chunk.bytes.size());
  for (std::size_t at = 0; good && at < log.size(); at += kMost)
    good = writer.put(recording::ChunkKind::kText, 0, log.data() + at, std::min(log.size() - at, kMost));
  return good;
}

}  // namespace

bool convert(TraceInput& input, std::FILE* file) {
  bool good = true;
  if (input.is_text()) {
    Builder builder(file);
    good = builder.open();
    input.each([&](const Event& event) { good = good && builder.add(event); });
    good = good && builder.text(names_text(input.names())) && builder.finish();
  } else {
    RapidNames names = names_of_trace(input.path());
    RapidWriter writer(&names);
    input.each([&](const Event& event) {
      std::string line = writer.line(event);
      if (!line.empty()) good = good && std::fprintf(file, "%s\n", line.c_str()) > 0;
    });
  }
  return std::fflush(file) == 0 && good;
}

std::string pack(const std::string& raw_trace, const std::string& log, const std::string& output) {
  std::string error;
  std::unique_ptr<Source> source = open_source(raw_trace, error);
  if (!source) return error;
  ChunkReader reader(*source);
  if (!reader.open()) return fmt::format("{}: {}", raw_trace, reader.problem());
  std::FILE* file = std::fopen(output.c_str(), "wb");
  bool good = file != nullptr && copy_chunks(reader, log, file);
  good = good && std::fflush(file) == 0;
  int number = errno;
  if (file != nullptr) std::fclose(file);
  return good ? "" : fmt::format("cannot write '{}': {}", output, std::strerror(number));
}

}  // namespace duress::trace
