# SPDX-License-Identifier: Apache-2.0
"""The papers' tables, as printed there, and which of our examples and variables each row is about.

The examples are patterns and kernels after the papers' programs, not these programs: rates, outcomes and ratios can be
compared, seconds and sizes cannot.
"""
import collections

# fmt: off
HEURISTICS = ("Oldest", "OldestButDifferent", "Random", "RandomButDifferent")

# JUMBLE (PLDI 2010), figure 9: percent of 100 runs that went wrong, without Jumble, sequentially consistent, and for
# each of HEURISTICS. verdict: Yes, No or QoS (only slower).
Rates = collections.namedtuple("Rates", "name example variable plain sc rates verdict")
JUMBLE_FIGURE9 = [
    Rates("figure 8, x", "jumble/racy_initialisation", "x", 0, 0, (0, 83, 84, 92), "Yes"),
    Rates("figure 2, p", "jumble/double_checked_locking", "Point::p", 0, 0, (0, 0, 0, 0), "No"),
    Rates("figure 2, p.x", "jumble/double_checked_locking", "Point::x", 0, 0, (60, 52, 32, 30), "Yes"),
    Rates("figure 2, p.y", "jumble/double_checked_locking", "Point::y", 0, 0, (48, 53, 27, 30), "Yes"),
    Rates("jbb, elapsed_time", "jumble/jbb", "Company::elapsed_time", 0, 0, (100, 0, 15, 5), "Yes"),
    Rates("jbb, mode", "jumble/jbb", "Company::mode", 0, 0, (100, 100, 95, 98), "Yes"),
    Rates("montecarlo, DEBUG", "jumble/montecarlo", "Universal::universal_debug", 0, 0, (0, 0, 0, 0), "No"),
    Rates("mtrt, threadCount", "jumble/mtrt", "RayTracer::thread_count", 0, 0, (0, 0, 0, 0), "No"),
    Rates("raytracer, checksum1", "jumble/raytracer", "RayTracerBench::checksum1", 0, 0, (100, 100, 100, 100), "Yes"),
    Rates("tsp, MinTourLen", "jumble/tsp", "TspSolver::min_tour_len", 0, 0, (100, 100, 100, 100), "QoS"),
    Rates("sor, arrays", "jumble/sor", "grid[]", 0, 0, (100, 100, 100, 100), "Yes"),
    Rates("lufact, arrays", "jumble/lufact", "TournamentBarrier::is_done[]", 0, 0, (100, 100, 100, 100), "Yes"),
    Rates("moldyn, arrays", "jumble/moldyn", "TournamentBarrier::is_done[]", 0, 0, (100, 100, 100, 100), "Yes"),
]

# JUMBLE, figure 10: seconds; times slower under RoadRunner without analysis and under Jumble, SequentiallyConsistent;
# then locations, writes to them, longest buffer without and with the compression rules. `sites`: the variables that we
# track;
# `size`: arguments with which our program runs long enough to be measured.
Cost = collections.namedtuple("Cost", "name example variables size seconds empty jumble instances writes longest compressed")
JUMBLE_FIGURE10 = [
    Cost("jbb, elapsed_time", "jumble/jbb", ["Company::elapsed_time"], ["4000000"], 74.4, 1.3, 1.3, 1, 2, 2, 2),
    Cost("jbb, mode", "jumble/jbb", ["Company::mode"], ["4000000"], 74.4, 1.3, 1.4, 2, 10, 8, 4),
    Cost("montecarlo", "jumble/montecarlo", ["Universal::universal_debug"], ["200000"], 1.6, 1.2, 1.2, 1, 40005, 40005, 5),
    Cost("mtrt", "jumble/mtrt", ["RayTracer::thread_count"], ["2000"], 0.5, 4.5, 4.9, 1, 10, 10, 5),
    Cost("raytracer", "jumble/raytracer", ["RayTracerBench::checksum1"], ["1500"], 5.6, 1.1, 1.1, 1, 6, 6, 5),
    Cost("tsp", "jumble/tsp", ["TspSolver::min_tour_len"], ["15"], 0.7, 2.3, 4.0, 1, 26, 26, 23),
    Cost("sor", "jumble/sor", ["grid[]", "finished[]"], ["1000", "40"], 0.6, 3.9, 5.8, 2106, 104620, 255, 32),
    Cost("lufact", "jumble/lufact", ["matrix[]", "TournamentBarrier::is_done[]"], ["1000"], 0.4, 4.1, 4.2, 1108, 14526, 2047, 7),
    Cost("moldyn", "jumble/moldyn", ["position[]", "TournamentBarrier::is_done[]"], ["600", "20"], 0.9, 4.1, 8.9, 62, 53433,
         16383, 32),
]

