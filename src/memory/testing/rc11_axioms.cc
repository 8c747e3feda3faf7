// SPDX-License-Identifier: Apache-2.0
#include "memory/testing/rc11_axioms.h"

#include <algorithm>

namespace duress::memory::testing {

Relation Relation::operator|(const Relation& other) const {
  Relation result = *this;
  for (u32 i = 0; i < size(); ++i) result.rows_[i] |= other.rows_[i];
  return result;
}

Relation Relation::then(const Relation& other) const {
  Relation result(size());
  for (u32 i = 0; i < size(); ++i) {
    for (u32 j = 0; j < size(); ++j) {
      if (rows_[i].test(j)) result.rows_[i] |= other.rows_[j];
    }
  }
  return result;
}

Relation Relation::maybe() const {
  Relation result = *this;
  for (u32 i = 0; i < size(); ++i) result.rows_[i].set(i);
  return result;
}

Relation Relation::inverse() const {
  Relation result(size());
  for (u32 i = 0; i < size(); ++i) {
    for (u32 j = 0; j < size(); ++j) {
      if (rows_[i].test(j)) result.set(j, i);
    }
  }
  return result;
}

Relation Relation::closure() const {
  Relation result = *this;
  for (u32 k = 0; k < size(); ++k) {
    for (u32 i = 0; i < size(); ++i) {
      if (result.rows_[i].test(k)) result.rows_[i] |= result.rows_[k];
    }
  }
  return result;
}

Relation Relation::between(const Row& from, const Row& to) const {
  Relation result(size());
  for (u32 i = 0; i < size(); ++i) {
    if (from.test(i)) result.rows_[i] = rows_[i] & to;
  }
  return result;
}

Relation Relation::irreflexive_part() const {
  Relation result = *this;
  for (u32 i = 0; i < size(); ++i) result.rows_[i].reset(i);
  return result;
}

bool Relation::irreflexive() const {
  for (u32 i = 0; i < size(); ++i) {
    if (rows_[i].test(i)) return false;
  }
  return true;
}

ExecutionGraph::ExecutionGraph(u32 locations, u32 events)
    : locations_(locations), events_(locations + events), modifications_(locations) {
  for (u32 i = 0; i < locations; ++i) {
    events_[i].kind = Kind::kWrite;
    events_[i].location = i;
    events_[i].thread = ~0u;
    modifications_[i] = {i};
  }
}

void ExecutionGraph::insert_after(u32 write, u32 after) {
  std::vector<u32>& order = modifications_[events_[write].location];
  order.insert(std::find(order.begin(), order.end(), after) + 1, write);
}

Relation ExecutionGraph::synchronises_with(const Relation& sb) const {
  Relation result(size());
  for (u32 reader = 0; reader < size(); ++reader) {
    if (events_[reader].reads == kNothing) continue;
    // What ends here: the read itself, and fences after it.
    std::vector<u32> ends;
    if (acquires(events_[reader].order)) ends.push_back(reader);
    for (u32 f = 0; f < size(); ++f) {
      if (is(f, Kind::kFence) && acquires(events_[f].order) && sb.has(reader, f)) ends.push_back(f);
    }
    // Every store whose release sequence it reads: that one, and on through what updates read.
    for (u32 head = events_[reader].reads; head != kNothing; head = events_[head].reads) {
      bool released = releases(events_[head].order) && head >= locations_;
      for (u32 end : ends) {
        if (released) result.set(head, end);
        for (u32 f = 0; f < size(); ++f) {
          if (is(f, Kind::kFence) && releases(events_[f].order) && sb.has(f, head)) result.set(f, end);
        }
      }
    }
  }
  return result;
}

std::string ExecutionGraph::violated() const {
  const u32 n = size();
  Relation sb(n), rf(n), mo(n), initial(n);
  Relation::Row seq_cst, fences, all;
  for (u32 a = 0; a < n; ++a) {
    const Event& event = events_[a];
    if (event.kind == Kind::kNone) continue;
    all.set(a);
    bool sc = event.order == MemoryOrder::kSeqCst && event.kind != Kind::kOther && a >= locations_;
    if (sc) seq_cst.set(a);
    if (sc && event.kind == Kind::kFence) fences.set(a);
    if (event.reads != kNothing) rf.set(event.reads, a);
    for (u32 b = locations_; b < n; ++b) {
      if (events_[b].kind == Kind::kNone) continue;
      if (a < locations_) initial.set(a, b);
      if (a >= locations_ && a < b && event.thread == events_[b].thread) sb.set(a, b);
    }
  }
  for (const std::vector<u32>& order : modifications_) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) mo.set(order[i], order[j]);
      // An update comes right after what it read.
      if (is(order[i], Kind::kUpdate) && (i == 0 || events_[order[i]].reads != order[i - 1]))
        return "atomicity";
    }
  }
  if (!(sb | rf).acyclic()) return "no thin air";

  Relation fr = rf.inverse().then(mo).irreflexive_part();
  Relation eco = (rf | mo | fr).closure();
  Relation hb = sb | initial | synchronises_with(sb);
  for (auto [a, b] : synchronised_) hb.set(a, b);
  hb = hb.closure();
  if (!hb.irreflexive() || !hb.then(eco).irreflexive()) return "coherence";

  Relation hb_same(n);  // hb|loc
  for (u32 a = 0; a < n; ++a) {
    for (u32 b = 0; b < n; ++b) {
      auto accesses = [&](u32 e) { return all.test(e) && !is(e, Kind::kFence) && !is(e, Kind::kOther); };
      if (hb.has(a, b) && accesses(a) && accesses(b) && events_[a].location == events_[b].location)
        hb_same.set(a, b);
    }
  }
  Relation scb = sb | sb.then(hb).then(sb) | hb_same | eco;
  Relation nothing = Relation(n).maybe();
  Relation from_fence = nothing.between(seq_cst, seq_cst) | hb.between(fences, all);
  Relation to_fence = nothing.between(seq_cst, seq_cst) | hb.between(all, fences);
  Relation base = from_fence.then(scb).then(to_fence);
  Relation of_fences = (hb | hb.then(eco).then(hb)).between(fences, fences);
  if (!(base | of_fences).acyclic()) return "seq_cst";
  return "";
}

std::string ExecutionGraph::text() const {
  std::string result;
  for (u32 i = 0; i < size(); ++i) {
    if (events_[i].reads != kNothing)
      result += std::to_string(i) + "<" + std::to_string(events_[i].reads) + " ";
  }
  for (const std::vector<u32>& order : modifications_) {
    result += "|";
    for (u32 write : order) result += " " + std::to_string(write);
  }
  return result;
}

}  // namespace duress::memory::testing
