// SPDX-License-Identifier: Apache-2.0
//
// Velodrome (Flanagan, Freund and Yi): is this execution serializable? Every block that is meant to be
// atomic, and every operation outside one, is a transaction. An edge goes from a transaction to one that must
// come after it: the next of its thread, a conflicting access, the next user of a lock. A cycle means that no
// serial order explains the execution; unlike Atomizer's, its answer is exact, but only for this execution.
//
// Transactions that are over and that nothing precedes can be in no cycle any more: they go at once, so that
// the graph stays as small as the number of threads and open blocks.
#include "analysis/access_note.h"
#include "analysis/arena_list.h"
#include "analysis/growing_array.h"
#include "analysis/location_table.h"

namespace duress {
namespace {

struct Node;

struct Edge {
  Edge* next;
  Node* to;
  u64 serial;  // of `to`
  AccessNote from_note, to_note;
};

struct Node {
  u64 serial;  // another one when the memory is used again
  Tid thread;
  u32 incoming;
  bool block, over, seen;
  Edge* out;
  Node* next_free;
};

/// A node, if it still exists.
struct NodeRef {
  Node* node = nullptr;
  u64 serial = 0;
  AccessNote note = {};
  Node* get() const { return node && node->serial == serial ? node : nullptr; }
};

struct Users {
  NodeRef writer;
  ArenaList<NodeRef> readers;

