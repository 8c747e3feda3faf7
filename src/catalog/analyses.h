// SPDX-License-Identifier: Apache-2.0
//
// The table of analyses. A line here gives an analysis its name in `-t`, in `duress list` and in help;
// src/analysis/factory.cc finds its constructor by the identifier.
#pragma once

#include "catalog/table.h"

// DURESS_ANALYSIS(identifier, name, description): make_IDENTIFIER() constructs it.
#define DURESS_ANALYSES(DURESS_ANALYSIS)                                                                    \
  DURESS_ANALYSIS(Empty, "Empty", "no work: what delivering events costs")                                  \
  DURESS_ANALYSIS(Count, "Count", "counts accesses per kind and synchronisation per kind; forwards all")    \
  DURESS_ANALYSIS(Print, "Print", "prints every event; forwards all")                                       \
  DURESS_ANALYSIS(ThreadLocal, "ThreadLocal",                                                               \
                  "keeps locations that one thread uses; passes on the shared ones")                        \
  DURESS_ANALYSIS(ReadOnly, "ReadOnly", "keeps locations that are not written once they are shared")        \
  DURESS_ANALYSIS(LockSet, "LockSet", "Eraser: locations that no lock protects (may be wrong)")             \
  DURESS_ANALYSIS(HappensBefore, "HappensBefore", "precise: full clocks, every access compared")            \
  DURESS_ANALYSIS(Djit, "DJIT+", "precise: full clocks, the first access of a time frame compared")         \
  DURESS_ANALYSIS(FastTrack, "FastTrack", "precise happens-before race detection with epochs; the default") \
  DURESS_ANALYSIS(MultiRace, "MultiRace", "precise: locks first, clocks where no lock protects a location") \
  DURESS_ANALYSIS(RaceTrack, "RaceTrack", "Eraser for threads that messages do not order (may be wrong)")   \
  DURESS_ANALYSIS(Goldilocks, "Goldilocks", "precise: sets of those who may access a location next")        \
  DURESS_ANALYSIS(Jrf, "JRF",                                                                               \
                  "precise for races with an earlier write: Java RaceFinder's summary function h")          \
  DURESS_ANALYSIS(Shb, "SHB", "precise beyond the first race: happens-before and reads-from")               \
  DURESS_ANALYSIS(Hybrid, "Hybrid",                                                                         \
                  "potential races: pairs of sites with no common lock that no message orders")             \
  DURESS_ANALYSIS(Atomizer, "Atomizer", "blocks that may not be atomic, by reduction (may be wrong)")       \
  DURESS_ANALYSIS(Velodrome, "Velodrome", "blocks that were not serializable in this run")                  \
  DURESS_ANALYSIS(SideTrack, "SideTrack",                                                                   \
                  "blocks that another schedule would make unserializable (may be wrong)")                  \
  DURESS_ANALYSIS(SingleTrack, "SingleTrack", "conflicting accesses whose order the schedule decides")      \
  DURESS_ANALYSIS(LockOrder, "LockOrder", "potential deadlocks: locks that are taken in both orders")

namespace duress {
DURESS_CATALOG(AnalysisId, DURESS_ANALYSES)
}  // namespace duress
