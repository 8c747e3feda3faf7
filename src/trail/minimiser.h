// SPDX-License-Identifier: Apache-2.0
//
// A failing execution with as few preemptions as can be found. The one algorithm of the host (src/search) and
// of duress::check, which runs inside the target: so it is a template over the list that holds a trail.
//
// Delta debugging over the deviations of a trail. Leaving one out renumbers every choice after it, so a
// shortened trail is only a proposal: the target follows it as far as it can, and what it then really chose
// is the new trail. That keeps the result exact (it has been run) and lets one lucky proposal drop many
// entries.
//
// Threads come before single switches: if a hundred threads take part and two matter, all switches to half of
// the others are left out at once. What such a thread did in its turn is no longer there, so the choices
// after it are numbered as if the turn had never been; the thread runs at the end, in one piece.
//
// Delta debugging finds only a local minimum: a run that switches to the second thread at once and back in
// its middle is not shortened to one that leaves the first thread in its middle. So beginnings of the trail
// with one new deviation are tried as well; for a result of two preemptions that proves that one is not
// enough.
//
// A result is smaller if it has fewer preemptions, or as many and fewer deviations: a switch where the
// running thread could have gone on is what a reader must understand; a deviation where it could not is only
// another order.
#pragma once

#include "trail/execution.h"

namespace duress::trail {

/// How an execution went that followed a trail.
template <typename Trail>
struct MinimiserAttempt {
  bool same = false;  // it failed in the same way
  Trail trail;        // what it really chose
  u64 switches = 0;   // preemptions in it
  u64 choices = 0;
  u32 strands = 0;
};

/// Trail: a list of Deviation with size(), operator[], clear() and push_back(), as std::vector has.
/// Replay: bool(const Trail&, MinimiserAttempt<Trail>*); false: stop now. The attempt is reused, not cleared.
template <typename Trail, typename Replay>
class Minimiser {
 public:
  Minimiser(Replay& replay, u64 most_runs) : replay_(replay), most_runs_(most_runs) {}
  Minimiser(const Minimiser&) = delete;
  Minimiser& operator=(const Minimiser&) = delete;

  /// False: the first replay did not fail in the same way, and nothing else was tried.
  bool run(const Trail& failing) {
    switches_ = ~u64{0};
    if (!try_smaller(failing)) {
      switches_ = 0;
      return false;
    }
    candidate_.clear();
    try_smaller(candidate_);  // it may fail without any deviation, or nearly always
    reduce_threads();
    reduce();
    polish();
    while (replace()) polish();
    return true;
  }

  const Trail& trail() const { return best_; }
  u64 switches() const { return switches_; }
  u64 runs() const { return runs_; }
  /// Nothing that is tried makes it smaller; else the budget ended first.
  bool complete() const { return !ended(); }

 private:
  static constexpr i64 kNone = i64{1} << 62;

  bool ended() const { return stopped_ || runs_ >= most_runs_; }

  /// Whether `candidate` fails in the same way and is smaller; if so, what it really chose is the best trail.
  bool try_smaller(const Trail& candidate) {
    if (ended()) return false;
    ++runs_;
    if (!replay_(candidate, &attempt_)) {
      stopped_ = true;
      return false;
    }
    if (!attempt_.same) return false;
    bool smaller = attempt_.switches < switches_ ||
                   (attempt_.switches == switches_ && attempt_.trail.size() < best_.size());
    if (!smaller) return false;
    copy(attempt_.trail, attempt_.trail.size(), &best_);
    switches_ = attempt_.switches;
    choices_ = attempt_.choices;
    strands_ = attempt_.strands;
    return true;
  }

  bool try_without(u64 from, u64 count) {
    candidate_.clear();
    for (u64 i = 0; i < best_.size(); ++i) {
      if (i < from || i >= from + count) candidate_.push_back(best_[i]);
    }
    return try_smaller(candidate_);
  }

  /// Leaves out the turns of strands, of many neighbours at first; again as long as that helps.
  void reduce_threads() {
    for (u64 before = ~u64{0}; switches_ < before && !ended();) {
      before = switches_;
      for (u32 size = (strands_ + 1) / 2; size > 0 && switches_ > 1 && !ended(); size /= 2) {
        for (u32 from = 0; from < strands_ && !ended(); from += size) try_without_strands(from, from + size);
      }
    }
  }

