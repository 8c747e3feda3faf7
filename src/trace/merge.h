// SPDX-License-Identifier: Apache-2.0
//
// The merge of a round, inline so that what visits the events is inlined too: 20 million events a second
// leave no room for a call through a pointer each. Included by trace_file.h.
#pragma once

#include <algorithm>
#include <map>
#include <queue>

namespace duress::trace {

/// A thread's chunks of a round, in the order of the file, read one event at a time.
struct EventReader::Cursor {
  Tid thread;
  std::vector<const Chunk*> chunks;
  std::size_t chunk = 0;
  recording::Decoder decoder{nullptr, nullptr};
  recording::Coded now = {};  // an event with a ticket, not visited yet
};

template <typename Visit>
void EventReader::merge(Visit& visit) {
  std::map<u32, Cursor> cursors;
  for (const Chunk& chunk : round_) {
    Cursor& c = cursors[chunk.thread];
    c.thread = static_cast<Tid>(chunk.thread);
    c.chunks.push_back(&chunk);
  }
  auto all = [&](Tid thread, const Access* accesses, std::size_t count) {
    events_ += count;
    if constexpr (requires { visit(thread, accesses, count); }) {
      visit(thread, accesses, count);
    } else {
      for (std::size_t i = 0; i < count; ++i) visit(Event::of(thread, accesses[i]));
    }
  };
  constexpr std::size_t kBatch = 256;  // 6 KiB: stays in the first-level cache
  Access batch[kBatch];
  // Visits accesses up to the next event with a ticket; false at the end.
  auto advance = [&](Cursor& c) {
    recording::Coded& e = c.now;
    for (;;) {
      bool stopped;
      std::size_t count = c.decoder.accesses(batch, kBatch, e, stopped);
      if (count) all(c.thread, batch, count);
      if (stopped) return true;
      if (count) continue;
      if (c.decoder.done()) {
        if (c.chunk == c.chunks.size()) return false;
        const std::vector<u8>& bytes = c.chunks[c.chunk++]->bytes;
        c.decoder = recording::Decoder(bytes.data(), bytes.data() + bytes.size());
        continue;
      }
      if (!c.decoder.next(e)) {
        const Chunk& chunk = *c.chunks[c.chunk - 1];
        bad_event(chunk, static_cast<std::size_t>(c.decoder.at() - chunk.bytes.data()));
        c.chunk = c.chunks.size();
        return false;
      }
      switch (e.kind) {
        case recording::Coded::Kind::kAccess:
          all(c.thread, &e.access, 1);
          break;
        case recording::Coded::Kind::kStrided:
          for (u64 i = 0; i < e.count;) {
            count = 0;
            for (; count < kBatch && i < e.count; ++count, ++i) {
              batch[count] = e.access;
              e.access.address += static_cast<uptr>(e.stride);
            }
            all(c.thread, batch, count);
          }
          break;
        default:
          return true;
      }
    }
  };
  using Entry = std::pair<u64, Cursor*>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (auto& [thread, cursor] : cursors) {
    if (advance(cursor)) queue.push({cursor.now.ticket, &cursor});
  }
  while (!queue.empty()) {
    Cursor& c = *queue.top().second;
    queue.pop();
    for (;;) {
      if (c.now.kind == recording::Coded::Kind::kSync) {
        ++events_;
        visit(Event::of(c.thread, c.now.sync));
      }
      if (!advance(c)) break;
      if (!queue.empty() && queue.top().first < c.now.ticket) {
        queue.push({c.now.ticket, &c});
        break;
      }
    }
  }
}

}  // namespace duress::trace
