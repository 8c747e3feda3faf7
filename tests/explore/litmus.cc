// SPDX-License-Identifier: Apache-2.0
//
// Litmus tests as whole programs, for litmus.py: the exit code is 10 and what was read, as bits.
//   litmus SHAPE STORE LOAD FENCE: orders by name, "none" for no fence.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

using std::atomic;
using std::memory_order;

namespace {

atomic<int> x{0}, y{0}, z{0};
int seen[4];  // each written by one thread
memory_order on_store, on_load, on_fence;
bool fences;

memory_order order_of(const char* name) {
  constexpr struct {
    const char* name;
    memory_order order;
  } kOrders[] = {{"rlx", std::memory_order_relaxed},
                 {"acq", std::memory_order_acquire},
                 {"rel", std::memory_order_release},
                 {"ar", std::memory_order_acq_rel},
                 {"sc", std::memory_order_seq_cst}};
  for (auto [known, order] : kOrders) {
    if (std::strcmp(known, name) == 0) return order;
  }
  std::exit(200);
}

void store(atomic<int>& to, int value) {
  to.store(value, on_store);
}
int load(const atomic<int>& from) {
  return from.load(on_load);
}
void fence() {
  if (fences) std::atomic_thread_fence(on_fence);
}

template <typename... Threads>
void together(Threads... bodies) {
  std::vector<std::thread> threads;
  (threads.emplace_back(bodies), ...);
  for (std::thread& thread : threads) thread.join();
}

void store_buffering() {
  together([] { store(x, 1), fence(), seen[0] = load(y); }, [] { store(y, 1), fence(), seen[1] = load(x); });
}
void message_passing() {
  together([] { x.store(1, std::memory_order_relaxed), fence(), store(y, 1); },
           [] { seen[0] = load(y), fence(), seen[1] = x.load(std::memory_order_relaxed); });
}
void load_buffering() {
  together([] { seen[0] = load(x), fence(), store(y, 1); }, [] { seen[1] = load(y), fence(), store(x, 1); });
}
void two_plus_two_writes() {
  together([] { store(x, 1), fence(), store(y, 2); }, [] { store(y, 1), fence(), store(x, 2); });
  seen[0] = x == 2;
  seen[1] = y == 2;
}
void read_read() {
  together([] { store(x, 1); }, [] { seen[0] = load(x), seen[1] = load(x); });
}
void independent_reads() {
  together([] { store(x, 1); }, [] { store(y, 1); }, [] { seen[0] = load(x), fence(), seen[1] = load(y); },
           [] { seen[2] = load(y), fence(), seen[3] = load(x); });
}
void causality() {
  together([] { store(x, 1); }, [] { seen[0] = load(x), fence(), store(y, 1); },
           [] { seen[1] = load(y), fence(), seen[2] = load(x); });
}
void release_sequence() {
  together([] { x.store(1, std::memory_order_relaxed), store(y, 1); },
           [] {
             int one = 1;
             y.compare_exchange_strong(one, 2, std::memory_order_relaxed);
           },
           [] { seen[0] = load(y) == 2, seen[1] = x.load(std::memory_order_relaxed); });
}
void late_store() {  // S, and with an update instead of the store
  together([] { store(x, 2), store(y, 1); }, [] { seen[0] = load(y), store(x, 1); });
  seen[1] = x == 2;
}
void late_update() {
  together([] { store(x, 4), store(y, 1); },
           [] { seen[0] = load(y), seen[1] = x.fetch_add(1, on_load) == 4; });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 200;
  on_store = order_of(argv[2]);
  on_load = order_of(argv[3]);
  fences = std::strcmp(argv[4], "none") != 0;
  on_fence = fences ? order_of(argv[4]) : std::memory_order_seq_cst;
  constexpr struct {
    const char* name;
    void (*run)();
  } kShapes[] = {{"SB", store_buffering}, {"MP", message_passing},
                 {"LB", load_buffering},  {"2+2W", two_plus_two_writes},
                 {"CoRR", read_read},     {"IRIW", independent_reads},
                 {"WRC", causality},      {"RS", release_sequence},
                 {"S", late_store},       {"U", late_update}};
  for (auto [name, run] : kShapes) {
    if (std::strcmp(name, argv[1]) != 0) continue;
    run();
    int bits = 0;
    for (int i = 0; i < 4; ++i) bits |= (seen[i] != 0) << i;
    return 10 + bits;
  }
  return 200;
}
