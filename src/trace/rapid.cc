// SPDX-License-Identifier: Apache-2.0
#include "trace/rapid.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

namespace duress::trace {
namespace {

constexpr std::string_view kOrders[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
constexpr std::size_t kMostNames = 10'000'000;
constexpr std::size_t kLongestName = 4096;

std::optional<u64> order_from_name(std::string_view name) {
  for (u64 i = 0; i < 6; ++i) {
    if (kOrders[i] == name) return i;
  }
  return std::nullopt;
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

bool RapidReader::line(std::string_view text, std::vector<Event>& events) {
  ++number_;
  auto fail = [&](const std::string& what) {
    problem_ = what;
    return false;
  };
  std::size_t bar = text.find('|');
  std::size_t second = bar == std::string_view::npos ? bar : text.find('|', bar + 1);
  if (bar == std::string_view::npos || bar == 0)
    return fail("a line is THREAD|OPERATION|PLACE, as in T0|w(V1)|12");
  std::string_view who = text.substr(0, bar);
  std::string_view what = text.substr(bar + 1, second == std::string_view::npos ? second : second - bar - 1);
  std::string_view where = second == std::string_view::npos ? std::string_view{} : text.substr(second + 1);
  u32 site = number_;
  if (!where.empty()) {
    auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), site);
    if (error != std::errc{} || end != where.data() + where.size() || site > 0x7fffffff)
      return fail(fmt::format("'{}' is no place: a number was expected", where.substr(0, 40)));
  }
  std::size_t open = what.find('(');
  std::string_view name, order_name, operation = what.substr(0, open);
  if (open != std::string_view::npos) {
    if (what.back() != ')') return fail(fmt::format("'{}' lacks a )", what.substr(0, 40)));
    name = what.substr(open + 1, what.size() - open - 2);
    if (std::size_t comma = name.rfind(','); comma != std::string_view::npos && !operation.empty() &&
                                             operation[0] == 'a' && operation != "acq" &&
                                             operation != "alloc") {
      order_name = name.substr(comma + 1);
      name = name.substr(0, comma);
    }
  }
  if (who.size() > kLongestName || name.size() > kLongestName) return fail("a name is too long");
  if (names_.threads.size() > 60000 || names_.by_name.size() > kMostNames) return fail("too many names");

  Tid t = thread(who);
  Place place{static_cast<SiteId>(16 + site), StackId{0}};
  auto access = [&](AccessKind kind) { return Event::of(t, Access{object('v', name), 4, kind, place}); };
  auto sync = [&](SyncKind kind, uptr o, u64 detail = 0) {
    return Event::of(t, Sync{kind, o, detail, place});
  };
  bool atomic = operation == "aload" || operation == "astore" || operation == "armw" || operation == "fence";
  u64 order = 5;
  if (atomic) {
    std::string_view given = operation == "fence" ? name : order_name;
    if (!given.empty()) {
      auto known = order_from_name(given);
      if (!known) return fail(fmt::format("'{}' is no memory order", given.substr(0, 40)));
      order = *known;
    }
  }
  bool needs_name = operation != "fence" && operation != "begin" && operation != "end";
  if (needs_name && name.empty())
    return fail(fmt::format("'{}' needs a name in brackets", what.substr(0, 40)));
  u64 detail = atomic_detail(order, 4);
  if (operation == "r") {
    events.push_back(access(AccessKind::kRead));
  } else if (operation == "w") {
    events.push_back(access(AccessKind::kWrite));
  } else if (operation == "acq") {
    events.push_back(sync(SyncKind::kMutexLock, object('l', name)));
  } else if (operation == "rel") {
    events.push_back(sync(SyncKind::kMutexUnlock, object('l', name)));
  } else if (operation == "rlock") {
    events.push_back(sync(SyncKind::kReadLock, object('l', name)));
  } else if (operation == "runlock") {
    events.push_back(sync(SyncKind::kReadUnlock, object('l', name)));
  } else if (operation == "post") {
    events.push_back(sync(SyncKind::kRelease, object('s', name), 1));
  } else if (operation == "wait") {
    events.push_back(sync(SyncKind::kAcquire, object('s', name)));
  } else if (operation == "aload") {
    events.push_back(sync(SyncKind::kAtomicLoad, object('v', name), detail));
    events.push_back(access(AccessKind::kAtomicRead));
  } else if (operation == "astore") {
    events.push_back(access(AccessKind::kAtomicWrite));
    events.push_back(sync(SyncKind::kAtomicStore, object('v', name), detail));
  } else if (operation == "armw") {
    events.push_back(sync(SyncKind::kAtomicLoad, object('v', name), detail));
    events.push_back(access(AccessKind::kAtomicRmw));
    events.push_back(sync(SyncKind::kAtomicRmw, object('v', name), detail));
  } else if (operation == "fence") {
    events.push_back(sync(SyncKind::kFence, 0, order));
  } else if (operation == "fork" || operation == "join") {
    Tid other = thread(name);
    if (other == t) return fail("a thread cannot create or join itself");
    if (operation == "fork") {
      events.push_back(sync(SyncKind::kThreadCreate, raw(other)));
      events.push_back(Event::of(other, Sync{SyncKind::kThreadStart, 0, 0, {}}));
    } else {
      events.push_back(Event::of(other, Sync{SyncKind::kThreadEnd, 0, 0, {}}));
      events.push_back(sync(SyncKind::kThreadJoin, raw(other)));
    }
  } else if (operation == "begin" || operation == "end") {
    events.push_back(
        sync(operation == "begin" ? SyncKind::kBlockBegin : SyncKind::kBlockEnd, object('b', name)));
  } else if (operation == "alloc") {
    events.push_back(sync(SyncKind::kAlloc, object('v', name), 4));
  } else if (operation == "free") {
    events.push_back(access(AccessKind::kFree));
    events.push_back(sync(SyncKind::kFree, object('v', name), 4));
  } else {
    return fail(fmt::format(
        "'{}' is no operation (r, w, acq, rel, fork, join, begin, end, rlock, runlock, post, wait, aload, "
        "astore, armw, fence, alloc, free)",
        operation.substr(0, 40)));
  }
  return true;
}

std::string RapidWriter::line(const Event& event) {
  const RapidNames* names = names_;
  auto object = [&](char prefix, uptr address) {
    if (names != nullptr) {
      if (auto it = names->objects.find(address); it != names->objects.end()) return it->second;
    }
    return fmt::format("{}{:x}", prefix, address);
  };
  auto thread = [&](u64 tid) {
    if (names != nullptr && tid < names->threads.size()) return names->threads[tid];
    return fmt::format("T{}", tid);
  };
  auto text = [&](const std::string& what, SiteId site) {
    u32 place = raw(site) >= 16 ? raw(site) - 16 : 0;
    return fmt::format("{}|{}|{}", thread(raw(event.thread)), what, place);
  };
  if (!event.is_sync) {
    const Access& a = event.access;
    switch (a.kind) {
      case AccessKind::kRead:
        return text(fmt::format("r({})", object('V', a.address)), a.place.site);
      case AccessKind::kWrite:
        return text(fmt::format("w({})", object('V', a.address)), a.place.site);
      case AccessKind::kFree:
        return text(fmt::format("free({})", object('V', a.address)), a.place.site);
      case AccessKind::kAtomicRead:
        return text(fmt::format("aload({},{})", object('V', a.address), kOrders[order_]), a.place.site);
      default:
        site_ = a.place.site;
        return {};  // its synchronisation says it
    }
  }
  const Sync& s = event.sync;
  auto locks = [&](const char* word) {
    return text(fmt::format("{}({})", word, object('L', s.object)), s.place.site);
  };
  auto atomic = [&](const char* word) {
    u64 order = atomic_order(s.detail);
    return text(fmt::format("{}({},{})", word, object('V', s.object), kOrders[order < 6 ? order : 5]), site_);
  };
  switch (s.kind) {
    case SyncKind::kMutexLock:
      return locks("acq");
    case SyncKind::kMutexUnlock:
      return locks("rel");
    case SyncKind::kReadLock:
      return locks("rlock");
    case SyncKind::kReadUnlock:
      return locks("runlock");
    case SyncKind::kRelease:
      return locks("post");
    case SyncKind::kAcquire:
      return locks("wait");
    case SyncKind::kAtomicLoad:
      order_ = atomic_order(s.detail) < 6 ? atomic_order(s.detail) : 5;
      return {};
    case SyncKind::kAtomicStore:
      return atomic("astore");
    case SyncKind::kAtomicRmw:
      return atomic("armw");
    case SyncKind::kFence:
      return text(fmt::format("fence({})", kOrders[s.detail < 6 ? s.detail : 5]), s.place.site);
    case SyncKind::kThreadCreate:
      return text(fmt::format("fork({})", thread(s.object)), s.place.site);
    case SyncKind::kThreadJoin:
      return text(fmt::format("join({})", thread(s.object)), s.place.site);
    case SyncKind::kBlockBegin:
      return text(fmt::format("begin({})", object('B', s.object)), s.place.site);
    case SyncKind::kBlockEnd:
      return text(fmt::format("end({})", object('B', s.object)), s.place.site);
    case SyncKind::kAlloc:
      return text(fmt::format("alloc({})", object('V', s.object)), s.place.site);
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
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    auto line = nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                      text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    at = end + 1;
    if (!line.is_object() || line.value("t", nlohmann::json()) != "name") continue;
    auto name = line.find("name"), thread = line.find("thread"), object = line.find("object");
    if (name == line.end() || !name->is_string()) continue;
    if (thread != line.end() && thread->is_number_unsigned() && thread->get<u64>() == names.threads.size()) {
      names.threads.push_back(*name);
    } else if (object != line.end() && object->is_number_unsigned()) {
      names.objects.emplace(object->get<uptr>(), *name);
    }
  }
  return names;
}

}  // namespace duress::trace
