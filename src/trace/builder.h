// SPDX-License-Identifier: Apache-2.0
//
// Makes a trace file of events that come in order, as a converter does. The reader gives them in this order.
#pragma once

#include <map>

#include "trace/trace_file.h"

namespace duress::trace {

class Builder {
 public:
  explicit Builder(std::FILE* file) : writer_(file) {}

  bool open() { return writer_.open(false); }
  bool add(const Event& event);
  bool text(const std::string& lines);
  bool finish() { return end_round(); }

 private:
  struct Buffer {
    std::vector<u8> bytes;
    recording::CodecState state;
  };
  bool end_round();

  ChunkWriter writer_;
  std::map<u32, Buffer> buffers_;
  u64 ticket_ = 0, bytes_ = 0;
  Tid last_{~0u};
};

}  // namespace duress::trace
