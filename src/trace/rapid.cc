// SPDX-License-Identifier: Apache-2.0
#include "trace/rapid.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "trace/json_lines.h"

namespace duress::trace {
namespace {

constexpr std::string_view kOrders[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
constexpr std::size_t kMostNames = 10'000'000;
constexpr std::size_t kLongestName = 4096;

/// Operations that are one synchronisation event on one object.
struct SyncWord {
  std::string_view word;
  SyncKind kind;
  char space;   // of names: what is called the same in another space is another object
  char prefix;  // of an object that has no name
  u64 detail = 0;
};
constexpr SyncWord kSyncWords[] = {
    {"acq", SyncKind::kMutexLock, 'l', 'L'},    {"rel", SyncKind::kMutexUnlock, 'l', 'L'},
    {"rlock", SyncKind::kReadLock, 'l', 'L'},   {"runlock", SyncKind::kReadUnlock, 'l', 'L'},
    {"post", SyncKind::kRelease, 's', 'L', 1},  {"wait", SyncKind::kAcquire, 's', 'L'},
    {"begin", SyncKind::kBlockBegin, 'b', 'B'}, {"end", SyncKind::kBlockEnd, 'b', 'B'},
    {"alloc", SyncKind::kAlloc, 'v', 'V', 4},
};

constexpr u64 kDefaultOrder = 5;

std::optional<u64> order_from_name(std::string_view name) {
  const auto* found = std::ranges::find(kOrders, name);
  if (found == std::end(kOrders)) return std::nullopt;
  return found - std::begin(kOrders);
}

u64 known_order(u64 order) {
  return order < std::size(kOrders) ? order : kDefaultOrder;
}

bool is_atomic_word(std::string_view operation) {
  return operation == "aload" || operation == "astore" || operation == "armw";
}

}  // namespace

Tid RapidReader::thread(std::string_view name) {
  auto it = threads_.find(name);
  if (it == threads_.end()) {
    it = threads_.emplace(std::string(name), static_cast<u32>(names_.threads.size())).first;
    names_.threads.emplace_back(name);
  }
  return static_cast<Tid>(it->second);
}

uptr RapidReader::object(char what, std::string_view name) {
  std::string key = what + std::string(name);
  auto it = names_.by_name.find(key);
  if (it == names_.by_name.end()) {
    // 64 bytes apart, so that no two share anything.
    uptr address = kFirstVariable + names_.by_name.size() * 64;
    it = names_.by_name.emplace(std::move(key), address).first;
    names_.objects.emplace(address, name);
  }
  return it->second;
}

/// THREAD|OPERATION(NAME,ORDER)|PLACE
struct RapidReader::Line {
  std::string_view thread, operation, name;
  u64 order = kDefaultOrder;
  u32 site = 0;
};

bool RapidReader::parse(std::string_view text, Line& line) {
  auto fail = [&](const std::string& what) {
    problem_ = what;
    return false;
  };
  std::size_t bar = text.find('|');
  std::size_t second = bar == std::string_view::npos ? bar : text.find('|', bar + 1);
  if (bar == std::string_view::npos || bar == 0)
    return fail("a line is THREAD|OPERATION|PLACE, as in T0|w(V1)|12");
  line.thread = text.substr(0, bar);
  std::string_view what = text.substr(bar + 1, second == std::string_view::npos ? second : second - bar - 1);
  std::string_view where = second == std::string_view::npos ? std::string_view{} : text.substr(second + 1);
  line.site = number_;
  if (!where.empty()) {
    auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), line.site);
    if (error != std::errc{} || end != where.data() + where.size() || line.site > 0x7fffffff)
      return fail(fmt::format("invalid place '{}': a number was expected", where.substr(0, 40)));
  }
  std::size_t open = what.find('(');
  line.operation = what.substr(0, open);
  if (open != std::string_view::npos) {
    if (what.back() != ')') return fail(fmt::format("'{}' has no closing )", what.substr(0, 40)));
    line.name = what.substr(open + 1, what.size() - open - 2);
  }
  std::string_view order;
  if (line.operation == "fence") {
    order = line.name;
  } else if (std::size_t comma = line.name.rfind(',');
             comma != std::string_view::npos && is_atomic_word(line.operation)) {
    order = line.name.substr(comma + 1);
    line.name = line.name.substr(0, comma);
  }
  if (!order.empty()) {
    auto known = order_from_name(order);
    if (!known) return fail(fmt::format("unknown memory order '{}'", order.substr(0, 40)));
    line.order = *known;
  }
  if (line.thread.size() > kLongestName || line.name.size() > kLongestName) return fail("a name is too long");
  if (names_.threads.size() > 60000 || names_.by_name.size() > kMostNames) return fail("too many names");
  bool needs_name = line.operation != "fence" && line.operation != "begin" && line.operation != "end";
  if (needs_name && line.name.empty())
    return fail(fmt::format("'{}' needs a name in parentheses", what.substr(0, 40)));
  return true;
}

