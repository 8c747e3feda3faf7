// SPDX-License-Identifier: Apache-2.0
//
// oneTBB's parallel_pipeline, whose scheduling is all inside its library, which is not instrumented. It gets
// a copy of the tree of filters whose leaves make the program's filters and put a table of ours before their
// table of virtual functions; so each call of a filter is seen:
//
//   the caller → every call → the return of parallel_pipeline
//   a call of a serial filter → its next call
//   what a filter returns → the call of the next filter with it
//   a call of the last filter → the next call of the first one: no more items are under way than was asked
//   for, and a program may use their memory in turn
//
// Items are told apart by their pointer or, if they are small, by their value: more order than there is, if
// two are equal.
#include "base/prng.h"
#include "runtime/interceptors/real.h"

using namespace duress;

namespace {

struct Context;

/// tbb::detail::d1::base_filter
struct Filter {
  void* const* table;
  Filter* next;
  void* buffer;
  u32 mode;
};
constexpr u32 kSerial = 1;
enum { kCall, kDestroy, kDelete, kFinalize, kFunctions };

/// tbb::detail::d1::filter_node
struct Node {
  void* const* table;  // first: make a filter
  i64 references;
  const Node* left;
  const Node* right;
};

struct Pipeline;

/// In place of a filter's table; a table points behind its offset and type.
struct Table {
  Pipeline* pipeline;
  void* const* own;
  u64 first;
  void* head[2];
  void* functions[kFunctions];
};

struct Leaf {
  Node node;
  const Node* own;
  Pipeline* pipeline;
  Table table;
};

constexpr int kFilters = 32;  // pipelines with more are left alone

/// One call of parallel_pipeline.
struct Pipeline {
  u64 begin = 0, end = 0, last = 0;  // objects of synchronisation
  int leaf_count = 0, branch_count = 0;
  Leaf leaves[kFilters];
  Node branches[kFilters];
};

Table& table_of(const Filter* filter) {
  auto* functions = reinterpret_cast<char*>(const_cast<void**>(filter->table));
  return *reinterpret_cast<Table*>(functions - __builtin_offsetof(Table, functions));
}

/// An address that no object of the target has. Items share a few thousand of them: objects of
/// synchronisation stay, and there may be any number of items.
const void* item_object(const Filter* filter, const void* item) {
  constexpr u64 kItems = 4096;
  u64 name = mix(mix(reinterpret_cast<u64>(filter)) ^ mix(reinterpret_cast<u64>(item)) % kItems);
  return reinterpret_cast<const void*>((name | u64{3} << 62) & ~u64{7});
}

void* call(Filter* filter, void* item) {
  const uptr pc = DURESS_CALLER_PC;
  Table& table = table_of(filter);
  auto* function = reinterpret_cast<void* (*)(Filter*, void*)>(table.own[kCall]);
  if (!awake()) return function(filter, item);
  sync_acquire(&table.pipeline->begin, pc);
  if (table.first) sync_acquire(&table.pipeline->last, pc);
  if (!table.first) sync_acquire(item_object(filter, item), pc);
  if (filter->mode & kSerial) sync_acquire(&filter->buffer, pc);
  void* result = function(filter, item);
  if (filter->mode & kSerial) sync_release_join(&filter->buffer, pc);
  if (filter->next) sync_release_join(item_object(filter->next, result), pc);
  if (!filter->next) sync_release_join(&table.pipeline->last, pc);
  sync_release_join(&table.pipeline->end, pc);
  return result;
}

Filter* make_filter(const Node* node) {
  auto* leaf = reinterpret_cast<Leaf*>(const_cast<Node*>(node));
  auto* filter = reinterpret_cast<Filter* (*)(const Node*)>(leaf->own->table[0])(leaf->own);
  Table& table = leaf->table;
  table.pipeline = leaf->pipeline;
  table.own = filter->table;
  table.first = leaf == leaf->pipeline->leaves;
  for (int i = 0; i < 2; ++i) table.head[i] = filter->table[i - 2];
  for (int i = 0; i < kFunctions; ++i) table.functions[i] = filter->table[i];
  table.functions[kCall] = reinterpret_cast<void*>(call);
  filter->table = table.functions;
  return filter;
}

void* const leaf_table[] = {reinterpret_cast<void*>(make_filter)};

int leaves_of(const Node* node) {
  return node->left && node->right ? leaves_of(node->left) + leaves_of(node->right) : 1;
}

/// The leaves in the order of the filters.
const Node* copy(const Node* node, Pipeline& pipeline) {
  if (node->left && node->right) {
    Node& branch = pipeline.branches[pipeline.branch_count++];
    const Node* left = copy(node->left, pipeline);
    branch = {node->table, 1, left, copy(node->right, pipeline)};
    return &branch;
  }
  Leaf& leaf = pipeline.leaves[pipeline.leaf_count++];
  leaf = {{leaf_table, 1, nullptr, nullptr}, node, &pipeline, {}};
  return &leaf.node;
}

}  // namespace

// parallel_pipeline(context&, tokens, filter_node const&)
DURESS_INTERCEPTOR(void,
                   _ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE,
                   (Context * context, size_t tokens, const Node* root)) {
  if (!awake() || leaves_of(root) > kFilters) {
    DURESS_REAL(_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE)
    (context, tokens, root);
    return;
  }
  struct Call {
    Context* context;
    size_t tokens;
    const Node* root;
    uptr pc;
    Pipeline pipeline;
    static int run(void* data) {
      auto* call = static_cast<Call*>(data);
      DURESS_REAL(_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE)
      (call->context, call->tokens, call->root);
      return 0;
    }
    static void returned(void* data) {
      auto* call = static_cast<Call*>(data);
      sync_acquire(&call->pipeline.end, call->pc);
      for (u64* object : {&call->pipeline.begin, &call->pipeline.end, &call->pipeline.last})
        sync_forget(object);
    }
  } call{context, tokens, root, DURESS_CALLER_PC, {}};
  call.root = copy(root, call.pipeline);
  sync_release_join(&call.pipeline.begin, call.pc);
  duress_with_cleanup(Call::run, Call::returned, &call);
  Call::returned(&call);
}
