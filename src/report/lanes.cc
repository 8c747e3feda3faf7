// SPDX-License-Identifier: Apache-2.0
#include "report/lanes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>

#include "report/decided_by.h"
#include "report/interleaving.h"
#include "report/replaced_loads.h"
#include "report/trace_text.h"

namespace duress::report {
namespace {

using finding::LaneEvent;
using finding::Lanes;
using finding::LaneValue;

bool one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* one) { return word == one; });
}

bool loads(const std::string& operation) {
  return one_of(operation, {"read", "atomic read", "atomic update"});
}

bool stores(const std::string& operation) {
  return one_of(operation, {"write", "atomic write", "atomic update"});
}

u64 bits_of(const std::string& value) {
  return std::strtoull(value.c_str(), nullptr, 0);
}

/// Makes the events of one execution, in its order.
class LaneMaker {
 public:
  LaneMaker(const finding::RunLogs& logs, const finding::ProcessLog& process, const trail::Record& record,
            finding::Names& names)
      : logs_(logs), process_(process), record_(record), names_(names), replaced_(logs, process, record) {
    int strands = 0, creations = 0;
    for (const finding::Step& step : logs.steps) {
      strands = std::max(strands, step.strand);
      creations += step.operation == "create" ? 1 : 0;
    }
    creations_tell_ = creations == strands;
  }

  void add(const finding::Step& step) {
    const Parts& parts = parts_of(step);
    if (step.plain && parts.library) return;  // how the C++ library makes a thread explains nothing
    LaneEvent event;
    event.thread = thread(step.strand);
    event.operation = word(step.operation);
    event.object = parts.object;
    event.place = parts.place;
    if (!step.value.empty()) {
      u64 value[2] = {bits_of(step.value), 0};
      event.value = word(value_text(value, static_cast<u32>(step.size), step.type));
    }
    auto index = static_cast<std::int32_t>(lanes_.events.size());
    event.after = synchronises(step, index);
    if (loads(step.operation)) find_source(step, event);
    if (stores(step.operation)) {
      stored_[step.object].push_back({index, bits_of(step.value)});
      settle_predictions(step, index);
    }
    last_of_[step.strand] = index;
    lanes_.events.push_back(event);
    objects_.push_back(step.object);
  }

  void end(const finding::Failure& failure) {
    LaneEvent event;
    event.thread = LaneEvent::kEverybody;
    if (!process_.crashes.empty()) event.thread = thread(process_.crashes.back().thread);
    event.operation = word("failure");
    event.object = word(names_.clean(short_text(failure)));
    event.place = place(failure.place.file, failure.place.line);
    lanes_.events.push_back(event);
    objects_.push_back(0);
  }

  /// The address of each event's object.
  const std::vector<finding::Address>& objects() const { return objects_; }

