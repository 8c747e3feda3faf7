// SPDX-License-Identifier: Apache-2.0
#include "memory/testing/rc11_machine.h"

namespace duress::memory::testing {

using What = Instruction::What;

Machine::Machine(const Program& program, Decisions& decisions, Rc11Model::Options options)
    : program_(program),
      decisions_(decisions),
      threads_(arena_),
      model_(arena_, threads_, options),
      graph_(program.locations, program.events()),
      next_(program.threads.size()),
      memory_(program.locations),
      read_(graph_.size()),
      written_(graph_.size()),
      released_(program.locations) {
  for (std::size_t i = 0; i < program.threads.size(); ++i) threads_.start();
}

Machine::~Machine() {
  for (ReleaseClock& clock : released_) clock.clear(arena_);
  for (ReleaseClock& clock : locks_) clock.clear(arena_);
}

void Machine::run() {
  for (;;) {
    std::vector<u32> runnable;
    for (u32 t = 0; t < next_.size(); ++t) {
      if (next_[t] < program_.threads[t].size()) runnable.push_back(t);
    }
    if (runnable.empty()) return;
    step(runnable.size() == 1 ? runnable[0] : runnable[decisions_.choose(static_cast<u32>(runnable.size()))]);
  }
}

u32 Machine::read(const Legal& legal) {
  return decisions_.choose(legal.count);
}

u32 Machine::place(u32 places, u32) {
  return decisions_.choose(places);
}

/// The event of a store. One that is not known is what a history began with: what memory held then.
u32 Machine::event_of(u64 store, u32 location) {
  return events_.try_emplace(store, graph_.modifications(location).back()).first->second;
}

void Machine::got(u32 event, const Rc11Model::Read& read) {
  graph_[event].reads = event_of(read.store, graph_[event].location);
  read_[event] = static_cast<u64>(read.value);
  ++reads_;
}

void Machine::wrote(u32 event, const Rc11Model::Written& written, u64 value) {
  u32 location = graph_[event].location;
  graph_.insert_after(event, event_of(written.after, location));
  events_[written.store] = event;
  written_[event] = value;
  if (written.newest) memory_[location] = value;
}

void Machine::step(u32 t) {
  if (disturb_ && prng_.chance(1, disturb_)) {
    uptr address = kBase + 16 * prng_.below(program_.locations);
    model_.drop({address, address + 8});
  }
  u32 index = next_[t]++;
  u32 event = program_.event(t, index);
  const Instruction& mine = program_.threads[t][index];
  ThreadClock& who = threads_[t];
  u32 where = mine.location;
  bool accesses = mine.what <= What::kCompare;
  Rc11Model::Object object = {kBase + 16 * where, 8, SiteId{event}, released_[accesses ? where : 0]};
  graph_[event] = mine.event(t, mine.reads() ? std::optional<u64>(0) : std::nullopt);
  switch (mine.what) {
    case What::kLoad:
      return got(event, model_.load(who, object, mine.order, memory_[where], *this));
    case What::kStore:
      return wrote(event, model_.store(who, object, mine.order, memory_[where], mine.value, *this),
                   mine.value);
    case What::kFence:
      return model_.fence(who, mine.order);
    case What::kRelease:
      who.release_to(locks_[where]);
      lock_events_[where] = event;
      return;
    case What::kAcquire:
      who.acquire(locks_[where]);
      if (lock_events_[where] != ExecutionGraph::kNothing) graph_.order(lock_events_[where], event);
      return;
    default:
      break;
  }
  InstructionUpdate update(mine);
  Rc11Model::Updated updated =
      model_.update(who, object, mine.order, mine.failure, memory_[where], update, *this);
  graph_[event] = mine.event(t, static_cast<u64>(updated.read.value));
  got(event, updated.read);
  if (updated.wrote) wrote(event, updated.written, static_cast<u64>(updated.value));
}

Results executed(const Program& program) {
  Results results;
  AllDecisions search;
  do {
    Machine machine(program, search);
    machine.run();
    ++results.runs;
    results.graphs.insert(machine.graph().text());
    results.outcomes.insert(machine.outcome());
  } while (search.advance());
  return results;
}

}  // namespace duress::memory::testing