bool RapidReader::line(std::string_view text, std::vector<Event>& events) {
  ++number_;
  Line line;
  if (!parse(text, line)) return false;
  const Tid t = thread(line.thread);
  const Place place{static_cast<SiteId>(16 + line.site), StackId{0}};
  auto access = [&](AccessKind kind) {
    events.push_back(Event::of(t, Access{object('v', line.name), 4, kind, place}));
  };
  auto sync = [&](SyncKind kind, uptr o, u64 detail = 0) {
    events.push_back(Event::of(t, Sync{kind, o, detail, place}));
  };
  auto atomic = [&](SyncKind kind) { sync(kind, object('v', line.name), atomic_detail(line.order, 4)); };
  const std::string_view operation = line.operation;
  if (const auto* known = std::ranges::find(kSyncWords, operation, &SyncWord::word);
      known != std::end(kSyncWords)) {
    sync(known->kind, object(known->space, line.name), known->detail);
  } else if (operation == "r") {
    access(AccessKind::kRead);
  } else if (operation == "w") {
    access(AccessKind::kWrite);
  } else if (operation == "aload") {
    atomic(SyncKind::kAtomicLoad);
    access(AccessKind::kAtomicRead);
  } else if (operation == "astore") {
    access(AccessKind::kAtomicWrite);
    atomic(SyncKind::kAtomicStore);
  } else if (operation == "armw") {
    atomic(SyncKind::kAtomicLoad);
    access(AccessKind::kAtomicRmw);
    atomic(SyncKind::kAtomicRmw);
  } else if (operation == "fence") {
    sync(SyncKind::kFence, 0, line.order);
  } else if (operation == "fork" || operation == "join") {
    Tid other = thread(line.name);
    if (other == t) {
      problem_ = "a thread cannot create or join itself";
      return false;
    }
    if (operation == "fork") {
      sync(SyncKind::kThreadCreate, raw(other));
      events.push_back(Event::of(other, Sync{SyncKind::kThreadStart, 0, 0, {}}));
    } else {
      events.push_back(Event::of(other, Sync{SyncKind::kThreadEnd, 0, 0, {}}));
      sync(SyncKind::kThreadJoin, raw(other));
    }
  } else if (operation == "free") {
    access(AccessKind::kFree);
    sync(SyncKind::kFree, object('v', line.name), 4);
  } else {
    problem_ = fmt::format(
        "unknown operation '{}' (known: r, w, acq, rel, fork, join, begin, end, rlock, runlock, post, wait, "
        "aload, astore, armw, fence, alloc, free)",
        operation.substr(0, 40));
    return false;
  }
  return true;
}

std::string RapidWriter::object(char prefix, uptr address) const {
  if (names_ != nullptr) {
    if (auto it = names_->objects.find(address); it != names_->objects.end()) return it->second;
  }
  return fmt::format("{}{:x}", prefix, address);
}

std::string RapidWriter::thread(u64 tid) const {
  return names_ != nullptr && tid < names_->threads.size() ? names_->threads[tid] : fmt::format("T{}", tid);
}

std::string RapidWriter::line(const Event& event) {
  std::string what = event.is_sync ? operation(event.sync) : operation(event.access);
  if (what.empty()) return {};
  bool atomic =
      event.is_sync && (event.sync.kind == SyncKind::kAtomicStore || event.sync.kind == SyncKind::kAtomicRmw);
  SiteId site = atomic ? site_ : event.is_sync ? event.sync.place.site : event.access.place.site;
  return fmt::format("{}|{}|{}", thread(raw(event.thread)), what, raw(site) >= 16 ? raw(site) - 16 : 0);
}

std::string RapidWriter::operation(const Access& access) {
  std::string variable = object('V', access.address);
  switch (access.kind) {
    case AccessKind::kRead:
      return fmt::format("r({})", variable);
    case AccessKind::kWrite:
      return fmt::format("w({})", variable);
    case AccessKind::kFree:
      return fmt::format("free({})", variable);
    case AccessKind::kAtomicRead:
      return fmt::format("aload({},{})", variable, kOrders[order_]);
    default:
      site_ = access.place.site;
      return {};  // its synchronisation event gives the line
  }
}

std::string RapidWriter::operation(const Sync& sync) {
  if (const auto* known = std::ranges::find(kSyncWords, sync.kind, &SyncWord::kind);
      known != std::end(kSyncWords))
    return fmt::format("{}({})", known->word, object(known->prefix, sync.object));
  const u64 order = known_order(atomic_order(sync.detail));
  switch (sync.kind) {
    case SyncKind::kAtomicLoad:
      order_ = order;
      return {};
    case SyncKind::kAtomicStore:
      return fmt::format("astore({},{})", object('V', sync.object), kOrders[order]);
    case SyncKind::kAtomicRmw:
      return fmt::format("armw({},{})", object('V', sync.object), kOrders[order]);
    case SyncKind::kFence:
      return fmt::format("fence({})", kOrders[known_order(sync.detail)]);
    case SyncKind::kThreadCreate:
      return fmt::format("fork({})", thread(sync.object));
    case SyncKind::kThreadJoin:
      return fmt::format("join({})", thread(sync.object));
    default:
      return {};
  }
}

std::string names_text(const RapidNames& names) {
  std::string text = "{\"t\":\"start\",\"version\":1,\"pid\":0}\n";
  using Json = nlohmann::json;
  auto put = [&](Json line) { text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; };
  for (std::size_t i = 0; i < names.threads.size(); ++i)
    put({{"t", "name"}, {"thread", i}, {"name", names.threads[i]}});
  for (const auto& [address, name] : names.objects) put({{"t", "name"}, {"object", address}, {"name", name}});
  return text;
}

RapidNames names_from_text(const std::string& text) {
  RapidNames names;
  each_json_line(text, "name", [&](const nlohmann::json& line) {
    auto name = line.find("name"), thread = line.find("thread"), object = line.find("object");
    if (name == line.end() || !name->is_string()) return;
    if (thread != line.end() && thread->is_number_unsigned() && thread->get<u64>() == names.threads.size()) {
      names.threads.push_back(*name);
    } else if (object != line.end() && object->is_number_unsigned()) {
      names.objects.emplace(object->get<uptr>(), *name);
    }
  });
  return names;
}

}  // namespace duress::trace