  /// Without the turns of strands [from, to): deviations that choose one of them, and those in the turn.
  void try_without_strands(u32 from, u32 to) {
    candidate_.clear();
    u64 gone = 0;   // choices of turns that were left out
    u64 since = 0;  // where the turn began that is being left out
    bool leaves_out = false;
    for (u64 i = 0; i < best_.size(); ++i) {
      Deviation deviation = best_[i];
      if (deviation.kind() == ChoiceKind::kThread) {
        if (leaves_out) gone += deviation.choice - since;
        leaves_out = deviation.pick() >= from && deviation.pick() < to;
        since = deviation.choice;
      }
      if (leaves_out) continue;
      deviation.choice -= static_cast<u32>(gone);
      candidate_.push_back(deviation);
    }
    if (candidate_.size() < best_.size()) try_smaller(candidate_);
  }

  /// ddmin: leaves out smaller and smaller pieces.
  void reduce() {
    u64 pieces = 2;
    while (!ended() && best_.size() >= 2) {
      u64 size = (best_.size() + pieces - 1) / pieces;
      bool smaller = false;
      // From the end: late deviations are least likely to matter, and leaving them out renumbers nothing.
      u64 count = (best_.size() + size - 1) / size;
      for (u64 piece = count; piece-- > 0 && !ended();) {
        if (piece * size >= best_.size()) continue;  // it has shrunk meanwhile
        smaller = try_without(piece * size, size) || smaller;
      }
      if (smaller) {
        pieces = pieces / 2 > 2 ? pieces / 2 : 2;
      } else {
        if (size == 1) return;
        pieces *= 2;
      }
    }
  }

  /// Leaves out single deviations, and neighbours, until none can be.
  void polish() {
    for (bool again = true; again && !ended();) {
      again = false;
      for (u64 i = best_.size(); i-- > 0 && !ended();) {
        if (i < best_.size()) again = try_without(i, 1) || again;
      }
      // A thread that is put off and taken up again is two deviations: neither can be left out alone.
      for (u64 i = best_.size(); !again && i-- > 0 && !ended();) {
        if (i + 1 < best_.size()) again = try_without(i, 2) || again;
      }
    }
  }

  /// Looks for another way to fail with fewer preemptions: the first few deviations and one new one. True:
  /// there is one.
  bool replace() {
    copy(best_, best_.size(), &current_);
    // With the shortest beginning first: then the fewest preemptions are found first.
    for (u64 kept = 0; kept + 2 <= switches_ && kept < current_.size(); ++kept) {
      u64 first = kept == 0 ? 0 : u64{current_[kept - 1].choice} + 1;
      // Near a known deviation first.
      bool in_range = true;
      for (u64 distance = 0; in_range; ++distance) {
        if (try_at_distance(distance, first, kept, &in_range)) return true;
        if (ended()) return false;
      }
    }
    return false;
  }

  /// New deviations at the choices from `first` on whose nearest known one is that far, in ascending order.
  /// *in_range: whether there may be choices further away.
  bool try_at_distance(u64 distance, u64 first, u64 kept, bool* in_range) {
    *in_range = false;
    u64 below = 0, above = 0, size = current_.size();
    // Merges two ascending sequences: as far before each known deviation, and as far after it.
    for (u64 next = first; above < size;) {
      i64 low = below < size ? static_cast<i64>(current_[below].choice) - static_cast<i64>(distance) : kNone;
      i64 high = static_cast<i64>(current_[above].choice + distance);
      i64 here = low <= high ? low : high;
      (low <= high ? below : above) += 1;
      if (here < static_cast<i64>(first) || here >= static_cast<i64>(choices_)) continue;
      *in_range = true;
      u64 choice = static_cast<u64>(here);
      if (choice < next || distance_of(choice) != distance) continue;
      next = choice + 1;
      if (try_new_deviation(choice, kept)) return true;
      if (ended()) return false;
    }
    return false;
  }

  bool try_new_deviation(u64 choice, u64 kept) {
    for (u32 strand = 0; strand < strands_ && !ended(); ++strand) {
      copy(current_, kept, &candidate_);
      candidate_.push_back(Deviation::of(static_cast<u32>(choice), ChoiceKind::kThread, strand));
      if (try_smaller(candidate_)) return true;
    }
    return false;
  }

  u64 distance_of(u64 choice) const {
    u64 least = ~u64{0};
    for (u64 i = 0; i < current_.size(); ++i) {
      u64 other = current_[i].choice;
      u64 distance = choice < other ? other - choice : choice - other;
      least = distance < least ? distance : least;
    }
    return least;
  }

  static void copy(const Trail& from, u64 count, Trail* to) {
    to->clear();
    for (u64 i = 0; i < count; ++i) to->push_back(from[i]);
  }

  Replay& replay_;
  u64 most_runs_;
  u64 runs_ = 0;
  bool stopped_ = false;
  Trail best_;
  u64 switches_ = 0;
  u64 choices_ = 0;  // of the best execution
  u32 strands_ = 0;
  Trail current_, candidate_;
  MinimiserAttempt<Trail> attempt_;
};

}  // namespace duress::trail
