// SPDX-License-Identifier: Apache-2.0
#include "report/perfetto_writer.h"

#include <fmt/format.h>

#include "report/formats.h"
#include "report/path.h"

namespace duress::report {
namespace {

using finding::LaneEvent;
using finding::Lanes;
using finding::LaneValue;

class PerfettoWriter {
 public:
  void add(int pid, const std::string& title, const Lanes& lanes) {
    name("process_name", pid, 0, title);
    for (const finding::LaneThread& thread : lanes.threads)
      name("thread_name", pid, track(thread.id),
           fmt::format("T{}{}", thread.id, thread.name.empty() ? "" : " " + thread.name));
    name("thread_name", pid, kProgram, "program");
    for (std::size_t i = 0; i < lanes.events.size(); ++i) {
      const LaneEvent& event = lanes.events[i];
      slice(pid, i, event, lanes);
      arrow(pid, i, event.from, event.how == LaneValue::kFuture ? "future" : "value", lanes);
      arrow(pid, i, event.after, "happens before", lanes);
    }
  }

  std::string take() {
    Json json;
    json["displayTimeUnit"] = "ns";
    json["traceEvents"] = std::move(events_);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  static constexpr int kProgram = 1000000;

  /// Track 0 would be the process itself.
  static int track(int thread) { return thread + 1; }
  static int track(const LaneEvent& event, const Lanes& lanes) {
    return event.thread == LaneEvent::kEverybody ? kProgram : track(lanes.threads[event.thread].id);
  }

  void name(const char* what, int pid, int tid, const std::string& text) {
    events_.push_back(
        {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", printable(text)}}}});
  }

  void slice(int pid, std::size_t i, const LaneEvent& event, const Lanes& lanes) {
    auto word = [&](std::uint32_t index) { return printable(lanes.words[index]); };
    std::string label = word(event.operation) + (event.object != 0 ? " " + word(event.object) : "");
    Json args;
    args["step"] = lanes.skipped + i + 1;
    if (event.value != 0) args["value"] = word(event.value);
    if (event.how != LaneValue::kNewest) {
      args["how"] = event.how == LaneValue::kStale ? "stale" : "future";
      args["memory held"] = word(event.newest);
    }
    if (event.place != 0)
      args["place"] =
          fmt::format("{}:{}", printable(lanes.places[event.place].file), lanes.places[event.place].line);
    const char* category = event.how == LaneValue::kNewest ? "step" : "replaced";
    events_.push_back({{"ph", "X"},
                       {"name", label},
                       {"cat", category},
                       {"pid", pid},
                       {"tid", track(event, lanes)},
                       {"ts", i},
                       {"dur", 1},
                       {"args", std::move(args)}});
  }

  void arrow(int pid, std::size_t to, std::int32_t from, const char* what, const Lanes& lanes) {
    if (from < 0) return;
    auto begin = static_cast<std::size_t>(from);
    if (lanes.events[begin].thread == lanes.events[to].thread) return;
    // Flows go forward in time: a value of the future is drawn from the load to the store.
    std::size_t first = std::min(begin, to), last = std::max(begin, to);
    ++flows_;
    auto end = [&](const char* phase, std::size_t at) {
      Json event = {{"ph", phase}, {"id", flows_}, {"name", what},
                    {"cat", what}, {"pid", pid},   {"tid", track(lanes.events[at], lanes)},
                    {"ts", at}};
      if (*phase == 'f') event["bp"] = "e";
      events_.push_back(std::move(event));
    };
    end("s", first);
    end("f", last);
  }

  Json events_ = Json::array();
  std::uint64_t flows_ = 0;
};

}  // namespace

std::string to_perfetto(const StoredDocument& document) {
  PerfettoWriter writer;
  int pid = 0;
  std::map<std::size_t, bool> done;
  for (const char* list : {"races", "failures"}) {
    for (const Json& finding : list_at(document.json, list)) {
      std::string id = text_at(finding, "id");
      auto known = document.lanes_of.find(id);
      if (known == document.lanes_of.end() || !done.try_emplace(known->second, true).second) continue;
      writer.add(++pid, id + " " + title_of(finding), document.lanes[known->second]);
    }
  }
  return writer.take();
}

DURESS_DEFINE_FORMAT(Perfetto, to_perfetto, true);

}  // namespace duress::report
