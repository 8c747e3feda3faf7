// SPDX-License-Identifier: Apache-2.0
#include "trace/builder.h"

namespace duress::trace {

bool Builder::add(const Event& event) {
  Buffer& buffer = buffers_[raw(event.thread)];
  u8 room[3 * recording::kMostEventBytes];
  u8* at = room;
  // Without a mark, the accesses of two threads between the same tickets would change places.
  if (last_ != event.thread) recording::Encoder::mark(at, ticket_++);
  last_ = event.thread;
  if (event.is_sync) {
    recording::Encoder::sync(at, buffer.state, event.sync, ticket_++);
  } else {
    recording::Encoder::access(at, buffer.state, event.access);
  }
  buffer.bytes.insert(buffer.bytes.end(), room, at);
  bytes_ += static_cast<u64>(at - room);
  if (buffer.bytes.size() >= recording::kEventChunkBytes) {
    if (!writer_.put(recording::ChunkKind::kEvents, raw(event.thread), buffer.bytes.data(),
                     buffer.bytes.size()))
      return false;
    buffer = {};
  }
  return bytes_ < recording::kRoundBytes || end_round();
}

bool Builder::text(const std::string& lines) {
  for (std::size_t at = 0; at < lines.size(); at += recording::kEventChunkBytes) {
    std::size_t size = std::min<std::size_t>(lines.size() - at, recording::kEventChunkBytes);
    if (!writer_.put(recording::ChunkKind::kText, 0, lines.data() + at, size)) return false;
  }
  return true;
}

bool Builder::end_round() {
  bytes_ = 0;
  last_ = Tid{~0u};
  for (auto& [thread, buffer] : buffers_) {
    if (!buffer.bytes.empty() &&
        !writer_.put(recording::ChunkKind::kEvents, thread, buffer.bytes.data(), buffer.bytes.size()))
      return false;
  }
  buffers_.clear();
  return writer_.put(recording::ChunkKind::kRound, 0, nullptr, 0);
}

}  // namespace duress::trace