  Users copy(Arena& arena) const { return {writer, readers.copy(arena)}; }
  void drop(Arena& arena) { readers.drop(arena); }
  void add(Arena& arena, const NodeRef& ref) {
    u32 kept = 0;
    for (const NodeRef& reader : readers) {  // one for each thread, and only of those that are left
      if (reader.get() && reader.note.thread != ref.note.thread) readers.items[kept++] = reader;
    }
    readers.count = kept;
    readers.push(arena, ref);
  }
};

class Velodrome final : public Analysis {
 public:
  explicit Velodrome(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        threads_(context.arena),
        locations_(context.arena),
        locks_(context.arena) {}
  const char* name() const override { return "Velodrome"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    AccessNote note = AccessNote::of(thread, access);
    SpinGuard guard(lock_);
    Node* self = begin_operation(thread.tid, note);
    locations_.access(access.address, access.size, [&](Users& users, uptr at, u32) {
      follow(users.writer, self, note, at);
      if (is_write(access.kind)) {
        for (const NodeRef& reader : users.readers) follow(reader, self, note, at);
        users.readers.count = 0;
        users.writer = {self, self->serial, note};
      } else {
        users.add(arena_, {self, self->serial, note});
      }
    });
    end_operation(thread.tid);
    return Pass::kForward;
  }

  void sync(AnalysisThread& thread, const Sync& sync) override {
    AccessNote note{sync.place, thread.tid, LockSetId{0}, AccessKind::kRead};
    SpinGuard guard(lock_);
    ThreadState& t = threads_[raw(thread.tid)];
    switch (sync.kind) {
      case SyncKind::kBlockBegin:
        if (t.depth++ == 0) t.current = {start(thread.tid, true, note), serial_, note};
        break;
      case SyncKind::kBlockEnd:
        if (t.depth && --t.depth == 0) finish_block(t);
        break;
      case SyncKind::kMutexLock:
      case SyncKind::kReadLock:
      case SyncKind::kAcquire:
        operation(thread.tid, note, sync.object, false);
        break;
      case SyncKind::kMutexUnlock:
      case SyncKind::kReadUnlock:
      case SyncKind::kRelease:
        operation(thread.tid, note, sync.object, true);
        break;
      case SyncKind::kThreadCreate: {
        Node* self = begin_operation(thread.tid, note);
        threads_[sync.object].last = {self, self->serial, note};
        end_operation(thread.tid);
        break;
      }
      case SyncKind::kThreadJoin: {
        Node* self = begin_operation(thread.tid, note);
        follow(threads_[sync.object].last, self, note, 0);
        end_operation(thread.tid);
        break;
      }
      default:
        break;
    }
  }
  void fresh(uptr begin, uptr end) override {
    SpinGuard guard(lock_);
    locations_.forget(begin, end);
  }
  void counters(CounterSink& out) const override {
    out.counter("Velodrome: transactions", serial_);
    out.counter("Velodrome: edges", edges_);
    out.counter("Velodrome: transactions collected", collected_);
  }

 private:
  struct ThreadState {
    NodeRef last;     // its last transaction, or its creator's
    NodeRef current;  // the open one
    u32 depth;
  };

  Node* start(Tid tid, bool block, const AccessNote& note) {
    Node* node = free_;
    if (node) {
      free_ = node->next_free;
    } else {
      node = static_cast<Node*>(arena_.allocate(sizeof(Node)));
    }
    *node = {++serial_, tid, 0, block, false, false, nullptr, nullptr};
    NodeRef& last = threads_[raw(tid)].last;
    if (Node* before = last.get()) add_edge(before, node, last.note, note);
    return node;
  }
  /// The transaction of an operation: the open block, or one of its own.
  Node* begin_operation(Tid tid, const AccessNote& note) {
    ThreadState& t = threads_[raw(tid)];
    if (!t.depth || !t.current.get()) {
      Node* node = start(tid, t.depth != 0, note);
      threads_[raw(tid)].current = {node, node->serial, note};
    }
    return threads_[raw(tid)].current.node;
  }
  void end_operation(Tid tid) {
    ThreadState& t = threads_[raw(tid)];
    if (!t.depth) finish_block(t);
  }
  void finish_block(ThreadState& t) {
    Node* node = t.current.get();
    if (!node) return;
    node->over = true;
    Node* before = t.last.get();
    t.last = t.current;
    t.current = {};
    if (before) collect(before);
    collect(node);
  }
  void operation(Tid tid, const AccessNote& note, uptr object, bool releases) {
    Node* self = begin_operation(tid, note);
    // The lock's word stands for it; its own bytes are never accessed through the chain.
    locks_.access(object, 1, [&](Users& users, uptr, u32) {
      if (releases) {
        users.writer = {self, self->serial, note};
      } else {
        follow(users.writer, self, note, object);
      }
    });
    end_operation(tid);
  }

  void follow(const NodeRef& earlier, Node* self, const AccessNote& note, uptr address) {
    Node* from = earlier.get();
    if (!from || from == self) return;
    for (Edge* e = from->out; e; e = e->next) {
      if (e->to == self) return;
    }
    if (reaches(self, from)) {
      bool blocks = self->block || from->block;
      if (blocks) {
        findings_.warning(
            {"Velodrome", "block is not serializable", address, 2, {note.side(), earlier.note.side()}});
      }
      return;  // the edge would close the cycle for all that follows
    }
    add_edge(from, self, earlier.note, note);
  }
  void add_edge(Node* from, Node* to, const AccessNote& from_note, const AccessNote& to_note) {
    if (from == to) return;
    auto* e = static_cast<Edge*>(arena_.allocate(sizeof(Edge)));
    *e = {from->out, to, to->serial, from_note, to_note};
    from->out = e;
    ++to->incoming;
    ++edges_;
  }
  bool reaches(Node* from, const Node* wanted) {
    bool found = search(from, wanted);
    unmark(from);
    return found;
  }
  bool search(Node* from, const Node* wanted) {
    if (from == wanted) return true;
    if (from->seen) return false;
    from->seen = true;
    for (Edge* e = from->out; e; e = e->next) {
      if (search(e->to, wanted)) return true;
    }
    return false;
  }
  void unmark(Node* from) {
    if (!from->seen) return;
    from->seen = false;
    for (Edge* e = from->out; e; e = e->next) unmark(e->to);
  }
  /// Takes away what can be in no cycle any more.
  void collect(Node* node) {
    while (node && node->over && !node->incoming) {
      ++collected_;
      Node* next = nullptr;
      for (Edge* e = node->out; e;) {
        Edge* gone = e;
        e = e->next;
        Node* to = gone->to;
        arena_.free(gone, sizeof(Edge));
        if (--to->incoming == 0 && to->over) {
          if (next) collect(next);
          next = to;
        }
      }
      node->out = nullptr;
      node->serial = 0;
      node->next_free = free_;
      free_ = node;
      node = next;
    }
  }

  Arena& arena_;
  RaceSink& findings_;
  SpinLock lock_;  // everything below
  GrowingArray<ThreadState> threads_;
  Node* free_ = nullptr;
  u64 serial_ = 0, edges_ = 0, collected_ = 0;
  LocationTable<Users> locations_;
  LocationTable<Users> locks_;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Velodrome, context);

}  // namespace duress
