// SPDX-License-Identifier: Apache-2.0
#include "exhaustive/explorer.h"

#include "base/check.h"

namespace duress::exhaustive {

using State = Explorer::Node::State;

namespace {

bool same_touches(const Step& a, const Step& b) {
  if (a.touches != b.touches) return false;
  for (u32 i = 0; i < a.touches; ++i) {
    const Touch &x = a.touch[i], &y = b.touch[i];
    if (x.object != y.object || x.size != y.size || x.mode != y.mode) return false;
  }
  return true;
}

}  // namespace

Explorer::Explorer(Arena& arena)
    : arena_(arena),
      trace_(arena),
      trace_serials_(arena),
      path_(arena),
      sleep_set_(arena),
      reversals_(arena),
      wanted_(arena),
      picks_(arena),
      planned_(arena) {
  root_ = make_node(nullptr, Step());
  root_->open = 1;
  path_.push(root_);
}

// ---- the tree ----

Explorer::Node* Explorer::make_node(Node* parent, const Step& step) {
  Node* n = spare_;
  if (n) {
    spare_ = n->next;
  } else {
    n = static_cast<Node*>(arena_.allocate(sizeof(Node)));
  }
  n->step = step;
  n->parent = parent;
  n->first = n->last = n->next = nullptr;
  n->serial = ++serials_;
  n->depth = parent ? parent->depth + 1 : 0;
  n->open = 0;
  n->explored = 0;
  n->state = State::kPending;
  n->whole = n->to_offer = false;
  if (parent) {
    (parent->last ? parent->last->next : parent->first) = n;
    parent->last = n;
  }
  ++nodes_;
  return n;
}

void Explorer::free_children(Node* node) {
  for (Node* c = node->first; c;) {
    Node* next = c->next;
    c->next = spare_;
    spare_ = c;
    --nodes_;
    c = next;
  }
  node->first = node->last = nullptr;
}

bool Explorer::done() const {
  return root_->state == State::kDone;
}

void Explorer::begin_subtree(const Explorer& other, const Node* leaf) {
  admit_ = other.admit_;
  admit_context_ = other.admit_context_;
  alike_ = other.alike_;
  List<const Node*> way(arena_);
  way.resize(leaf->depth + 1);
  for (const Node* n = leaf; n; n = n->parent) way[n->depth] = n;
  Node* at = root_;
  for (u32 d = 1; d <= leaf->depth; ++d) {
    // Branches before it will be in the sleep set when it is reached, whatever their state is now.
    Node* copy = nullptr;
    for (const Node* c = way[d - 1]->first; !copy || copy->state == State::kDone; c = c->next) {
      copy = make_node(at, c->step);
      copy->state = c == way[d] ? State::kPending : State::kDone;
      copy->whole = c->whole;
      copy->to_offer = c->to_offer;
    }
    at = copy;
    at->open = 1;
  }
  top_ = at->serial;
  top_depth_ = at->depth;
}

Explorer::Plan Explorer::plan_of(const Node* leaf) {
  planned_.resize(leaf->depth);
  for (const Node* up = leaf; up->parent; up = up->parent)
    planned_[up->depth - 1] = {up->step.strand, up->step.value};
  return {planned_.data(), leaf->depth, nullptr};
}

bool Explorer::in_subtree(const Node* ticket) const {
  while (ticket && ticket->depth > top_depth_) ticket = ticket->parent;
  return ticket && ticket->serial == top_;
}

// ---- the path and its sleep set ----

void Explorer::cut(u32 depth) {
  if (path_.size() <= depth + 1) return;
  path_.cut(depth + 1);
  while (sleep_set_.size() && sleep_set_.last().from >= depth) sleep_set_.cut(sleep_set_.size() - 1);
  for (SleepSetEntry& sleeper : sleep_set_) {
    if (sleeper.until > depth) sleeper.until = ~0u;
  }
}

/// `node` is a child of the path's end.
void Explorer::extend(Node* node) {
  Node* parent = path_.last();
  for (Node* c = parent->first; c != node; c = c->next) sleep_set_.push({c, parent->depth, ~0u});
  for (SleepSetEntry& sleeper : sleep_set_) {
    if (sleeper.until != ~0u) continue;
    const Step& step = sleeper.node->step;
    if (step.strand == node->step.strand || may_conflict(step, node->step)) sleeper.until = node->depth;
  }
  path_.push(node);
}

void Explorer::go_to(Node* leaf) {
  // Up to the node where the leaf's path leaves the current one.
  List<Node*>& path = path_;
  u32 depth = leaf->depth;
  Node* common = leaf;
  while (common->depth >= path.size() || path[common->depth] != common) common = common->parent;
  cut(common->depth);
  u32 from = common->depth;
  // The nodes in between, root first.
  path.resize(depth + 1);
  for (Node* n = leaf; n != common; n = n->parent) path[n->depth] = n;
  Node* const* way = path.data();
  path.cut(from + 1);
  for (u32 d = from + 1; d <= depth; ++d) extend(way[d]);
}

bool Explorer::next(Plan* plan) {
  Node* n = path_.last();
  while (n && n->open == 0) n = n->parent;
  if (!n) return false;
  while (n->first) {
    Node* c = n->first;
    while (c->open == 0) c = c->next;
    n = c;
  }
  for (Node* up = n; up; up = up->parent) {
    --up->open;
    up->state = State::kActive;
  }
  go_to(n);
  for (const SleepSetEntry& sleeper : sleep_set_) redundant_ += sleeper.until > n->depth;
  picks_.resize(n->depth);
  for (u32 d = 1; d <= n->depth; ++d) picks_[d - 1] = {path_[d]->step.strand, path_[d]->step.value};
  *plan = {picks_.data(), n->depth, n};
  return true;
}

/// Marks the leaf as explored, and every ancestor that has no unexplored child.
void Explorer::finish(Node* leaf) {
  for (Node* up = leaf; up; up = up->parent) up->explored += 1;
  Node* n = leaf;
  for (;;) {
    n->state = State::kDone;
    free_children(n);
    Node* parent = n->parent;
    if (!parent) break;
    for (Node* c = parent->first; c; c = c->next) {
      if (c->state != State::kDone) {
        cut(parent->depth);
        return;
      }
    }
    n = parent;
  }
  cut(0);
}

Estimate Explorer::estimate() const {
  Estimate below;
  const Node* active = nullptr;
  for (const Node* n = path_[path_.size() - 1]; n; active = n, n = n->parent) {
    Estimate::Branches branches;
    branches.active = active != nullptr;
    for (const Node* c = n->first; c; c = c->next) {
      if (c == active) continue;
      if (c->state == State::kDone) {
        branches.explored += c->explored;
        if (c->explored > branches.largest) branches.largest = c->explored;
        ++branches.explored_count;
      } else {
        branches.pending_leaves += c->open;
        ++branches.pending;
      }
    }
    below = n->first ? Estimate::of(branches, below) : Estimate{n->explored, n->explored, n->explored};
  }
  return below;
}

// ---- learning ----

bool Explorer::learn(Node* ticket, const Step* steps, u32 count) {
  ++learned_;
  go_to(ticket);
  // Did it follow the plan?
  u32 at = 0, changed = ~0u;
  for (u32 d = 1; d <= ticket->depth; ++d, ++at) {
    while (at < count && steps[at].is(Step::kAfter)) ++at;
    Step& planned = path_[d]->step;
    if (at == count || steps[at].is(Step::kPending) || steps[at].strand != planned.strand ||
        steps[at].kind != planned.kind || steps[at].value != planned.value) {
      ++diverged_;
      finish(ticket);
      return false;
    }
    if (changed == ~0u && !same_touches(steps[at], planned)) changed = d;
    planned = steps[at];
  }
  if (changed != ~0u) {
    cut(changed - 1);
    go_to(ticket);
  }
  // The prefix shared with the previous execution is in the trace already.
  u32 same = 0;
  while (same < trace_serials_.size() && same < ticket->depth &&
         trace_serials_[same] == path_[same + 1]->serial)
    ++same;
  trace_.cut(same);
  trace_serials_.cut(same);
  reversals_.clear();
  u32 depth = 0;
  for (at = 0; depth < same; ++at) depth += !steps[at].is(Step::kAfter);
  for (; at < count; ++at) {
    const Step& step = steps[at];
    if (step.is(Step::kPending)) {
      // Under rc11 a blocked await loop is not woken: its last polls are among the steps.
      if (step.is(Step::kAwaits) && step.is(Step::kHasStoreAge)) continue;
      trace_.pending(step, reversals_);
      continue;
    }
    u64 choices = step.is(Step::kHasStoreAge) ? trace_.alternatives(step) : step.choices;
    trace_.add(step, reversals_);
    if (step.is(Step::kAfter)) continue;
    if (++depth > ticket->depth) {
      Node* n = make_node(path_.last(), step);
      n->state = State::kActive;
      extend(n);
      n->to_offer = true;
    }
    if (path_[depth]->to_offer) {
      path_[depth]->step.choices = choices;
      offer_choices(path_[depth]);
    }
    trace_serials_.push(path_[depth]->serial);
  }
  // The branches beside the path were made many executions ago and are in no cache: waiting for them one by
  // one was four fifths of insert().
  for (const Reversal& reversal : reversals_)
    __builtin_prefetch(path_[trace_.entry(reversal.earlier).depth]->next);
  for (const Reversal& reversal : reversals_) reverse(reversal);
  finish(path_.last());
  return true;
}

}  // namespace duress::exhaustive
