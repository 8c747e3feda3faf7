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
  List<const Node*> way(arena_);
  way.resize(leaf->depth + 1);
  for (const Node* n = leaf; n; n = n->parent) way[n->depth] = n;
  Node* at = root_;
  for (u32 d = 1; d <= leaf->depth; ++d) {
    // Those before it sleep when it has its turn, whatever has become of them.
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

// ---- the path, and what sleeps on it ----

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
    if (step.strand == node->step.strand || conflict(step, node->step)) sleeper.until = node->depth;
  }
  path_.push(node);
}

void Explorer::go_to(Node* leaf) {
  // Upwards to where it leaves the path, noting the way.
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

/// The execution of that leaf is known; so is everything below whatever has no other child left.
void Explorer::finish(Node* leaf) {
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
    if (path_[d]->to_offer) offer_choices(path_[d]);
  }
  if (changed != ~0u) {
    cut(changed - 1);
    go_to(ticket);
  }
  // What is the same as in the execution before need not be looked at again.
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
      // A loop that waits is not woken under a memory model: its last looks are among the steps.
      if (step.is(Step::kAwaits) && step.is(Step::kHasStoreAge)) continue;
      trace_.pending(step, reversals_);
      continue;
    }
    trace_.add(step, reversals_);
    if (step.is(Step::kAfter)) continue;
    if (++depth > ticket->depth) {
      Node* n = make_node(path_.last(), step);
      n->state = State::kActive;
      extend(n);
      offer_choices(n);
    }
    trace_serials_.push(path_[depth]->serial);
  }
  for (const Reversal& reversal : reversals_) reverse(reversal);
  finish(path_.last());
  return true;
}

/// A signal that nobody planned could have woken another one; an atomic could have read another store.
void Explorer::offer_choices(Node* node) {
  node->to_offer = false;
  node->whole = true;
  if (!(node->step.choices & (node->step.choices - 1))) return;
  for (u64 rest = node->step.choices; rest; rest &= rest - 1) {
    Step step = node->step;
    step.value = step.value_of(static_cast<u32>(__builtin_ctzll(rest)));
    bool there = false;
    for (Node* c = node->parent->first; c; c = c->next) {
      if (c->step.strand != step.strand || c->step.value != step.value) continue;
      there = c->whole = true;
    }
    if (there) continue;
    Node* n = make_node(node->parent, step);
    n->whole = true;
    // An update may write with one choice and not with another.
    if (step.is(Step::kHasStoreAge) && step.kind == OpKind::kAtomicRmw) n->step.touch[0].mode = Mode::kWrite;
    for (Node* up = n; up; up = up->parent) ++up->open;
  }
}

/// Adds what did not depend on the earlier step and then the later one, before the earlier step.
void Explorer::reverse(const Reversal& reversal) {
  Node* at = path_[trace_.entry(reversal.earlier).depth - 1];
  if (!reversal.step.choices) return insert(at, &reversal);
  for (u64 rest = reversal.step.choices; rest; rest &= rest - 1) {
    Reversal one = reversal;
    one.step.value = static_cast<u8>(1 + __builtin_ctzll(rest));
    insert(at, &one);
  }
}

const Step& Explorer::wanted_step(u32 k) const {
  return wanted_[k] == kReversed ? reversal_->step : trace_.entry(wanted_[k]).step;
}

/// Whether something wanted earlier must come before the k-th.
bool Explorer::has_predecessor(u32 k) {
  for (u32 g = 0; g < k; ++g) {
    if (wanted_[k] != kReversed) {
      if (trace_.before(wanted_[g], wanted_[k])) return true;
    } else if ((reversal_->last >= 0 && trace_.before(wanted_[g], static_cast<u32>(reversal_->last))) ||
               conflict(trace_.entry(wanted_[g]).step, reversal_->step)) {
      return true;
    }
  }
  return false;
}

/// Whether what is wanted could begin with that node's step, or with it first be the same. *consumed: which
/// of the wanted it is; kReversed: none.
bool Explorer::weakly_initial(const Node& node, u32* consumed) {
  const Step& step = node.step;
  for (u32 k = 0; k < wanted_.size(); ++k) {
    const Step& other = wanted_step(k);
    if (other.strand != step.strand) continue;
    *consumed = k;
    // With any choice: which ones it has there is not known yet.
    if (wanted_[k] == kReversed && other.is(Step::kHasStoreAge))
      return (node.whole || node.state == State::kPending) && !has_predecessor(k);
    return other.value == step.value && !has_predecessor(k);
  }
  *consumed = kReversed;
  for (u32 k = 0; k < wanted_.size(); ++k) {
    if (conflict(step, wanted_step(k))) return false;
  }
  return true;
}

void Explorer::insert(Node* at, const Reversal* reversal) {
  reversal_ = reversal;
  wanted_.clear();
  for (u32 i = reversal->earlier + 1; i < reversal->later && i < trace_.size(); ++i) {
    if (!trace_.entry(i).step.is(Step::kAfter) && !trace_.before(reversal->earlier, i)) wanted_.push(i);
  }
  wanted_.push(kReversed);
  u32 consumed;
  for (const SleepSetEntry& sleeper : sleep_set_) {
    if (sleeper.from > at->depth) break;
    if (sleeper.until > at->depth && weakly_initial(*sleeper.node, &consumed)) return;
  }
  const Node* taken = path_[at->depth + 1];  // the earlier step itself, and what sleeps, come first
  for (Node* c = taken->next; c;) {
    if (!weakly_initial(*c, &consumed)) {
      c = c->next;
      continue;
    }
    if (consumed != kReversed && wanted_[consumed] == kReversed && c->step.is(Step::kHasStoreAge) &&
        !c->whole)
      c->to_offer = true;
    if (!c->first) return;  // all of what starts with a leaf will be seen
    if (consumed != kReversed) {
      for (u32 k = consumed; k + 1 < wanted_.size(); ++k) wanted_[k] = wanted_[k + 1];
      wanted_.cut(wanted_.size() - 1);
      if (!wanted_.size()) return;
    }
    at = c;
    c = c->first;
  }
  add_branch(at);
}

bool Explorer::admits(const Node* at) {
  if (!admit_) return true;
  List<const Step*> steps(arena_);
  steps.resize(at->depth);
  for (const Node* up = at; up->parent; up = up->parent) steps[up->depth - 1] = &up->step;
  for (u32 k = 0; k < wanted_.size(); ++k) steps.push(&wanted_step(k));
  if (admit_(admit_context_, steps.data(), steps.size())) return true;
  ++skipped_;
  return false;
}

void Explorer::add_branch(Node* at) {
  if (!admits(at)) return;
  Node* n = at;
  for (u32 k = 0; k < wanted_.size(); ++k) {
    n = make_node(n, wanted_step(k));
    n->to_offer = wanted_[k] == kReversed && n->step.is(Step::kHasStoreAge);
  }
  for (Node* up = n; up; up = up->parent) ++up->open;
}

}  // namespace duress::exhaustive
