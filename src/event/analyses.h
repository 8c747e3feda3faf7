// SPDX-License-Identifier: Apache-2.0
//
// The table of analyses: one line for each, and it has its name in `-t`, in `duress list` and in help.
// Included by the host too, which needs names and descriptions only.
#ifndef DURESS_EVENT_ANALYSES_H_
#define DURESS_EVENT_ANALYSES_H_

// DURESS_ANALYSIS(identifier, name, description). What make_IDENTIFIER() makes is called name in chains.
#define DURESS_ANALYSES(DURESS_ANALYSIS)                                                                 \
  DURESS_ANALYSIS(Empty, "Empty", "no work: what delivering events costs")                               \
  DURESS_ANALYSIS(Count, "Count", "counts accesses per kind and synchronisation per kind; forwards all") \
  DURESS_ANALYSIS(Print, "Print", "prints every event; forwards all")                                    \
  DURESS_ANALYSIS(FastTrackAnalysis, "FastTrack",                                                        \
                  "precise happens-before race detection with epochs; the default")                      \
  DURESS_ANALYSIS(                                                                                       \
      Hybrid, "Hybrid",                                                                                  \
      "potential races: pairs of sites with no lock in common that no message orders (RaceFuzzer)")

#endif  // DURESS_EVENT_ANALYSES_H_
