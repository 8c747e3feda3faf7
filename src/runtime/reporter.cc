// SPDX-License-Identifier: Apache-2.0
#include "runtime/reporter.h"

#include <signal.h>

#include "analysis/analysis.h"
#include "base/prng.h"
#include "runtime/control.h"
#include "runtime/thread.h"
#include "trail/strand_path.h"

namespace duress {

static const char* const kAccessNames[] = {"read",         "write",      "atomic-read",
                                           "atomic-write", "atomic-rmw", "free"};
static constexpr int kLongestStack = 512;  // frames written; deeper recursion is cut at the outer end

bool Reporter::is_new(u64 key) {
  if (key == 0) key = 1;
  for (u32 i = static_cast<u32>(key) & (kPairs - 1);; i = (i + 1) & (kPairs - 1)) {
    if (reported_[i] == key) return false;
    if (reported_[i] == 0) {
      if (reported_count_ >= kPairs - kPairs / 8) return false;
      ++reported_count_;
      reported_[i] = key;
      return true;
    }
  }
}

bool Reporter::is_worth_writing(u64 pair, uptr address) {
  u8& locations = locations_[pair >> 48];
  if (locations == kLocationsPerPair || !is_new(mix(pair ^ mix(address)))) return false;
  ++locations;
  return true;
}

void Reporter::put_stack(Text& text, StackId stack) {
  text.put('[');
  for (int n = 0; raw(stack) && n < kLongestStack; ++n, stack = parts_.stacks.caller(stack)) {
    if (n) text.put(',');
    text.address(parts_.stacks.return_address(stack));
  }
  text.put(']');
}

void Reporter::log_thread(Tid thread) {
  ThreadInfo& info = parts_.threads[thread];
  if (info.logged) return;
  info.logged = true;
  if (raw(thread)) log_thread(static_cast<Tid>(info.parent));
  Text text(parts_.arena);
  text.put('{').key("t").quoted("thread").key("id").number(raw(thread)).key("parent").number(info.parent);
  text.key("name").quoted(info.name);
  if (info.path && info.path != trail::kNoPath) text.key("path").number(info.path);
  text.key("stack");
  put_stack(text, info.created_at);
  text.put('}');
  parts_.log.write(text);
}

void Reporter::put_side(Text& text, const RaceSide& side, Tid thread, uptr address, u32 size) {
  text.put('{')
      .key("thread")
      .number(raw(thread))
      .key("access")
      .quoted(kAccessNames[static_cast<int>(side.kind)]);
  text.key("addr").address(address).key("size").number(size).key("site");
  parts_.modules.put_site(text, side.place.site);
  text.key("stack");
  put_stack(text, side.place.stack);
  text.key("locks").put('[');
  u32 count;
  const HeldLock* held = parts_.locks.locks(side.locks, &count);
  for (u32 i = 0; i < count; ++i) {
    if (i) text.put(',');
    text.put('{').key("addr").address(held[i].address).key("kind").quoted("mutex").key("mode");
    text.quoted(held[i].shared ? "read" : "write").put('}');
  }
  text.put("]}");
}

void Reporter::put_heap_block(Text& text, const HeapBlock& block) {
  log_thread(block.thread);
  text.put('{').key("kind").quoted("heap").key("start").address(block.start).key("size").number(block.size);
  text.key("thread").number(raw(block.thread)).key("stack");
  put_stack(text, block.stack);
  text.put('}');
}

void Reporter::put_block(Text& text, uptr address) {
  HeapBlock block = parts_.heap.find_containing(address);
  if (block.start) return put_heap_block(text, block);
  text.put('{').key("kind");
  for (u32 i = 0; i < parts_.threads.count(); ++i) {
    const ThreadInfo& info = parts_.threads[static_cast<Tid>(i)];
    if (address < info.stack_begin || address >= info.stack_end) continue;
    text.quoted("stack").key("start").address(info.stack_begin);
    text.key("size")
        .number(info.stack_end - info.stack_begin)
        .key("thread")
        .number(i)
        .key("stack")
        .put("[]}");
    return;
  }
  text.quoted(parts_.modules.is_global(address) ? "global" : "unknown").key("start").address(address);
  text.key("size").number(0).key("thread").number(0).key("stack").put("[]}");
}

void Reporter::memory_error(const MemoryError& error) {
  if (listener_ && controlled()) return;  // duress::check tells it itself
  SpinGuard guard(lock_);
  const Tid thread = current_thread()->tid;
  Uncontrolled here;
  parts_.modules.log_new();
  log_thread(thread);
  if (error.freed) log_thread(error.freed_by);
  if (error.stack) log_thread(error.owner);
  const trail::Misuse* misuse = trail::misuse_of(error.outcome);
  Text text(parts_.arena);
  text.put('{').key("t").quoted("memory").key("what").quoted(misuse ? misuse->word : "");
  text.key("addr").address(error.address).key("size").number(error.size);
  if (error.freed) {
    const Place place = {kFreeSite, error.freed_at};
    text.key("prev");
    put_side(text, {AccessKind::kFree, place, {}, 0, {}}, error.freed_by, error.address, 0);
  }
  text.key("cur");
  put_side(text, {error.kind, error.place, {}, 0, {}}, thread, error.address, static_cast<u32>(error.size));
  text.key("block");
  if (error.block.start) {
    put_heap_block(text, error.block);
  } else {
    put_block(text, error.address);
  }
  text.put('}');
  parts_.log.write(text);
  const RaceSide side = {error.kind, error.place, {}, 0, {}};
  if (points_) put_points(&side, 1);
}

void Reporter::race(const Race& race) {
  if (listener_ && controlled()) return listener_(race);
  // Sites name source positions; accesses of library functions are distinguished by stack.
  auto where = [](const RaceSide& side) {
    bool library = raw(side.place.site) < kFirstModuleSite;
    return mix(u64{raw(side.place.site)} << 8 | static_cast<u64>(side.kind)) ^
           (library ? mix(raw(side.place.stack)) : 0);
  };
  SpinGuard guard(lock_);
  if (!race.potential) ++races_;
  u64 pair = mix(where(race.earlier)) ^ where(race.later);
  // What one analysis says does not silence another.
  for (const char* c = race.analysis; *c; ++c) pair = mix(pair ^ static_cast<unsigned char>(*c));
  // Two pairs that share a counter must not silence each other: the first of a pair is always written.
  bool first = is_new(pair);
  if (!is_worth_writing(pair, race.address) && !first) return;
  Uncontrolled here;
  parts_.modules.log_new();
  Tid earlier = thread_of(race.earlier), later = thread_of(race.later);
  log_thread(earlier);
  log_thread(later);
  Text text(parts_.arena);
  text.put('{').key("t").quoted(race.potential ? "potential" : "race").key("analysis").quoted(race.analysis);
  text.key("addr").address(race.address).key("size").number(race.size).key("prev");
  put_side(text, race.earlier, earlier, race.address, race.size);
  text.key("cur");
  put_side(text, race.later, later, race.address, race.size);
  text.key("block");
  put_block(text, race.address);
  text.put('}');
  parts_.log.write(text);
  RaceSide sides[] = {race.earlier, race.later};
  if (points_) put_points(sides, 2);
  if (halt_ && !race.potential) {
    end(66);
    exit_process(66);
  }
}

void Reporter::end(int code) {
  Text text(parts_.arena);
  text.put('{').key("t").quoted("end").key("exit").number(static_cast<u64>(code & 0xff));
  if (parts_.log.begun()) text.key("bytes").number(parts_.log.bytes());  // before this line
  text.put('}');
  parts_.log.write(text);
}

Tid Reporter::thread_of(const RaceSide& side) const {
  if (side.slot == RaceSide::kByThread) return static_cast<Tid>(side.clock);
  return parts_.threads.owner(side.slot, side.clock);
}

void Reporter::warning(const Warning& warning) {
  SpinGuard guard(lock_);
  u64 key = mix(warning.address ? warning.count : 0);
  for (const char* c = warning.analysis; *c; ++c) key = mix(key ^ static_cast<unsigned char>(*c));
  for (u32 i = 0; i < warning.count; ++i) key = mix(key ^ raw(warning.sides[i].place.site));
  if (!is_new(key)) return;
  Uncontrolled here;
  parts_.modules.log_new();
  for (u32 i = 0; i < warning.count; ++i) log_thread(thread_of(warning.sides[i]));
  Text text(parts_.arena);
  text.put('{').key("t").quoted("warning").key("analysis").quoted(warning.analysis).key("what");
  text.quoted(warning.what).key("addr").address(warning.address).key("sites").put('[');
  for (u32 i = 0; i < warning.count; ++i) {
    if (i) text.put(',');
    put_side(text, warning.sides[i], thread_of(warning.sides[i]), warning.address, 0);
  }
  text.put(']').key("block");
  put_block(text, warning.address);
  text.put('}');
  parts_.log.write(text);
  if (points_) put_points(warning.sides, warning.count);
}

/// Names the sites by keys that a request for another execution may carry.
void Reporter::put_points(const RaceSide* sides, u32 count) {
  Text text(parts_.arena);
  text.put('{').key("t").quoted("points").key("sites").put('[');
  bool first = true;
  for (u32 i = 0; i < count; ++i) {
    SiteId id = sides[i].place.site;
    const DuressSite* site = parts_.modules.site(id);
    if (!first) text.put(',');
    first = false;
    text.put('{').key("site");
    parts_.modules.put_site(text, id);
    text.key("key").number(site ? points_->key(site) : 0).put('}');
  }
  text.put("]}");
  parts_.log.write(text);
}

void Reporter::line(const char* data, size_t size) {
  Text copy(parts_.arena);
  copy.put(data, size).put('\0');
  Text text(parts_.arena);
  text.put('{').key("t").quoted("event").key("text").quoted(copy.data()).put('}');
  parts_.log.write(text);
}

static const char* signal_name(int signal) {
  switch (signal) {
    case Reporter::kExit:
      return "exit";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGABRT:
      return "SIGABRT";
    case SIGTRAP:
      return "SIGTRAP";
    default:
      return "SIG";
  }
}

void Reporter::thread(Tid id, Tid parent, const char* name) {
  Text text(parts_.arena);
  text.put('{').key("t").quoted("thread").key("id").number(raw(id)).key("parent").number(raw(parent));
  text.key("name").quoted(name).key("stack").put("[]}");
  parts_.log.write(text);
}

void Reporter::crash(int signal, uptr address, Tid thread, StackId stack, uptr pc, bool known) {
  Uncontrolled here;
  parts_.modules.log_new();
  if (known) log_thread(thread);
  Text text(parts_.arena);
  text.put('{')
      .key("t")
      .quoted("crash")
      .key("signal")
      .quoted(signal_name(signal))
      .key("addr")
      .address(address);
  // The host subtracts one from return addresses; the faulting instruction is where it is.
  text.key("thread").number(raw(thread)).key("stack");
  put_stack(text, parts_.stacks.push(stack, pc + 1));
  text.put('}');
  parts_.log.write(text);
}

void Reporter::known_thread(Tid thread) {
  SpinGuard guard(lock_);
  log_thread(thread);
}

void Reporter::stat(const char* name, u64 value) {
  Text text(parts_.arena);
  text.put('{').key("t").quoted("stat").key("name").quoted(name).key("value").number(value).put('}');
  parts_.log.write(text);
}

void Reporter::incomplete(const char* what) {
  u64 key = 7;
  for (const char* c = what; *c; ++c) key = mix(key ^ static_cast<unsigned char>(*c));
  {
    SpinGuard guard(lock_);
    if (!is_new(key)) return;
  }
  Text text(parts_.arena);
  text.put('{').key("t").quoted("incomplete").key("what").quoted(what).put('}');
  parts_.log.write(text);
}

}  // namespace duress
