// SPDX-License-Identifier: Apache-2.0
//
// The part of Explorer that adds branches to the wakeup tree: for reversals of two steps, and for the
// alternatives of one step.
#include "exhaustive/explorer.h"

namespace duress::exhaustive {

using State = Explorer::Node::State;

/// Adds a branch for each alternative of a step that was not planned: another strand to wake, another store
/// to read.
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

/// Adds a branch before the earlier step: the steps that do not depend on it, then the later one.
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

/// Whether an earlier step of the branch must come before the k-th.
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

/// Whether the node's step is a weak initial of the branch (JACM 2017): the branch may begin with it, or is
/// independent of it. *consumed: which step of the branch it is; kReversed: none.
bool Explorer::weakly_initial(const Node& node, u32* consumed) {
  const Step& step = node.step;
  for (u32 k = 0; k < wanted_.size(); ++k) {
    const Step& other = wanted_step(k);
    if (other.strand != step.strand) continue;
    *consumed = k;
    // Any alternative will do: which ones exist there is not known yet.
    if (wanted_[k] == kReversed && other.is(Step::kHasStoreAge))
      return (node.whole || node.state == State::kPending) && !has_predecessor(k);
    return other.value == step.value && !has_predecessor(k);
  }
  *consumed = kReversed;
  for (u32 k = 0; k < wanted_.size(); ++k) {
    if (may_conflict(step, wanted_step(k))) return false;
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
    if (sleeper.until <= at->depth) continue;
    if (weakly_initial(*sleeper.node, &consumed) || covers_image(*sleeper.node, at)) return;
  }
  const Node* taken = path_[at->depth + 1];  // children before it are in the sleep set
  if (covers_image(*taken, at)) return;
  for (Node* c = taken->next; c;) {
    if (!c->first && covers_image(*c, at)) return;
    if (!weakly_initial(*c, &consumed)) {
      c = c->next;
      continue;
    }
    if (consumed != kReversed && wanted_[consumed] == kReversed && c->step.is(Step::kHasStoreAge) &&
        !c->whole)
      c->to_offer = true;
    if (!c->first) return;  // everything below a leaf will be explored
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