  Lanes take() {
    for (finding::LaneThread& thread : lanes_.threads) {
      auto known = process_.threads.find(thread.id);
      if (thread.name.empty() && known != process_.threads.end()) thread.name = known->second.name;
    }
    // Columns in the order of numbers, whoever came first.
    std::vector<u32> order(lanes_.threads.size()), at(lanes_.threads.size());
    for (u32 i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](u32 a, u32 b) { return lanes_.threads[a].id < lanes_.threads[b].id; });
    std::vector<finding::LaneThread> sorted;
    for (u32 i = 0; i < order.size(); ++i) {
      at[order[i]] = i;
      sorted.push_back(std::move(lanes_.threads[order[i]]));
    }
    lanes_.threads = std::move(sorted);
    for (LaneEvent& event : lanes_.events) {
      if (event.thread != LaneEvent::kEverybody) event.thread = at[event.thread];
    }
    if (record_.replaced > trail::Record::kMostReplaced)
      lanes_.note = "only the first " + std::to_string(trail::Record::kMostReplaced) + " of " +
                    std::to_string(record_.replaced) + " replaced values are marked";
    return std::move(lanes_);
  }

 private:
  struct Parts {
    u32 object, place;
    bool library;
  };
  struct Store {
    std::int32_t event;
    u64 bits;
  };

  u32 word(const std::string& text) {
    if (text.empty()) return 0;
    auto [it, fresh] = words_.try_emplace(text, static_cast<u32>(lanes_.words.size()));
    if (fresh) lanes_.words.push_back(text);
    return it->second;
  }

  u32 place(const std::string& file, u32 line) {
    if (file.empty()) return 0;
    auto [it, fresh] = places_.try_emplace({file, line}, static_cast<u32>(lanes_.places.size()));
    if (fresh) lanes_.places.push_back({names_.shown(file), line});
    return it->second;
  }

  u32 thread(int strand) {
    auto [it, fresh] = threads_.try_emplace(strand, static_cast<u32>(lanes_.threads.size()));
    if (fresh) {
      lanes_.threads.push_back({strand, ""});
      for (const finding::Step& step : logs_.steps) {
        if (step.strand != strand || step.name.empty()) continue;
        lanes_.threads.back().name = step.name;
        break;
      }
    }
    return it->second;
  }

  /// Names cost a lookup in debug information; steps of one place at one object share it.
  const Parts& parts_of(const finding::Step& step) {
    PartsKey key{step.operation,
                 step.object,
                 step.place,
                 step.stack,
                 step.site ? step.site->module : -1,
                 step.site ? step.site->index : 0};
    auto it = parts_.find(key);
    if (it != parts_.end()) return it->second;
    StepNames named = step_names(step, process_, names_);
    return parts_[key] = {word(names_.clean(named.object)), place(named.file, named.line), named.library};
  }

  /// The event of another strand that this one waited for, or would have.
  std::int32_t synchronises(const finding::Step& step, std::int32_t index) {
    std::int32_t after = -1;
    const std::string& op = step.operation;
    if (last_of_.count(step.strand) == 0) after = creation_of(step.strand);
    if (op == "create") {
      creates_[step.strand].push_back(index);
      all_creates_.push_back(index);
    } else if (op == "join") {
      if (auto last = last_of_.find(step.joins); last != last_of_.end()) after = last->second;
    } else if (one_of(op, {"lock", "read lock", "acquire"})) {
      auto released = released_.find(step.object);
      if (released != released_.end() && released->second.second != step.strand)
        after = released->second.first;
    } else if (one_of(op, {"unlock", "post"})) {
      released_[step.object] = {index, step.strand};
    }
    return after;
  }

  /// A step that creates a strand does not know its number yet; but the children of one strand are numbered
  /// in the order of its steps.
  std::int32_t creation_of(int strand) {
    auto own = process_.threads.find(strand);
    if (own == process_.threads.end() && creations_tell_ && strand > 0) {
      // Runs that detect nothing log no threads; strands are numbered as they are created.
      auto at = static_cast<std::size_t>(strand - 1);
      return at < all_creates_.size() ? all_creates_[at] : -1;
    }
    if (own == process_.threads.end() || own->second.parent < 0) return -1;
    std::size_t older = 0;
    for (const auto& [id, thread] : process_.threads)
      older += id < strand && thread.parent == own->second.parent ? 1 : 0;
    const std::vector<std::int32_t>& creates = creates_[own->second.parent];
    return older < creates.size() ? creates[older] : -1;
  }

  /// Where the value of a load comes from.
  void find_source(const finding::Step& step, LaneEvent& event) {
    const std::vector<Store>& before = stored_[step.object];
    if (!step.newest.empty()) {  // rc11 tells it itself
      event.how = LaneValue::kStale;
      event.newest = word(value_text(step.newest, step.size));
    } else if (const trail::Replaced* replaced = replaced_.at(step)) {
      event.how = replaced->future != 0 ? LaneValue::kFuture : LaneValue::kStale;
      event.newest = word(value_text(replaced->newest, replaced->size, replaced->type));
    }
    if (event.how == LaneValue::kFuture) {
      waiting_.push_back({static_cast<std::int32_t>(lanes_.events.size()), step.object, bits_of(step.value)});
      return;
    }
    bool any = event.how == LaneValue::kNewest;
    for (std::size_t i = before.size(); i-- > 0;) {
      if (!any && before[i].bits != bits_of(step.value)) continue;
      event.from = before[i].event;
      return;
    }
  }

  /// A store may be what an earlier load has already returned.
  void settle_predictions(const finding::Step& step, std::int32_t index) {
    for (std::size_t i = 0; i < waiting_.size();) {
      const Waiting& one = waiting_[i];
      if (one.object != step.object || one.bits != bits_of(step.value)) {
        ++i;
        continue;
      }
      lanes_.events[static_cast<std::size_t>(one.event)].from = index;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  struct Waiting {
    std::int32_t event;
    finding::Address object;
    u64 bits;
  };
  using PartsKey =
      std::tuple<std::string, finding::Address, finding::Address, std::vector<finding::Address>, int, u32>;

  const finding::RunLogs& logs_;
  const finding::ProcessLog& process_;
  const trail::Record& record_;
  finding::Names& names_;
  Lanes lanes_;
  std::vector<finding::Address> objects_;
  std::unordered_map<std::string, u32> words_;
  std::map<std::pair<std::string, u32>, u32> places_;
  std::map<int, u32> threads_;
  std::map<PartsKey, Parts> parts_;
  std::map<int, std::int32_t> last_of_;  // by strand
  std::map<int, std::vector<std::int32_t>> creates_;
  std::vector<std::int32_t> all_creates_;
  bool creations_tell_ = false;                                        // as many as there are strands
  std::map<finding::Address, std::pair<std::int32_t, int>> released_;  // last unlock or post: event, strand
  std::map<finding::Address, std::vector<Store>> stored_;
  std::vector<Waiting> waiting_;  // loads of values that nobody has stored yet
  ReplacedLoads replaced_;
};

/// What several threads access by plain accesses that are no steps, and one of them writes after there were
/// several: the rest explains nothing, and there is much of it.
std::set<finding::Address> shared_plain(const std::vector<finding::Step>& steps) {
  struct Use {
    std::set<int> strands;
    bool changed = false;
  };
  std::map<finding::Address, Use> uses;
  bool several = false;
  for (const finding::Step& step : steps) {
    several = several || step.operation == "create";
    if (!step.site || step.object == 0) continue;
    Use& use = uses[step.object];
    use.strands.insert(step.strand);
    use.changed = use.changed || (several && stores(step.operation));
  }
  std::set<finding::Address> shared;
  for (const auto& [address, use] : uses) {
    if (use.changed && use.strands.size() > 1) shared.insert(address);
  }
  return shared;
}

}  // namespace

Lanes lanes_of(const finding::RunLogs& logs, const trail::Record& record,
               const std::optional<finding::Failure>& failure, finding::Names& names, std::size_t most) {
  const finding::ProcessLog* process = logs.process();
  if (process == nullptr || logs.steps.empty()) return {};
  names.learn_locks(*process, logs.steps);
  LaneMaker maker(logs, *process, record, names);
  // Arrows may come from what is then left out, so all of it is looked at; up to a point.
  const std::size_t looked_at = std::max(most, kLookedAt);
  std::size_t first = logs.steps.size() > looked_at ? logs.steps.size() - looked_at : 0;
  const std::set<finding::Address> shared = shared_plain(logs.steps);
  for (std::size_t i = first; i < logs.steps.size(); ++i) {
    const finding::Step& step = logs.steps[i];
    if (!step.plain || shared.count(step.object) != 0) maker.add(step);
  }
  if (failure) maker.end(*failure);
  Lanes lanes = maker.take();
  lanes.skipped = first;
  lanes.decided = decided_by(lanes, maker.objects());
  return tail_of(lanes, most);
}

}  // namespace duress::report
