// SPDX-License-Identifier: Apache-2.0
#include "check/memory_errors.h"

#include <string.h>

#include "check/race_clocks.h"
#include "check/source_lines.h"
#include "runtime/control.h"
#include "runtime/object_errors.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

constexpr const char* kVerbs[] = {
    "reads", "writes", "reads atomically", "writes atomically", "updates atomically", "frees"};

struct FoundError {
  bool any;
  MemoryError error;
  u32 strand;
  const DuressSite* site;  // null: a library function, or free
};
FoundError found = {};

void note_error(const MemoryError& error) {
  found = {true, error, controlled()->number, g_runtime->modules.site(error.place.site)};
}

bool is_about_object(trail::Outcome outcome) {
  return raw(outcome) >= raw(trail::Outcome::kUseAfterDestroy);
}

const char* verb_of(const MemoryError& error) {
  switch (error.outcome) {
    case trail::Outcome::kUseAfterDestroy:
      return "uses it";
    case trail::Outcome::kDestroyedInUse:
      return "destroys it";
    case trail::Outcome::kInitialisedTwice:
      return "initialises it";
    default:
      return kVerbs[static_cast<int>(error.kind)];
  }
}

/// Where instrumented code made the access: "file:line", or "".
void put_site(Text& text, const DuressSite* site) {
  const SitePoints::Source source = g_runtime->points.source(site);
  if (*source.file) text.put(base_name(source.file)).put(':').number(source.line);
}

/// A line for each frame that has a source line.
void put_stack(Text& text, const DuressSite* site, StackId stack) {
  const StackDepot& stacks = g_runtime->stacks;
  constexpr u32 kMost = 12;
  u32 shown = 0;
  if (site) {
    text.put("    #0 ");
    const char* function = g_runtime->points.source(site).function;
    if (*function) text.put(function).put("()  ");
    put_site(text, site);
    text.put('\n');
    ++shown;
  }
  for (; raw(stack) && shown < kMost; stack = stacks.caller(stack)) {
    const char* line = source_line(stacks.return_address(stack));
    if (*line) text.put("    #").number(shown++).put(' ').put(line).put('\n');
  }
}

void put_thread(Text& text, Tid thread) {
  const sched::Strand* strand = clocks_strand_of(thread);
  if (strand)
    text.put(" by T").number(strand->number);
  else
    text.put(" in an earlier execution");
}

void put_place_in_block(Text& text, const MemoryError& error) {
  const HeapBlock& block = error.block;
  if (!block.start || error.kind == AccessKind::kFree) return;
  if (error.address < block.start) {
    text.put(", ").number(block.start - error.address).put(" bytes before");
  } else if (error.address < block.start + block.size) {
    text.put(", ").number(error.address - block.start).put(" bytes into");
  } else {
    text.put(", ").number(error.address - block.start - block.size).put(" bytes behind");
  }
  text.put(" a heap block of ").number(block.size).put(" bytes");
}

}  // namespace

void watch_memory(const DuressCheck& c, Runtime& runtime) {
  found = {};
  if (!c.ignores_memory_errors) memory_guard_begin(runtime, note_error);
  g_note_caller = !c.ignores_memory_errors;  // frames that are gone lie below the caller's
}

void memory_execution_begins() {
  found.any = false;
  if (g_memory_guard) object_execution_begins();
}

void memory_execution_ends() {
  if (g_memory_guard) g_memory_guard->execution_ends();
}

bool memory_error_found() {
  return found.any;
}

void put_memory_error(Text& text) {
  const MemoryError& error = found.error;
  const trail::Misuse* misuse = trail::misuse_of(error.outcome);
  text.put(misuse ? misuse->text : "memory error");
  Text place(g_runtime->arena);
  if (found.site) {
    put_site(place, found.site);
  } else {
    const char* line = "";
    if (raw(error.place.stack)) line = source_line(g_runtime->stacks.return_address(error.place.stack));
    place.put(line);
  }
  if (!place.size()) return;
  text.put(": ").put(place.data(), place.size()).put(' ').put(verb_of(error));
}

void put_memory_lines(Text& text) {
  if (!found.any) return;
  const MemoryError& error = found.error;
  text.put("  T").number(found.strand).put(' ').put(verb_of(error));
  if (error.size && !is_about_object(error.outcome)) text.put(' ').number(error.size).put(" bytes");
  put_place_in_block(text, error);
  text.put('\n');
  put_stack(text, found.site, error.place.stack);
  if (error.freed) {
    const bool initialised = error.outcome == trail::Outcome::kInitialisedTwice;
    const bool object = is_about_object(error.outcome);
    text.put(initialised ? "  initialised" : object ? "  destroyed" : "  freed");
    put_thread(text, error.freed_by);
    text.put('\n');
    put_stack(text, nullptr, error.freed_at);
  }
  if (!error.block.start) return;
  text.put("  allocated");
  put_thread(text, error.block.thread);
  text.put('\n');
  put_stack(text, nullptr, error.block.stack);
}

}  // namespace duress
