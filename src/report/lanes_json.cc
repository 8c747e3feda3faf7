// SPDX-License-Identifier: Apache-2.0
#include "report/lanes_json.h"

#include <array>
#include <map>

#include "report/stored_document.h"

namespace duress::report {
namespace {

using finding::LaneEvent;
using finding::Lanes;
using finding::LaneValue;

/// Texts and places by their numbers, while lanes are read.
class Interning {
 public:
  explicit Interning(Lanes& lanes) : lanes_(lanes) {}
  std::uint32_t word(const std::string& text) {
    if (text.empty()) return 0;
    auto [it, fresh] = words_.try_emplace(text, static_cast<std::uint32_t>(lanes_.words.size()));
    if (fresh) lanes_.words.push_back(text);
    return it->second;
  }
  std::uint32_t place(const std::string& file, std::uint32_t line) {
    if (file.empty()) return 0;
    auto [it, fresh] = places_.try_emplace({file, line}, static_cast<std::uint32_t>(lanes_.places.size()));
    if (fresh) lanes_.places.push_back({file, line});
    return it->second;
  }

 private:
  Lanes& lanes_;
  std::map<std::string, std::uint32_t> words_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> places_;
};

std::int32_t index_at(const Json& json, const char* key, std::size_t count) {
  auto it = json.find(key);
  if (it == json.end() || !it->is_number_unsigned() || it->get<std::uint64_t>() >= count) return -1;
  return it->get<std::int32_t>();
}

}  // namespace

Json lanes_json(const Lanes& lanes) {
  Json json;
  json["threads"] = Json::array();
  for (const finding::LaneThread& thread : lanes.threads)
    json["threads"].push_back({{"id", thread.id}, {"name", thread.name}});
  if (lanes.skipped != 0) json["skipped"] = lanes.skipped;
  if (!lanes.note.empty()) json["note"] = lanes.note;
  if (!lanes.decided.empty()) json["decided_by"] = lanes.decided;
  json["events"] = Json::array();
  for (const LaneEvent& event : lanes.events) {
    Json one;
    if (event.thread != LaneEvent::kEverybody) one["thread"] = lanes.threads[event.thread].id;
    one["operation"] = lanes.words[event.operation];
    if (event.object != 0) one["object"] = lanes.words[event.object];
    if (event.value != 0) one["value"] = lanes.words[event.value];
    if (event.how != LaneValue::kNewest) {
      one["how"] = event.how == LaneValue::kStale ? "stale" : "future";
      one["newest"] = lanes.words[event.newest];
    }
    if (event.place != 0) {
      one["file"] = lanes.places[event.place].file;
      one["line"] = lanes.places[event.place].line;
    }
    if (event.from >= 0) one["from"] = event.from;
    if (event.after >= 0) one["after"] = event.after;
    json["events"].push_back(std::move(one));
  }
  return json;
}

Lanes read_lanes(const Json& json) {
  Lanes lanes;
  Interning known(lanes);
  std::map<std::uint64_t, std::uint32_t> threads;
  for (const Json& thread : list_at(json, "threads")) {
    if (!threads.try_emplace(number_at(thread, "id"), static_cast<std::uint32_t>(lanes.threads.size()))
             .second)
      continue;
    lanes.threads.push_back({static_cast<int>(number_at(thread, "id")), text_at(thread, "name")});
  }
  lanes.skipped = number_at(json, "skipped");
  lanes.note = text_at(json, "note");
  lanes.decided = texts_at(json, "decided_by");
  const Json& events = list_at(json, "events");
  for (const Json& one : events) {
    LaneEvent event;
    if (!one.is_object()) {  // keeps its number, or arrows would point elsewhere
      event.thread = LaneEvent::kEverybody;
      lanes.events.push_back(event);
      continue;
    }
    auto thread = one.contains("thread") ? threads.find(number_at(one, "thread")) : threads.end();
    event.thread = thread == threads.end() ? LaneEvent::kEverybody : thread->second;
    event.operation = known.word(text_at(one, "operation"));
    event.object = known.word(text_at(one, "object"));
    event.value = known.word(text_at(one, "value"));
    event.newest = known.word(text_at(one, "newest"));
    std::string how = text_at(one, "how");
    event.how = how == "stale"    ? LaneValue::kStale
                : how == "future" ? LaneValue::kFuture
                                  : LaneValue::kNewest;
    event.place = known.place(text_at(one, "file"), static_cast<std::uint32_t>(number_at(one, "line")));
    event.from = index_at(one, "from", events.size());
    event.after = index_at(one, "after", events.size());
    lanes.events.push_back(event);
  }
  return lanes;
}

std::string lanes_columns(const Lanes& lanes) {
  Json head;
  head["threads"] = Json::array();
  for (const finding::LaneThread& thread : lanes.threads)
    head["threads"].push_back({{"id", thread.id}, {"name", thread.name}});
  head["words"] = lanes.words;
  head["places"] = Json::array();
  for (const finding::LanePlace& place : lanes.places) head["places"].push_back({place.file, place.line});
  head["skipped"] = lanes.skipped;
  head["note"] = lanes.note;
  head["decided"] = lanes.decided;
  head["count"] = lanes.events.size();
  std::map<std::array<std::uint32_t, 3>, long> kinds;
  std::map<std::uint32_t, long> stored, released;  // by object
  std::array<std::string, 7> columns;              // thread, kind, value, newest, how, from, after
  for (std::size_t at = 0; at < lanes.events.size(); ++at) {
    const LaneEvent& e = lanes.events[at];
    const auto i = static_cast<long>(at);
    const std::string& operation = lanes.words[e.operation];
    auto last = [&](std::map<std::uint32_t, long>& known) {
      auto it = known.find(e.object);
      return it == known.end() ? -1 : it->second;
    };
    // What most events do is not written: a load gets the last store, a lock comes after another's unlock.
    const bool stores = operation == "write" || operation == "atomic write" || operation == "atomic update";
    const bool loads = operation == "read" || operation == "atomic read" || operation == "atomic update";
    const bool locks = operation == "lock" || operation == "read lock" || operation == "acquire";
    long release = locks ? last(released) : -1;
    if (release >= 0 && lanes.events[static_cast<std::size_t>(release)].thread == e.thread) release = -1;
    auto arrow = [&](long to, long usual) { return to == usual ? 0 : to < 0 ? 1 : 2 * (i - to); };
    // Values as differences from the one that is expected, as many only count.
    auto value_of = [&](long event) {
      return event < 0 || event >= i ? 0
                                     : static_cast<long>(lanes.events[static_cast<std::size_t>(event)].value);
    };
    long expected = stores ? value_of(last(stored)) : e.how == LaneValue::kNewest ? value_of(e.from) : 0;
    const long kind =
        kinds.try_emplace({e.operation, e.object, e.place}, static_cast<long>(kinds.size())).first->second;
    const long cells[] = {e.thread == LaneEvent::kEverybody ? -1L : static_cast<long>(e.thread),
                          kind,
                          static_cast<long>(e.value) - expected,
                          static_cast<long>(e.newest),
                          static_cast<long>(e.how),
                          arrow(e.from, loads ? last(stored) : -1),
                          arrow(e.after, release)};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (at != 0) columns[c] += ',';
      columns[c] += std::to_string(cells[c]);
    }
    if (stores) stored[e.object] = i;
    if (operation == "unlock" || operation == "post") released[e.object] = i;
  }
  std::vector<std::array<std::uint32_t, 3>> ordered(kinds.size());
  for (const auto& [kind, number] : kinds) ordered[static_cast<std::size_t>(number)] = kind;
  head["kinds"] = ordered;
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();  // the columns follow
  const char* names[] = {"thread", "kind", "value", "newest", "how", "from", "after"};
  for (std::size_t c = 0; c < columns.size(); ++c)
    text += std::string(",\"") + names[c] + "\":[" + columns[c] + "]";
  return text + "}";
}

}  // namespace duress::report
