# SPDX-License-Identifier: Apache-2.0
"""How much each kernel does (`work`) and on how much memory (`data`), in the units that the kernel's head names.

small: what caches of the second level hold, about 1 MB. large: 70 to 160 MB, several times a last-level cache of 32 MB;
where the work on each byte is too much for that it is as much as the time allows (block_compress 35 MB, pipeline 50,
tsp 15). Natively a run takes 0.1 to 0.3 s of CPU time, the same for any number of threads but for what they wait for
each other."""

SIZES = {
    "block_compress": {"small": (200, 8), "large": (320, 320)},
    "channels": {"small": (1000000, 1000), "large": (500000, 250000)},
    "graph": {"small": (6000, 8000), "large": (1200, 1500000)},
    "hash_map": {"small": (5000000, 20000), "large": (1200000, 4000000)},
    "lufact": {"small": (2395, 480), "large": (10, 4000)},
    "matrix_product": {"small": (14400, 240), "large": (40, 3800)},
    "moldyn": {"small": (30, 12), "large": (2, 80)},
    "montecarlo": {"small": (20000, 10000), "large": (5000, 16000000)},
    "pipeline": {"small": (12000000, 1024), "large": (32000000, 1048576)},
    "raytracer": {"small": (560, 10000), "large": (480, 32000000)},
    "read_tree": {"small": (7000000, 16000), "large": (350000, 3000000)},
    "ring": {"small": (1000000, 2048), "large": (700000, 500000)},
    "rwlock_map": {"small": (8000000, 8000), "large": (1000000, 2000000)},
    "shared_strings": {"small": (1200000, 4000), "large": (400000, 700000)},
    "small_allocations": {"small": (2000000, 4000), "large": (1000000, 800000)},
    "sor": {"small": (800, 480), "large": (4, 4096)},
    "sort": {"small": (80, 32000), "large": (1, 3000000)},
    "thread_pool": {"small": (80000, 131072), "large": (80000, 10000000)},
    "tsp": {"small": (16, 3), "large": (16, 6)},
    "word_count": {"small": (60, 9000), "large": (16, 800000)},
}