# Prescient memory (ISMM 2016), table 1: the worst that stale values (AM) and future values (PM) did. A `!` in front: a
# property of the memory model, so that ours must agree; else what was found in the paper's experiments.
Worst = collections.namedtuple("Worst", "name example variables stale future")
PRESCIENT_TABLE1 = [
    Worst("figure 1", "pm/figure1", ["x", "y"], "assertion", "!none"),
    Worst("figure 2", "pm/figure2", ["x", "y"], "!none", "assertion"),
    Worst("figure 3", "pm/figure3", ["x", "y"], "!none", "!none"),
    Worst("figure 4", "pm/figure4", ["x"], "divide by zero", "divide by zero"),
    Worst("figure 5", "pm/figure5", ["x", "y"], "no end", "assertion"),
    Worst("figure 6", "pm/figure6", [], "!none", "!none"),
    Worst("figure 7", "pm/figure7", ["x", "y"], "!none", "!none"),
    Worst("figure 8", "pm/figure8", ["x", "y"], "!none", "assertion"),
    Worst("figure 11", "pm/figure11", ["x", "z"], "!none", "assertion"),
    Worst("hsqldb6, keep_running", "pm/hsqldb_keep_running", ["MemoryWatcher::keep_running"], "no end", "corruption"),
    Worst("hsqldb6, memoryRecords", "pm/hsqldb_memory_records", ["JavaSystem::memory_records"], "none", "slower (not seen)"),
    Worst("avrora9, lastBit", "pm/avrora_last_bit", ["Transmission::last_bit"], "corruption", "corruption"),
    Worst("lusearch9, nextHashBase", "pm/lusearch_next_hash_base", ["ThreadLocal::next_hash_base"], "slower (not seen)", "none"),
    Worst("sunflow9, builtAccel", "pm/sunflow_built_accel", ["Geometry::built_accel", "Geometry::accel"], "null pointer",
          "null pointer"),
    Worst("pjbb2000, mode", "pm/pjbb2000_mode", ["Company::mode"], "no end", "corruption"),
    Worst("pjbb2000, elapsed_time", "pm/pjbb2000_elapsed_time", ["Company::elapsed_time"], "corruption", "corruption"),
    Worst("pjbb2005, eventDataLock", "pm/pjbb2005_dom", ["DomNode::event_data_lock"], "corruption (not seen)",
          "corruption (not seen)"),
    Worst("pjbb2005, stop", "pm/pjbb2005_dom", ["DomEvent::stop"], "corruption (not seen)", "none"),
]

# Prescient memory, section 8.3 and figure 13: how many times slower than native, on average. The bars are not numbers.
PRESCIENT_FIGURE13 = {"stale": 1.76, "profile": 6.9, "future": 4.9}

# RaceFuzzer (PLDI 2008), table 1: pairs of statements that the hybrid detector suspects, that are real, that throw;
# throws without it; how often a race was created, on average over the real pairs.
Pairs = collections.namedtuple("Pairs", "name example hybrid real exceptions simple probability")
RACEFUZZER_TABLE1 = [
    Pairs("moldyn", None, 59, 2, 0, 0, 1.00),
    Pairs("raytracer", None, 2, 2, 0, 0, 1.00),
    Pairs("montecarlo", None, 5, 1, 0, 0, 1.00),
    Pairs("cache4j", "racefuzzer/cache4j", 18, 2, 1, 0, 1.00),
    Pairs("sor", None, 8, 0, 0, 0, None),
    Pairs("hedc", "racefuzzer/hedc", 9, 1, 1, 0, 0.86),
    Pairs("weblech", "racefuzzer/weblech", 27, 2, 1, 1, 0.83),
    Pairs("jspider", None, 29, 0, 0, 0, None),
    Pairs("jigsaw", None, 547, 36, 0, 0, 0.90),
    Pairs("vector 1.1", None, 9, 9, 0, 0, 0.94),
    Pairs("LinkedList", "racefuzzer/linked_list", 12, 12, 5, 0, 0.85),
    Pairs("ArrayList", "racefuzzer/array_list", 14, 7, 7, 0, 0.55),
    Pairs("HashSet", "racefuzzer/hash_set", 11, 11, 8, 1, 0.54),
    Pairs("TreeSet", None, 13, 8, 8, 1, 0.41),
]
