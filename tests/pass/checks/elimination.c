// SPDX-License-Identifier: Apache-2.0
// Which checks are left out.
// RUN: %clang -O1 -fno-vectorize -g0 %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
void other(void);
struct Pair { int a, b; };
int global;

// x = x + 1 needs the write's check only.
// CHECK-LABEL: define internal void @increment.duress.checked
// CHECK-NOT: check_read
// CHECK: __duress_check_write4
// CHECK-NOT: __duress_check
// CHECK: ret void
void increment(int* p) { ++*p; }

// A read covers a later read, not a write.
// CHECK-LABEL: define internal {{.*}}@read_then_maybe_write.duress.checked
// CHECK: __duress_check_read4
// CHECK: __duress_check_write4
// CHECK-NOT: __duress_check
// CHECK: ret i32
int read_then_maybe_write(volatile int* v, int* p, int c) { int x = *p; if (c) *p = x + 1; return x; }

// On every path something has been checked before: nothing at the join.
// CHECK-LABEL: define internal {{.*}}@join.duress.checked
// CHECK-COUNT-4: __duress_check_write4
// CHECK-NOT: __duress_check
// CHECK: ret i32
int join(int* p, int* q, int c) { if (c) { *p = 1; *q = 2; } else { *q = 4; *p = 3; } return *p; }

// A call may synchronise.
// CHECK-LABEL: define internal {{.*}}@across_call.duress.checked
// CHECK: __duress_check_write4
// CHECK: call void @other()
// CHECK: __duress_check_write4
// CHECK: ret void
void across_call(int* p) { *p = 1; other(); *p = 2; }

// So may an atomic.
// CHECK-LABEL: define internal {{.*}}@across_atomic.duress.checked
// CHECK: __duress_check_read4
// CHECK: __duress_atomic_load4
// CHECK: __duress_check_read4
// CHECK: ret i32
int across_atomic(int* p, int* flag) { int x = *p; __atomic_load_n(flag, __ATOMIC_ACQUIRE); return x + *p; }

// A new value of a pointer is another location.
// CHECK-LABEL: define internal {{.*}}@list.duress.checked
// CHECK: phi ptr
// CHECK: __duress_check_read
// CHECK: __duress_check_read
// CHECK: ret i32
struct Node { struct Node* next; long value; };
int list(struct Node* n) { long s = 0; for (; n; n = n->next) s += n->value; return (int)s; }

// Locals that stay here, constants and what cannot be shared: no second body at all.
// CHECK-NOT: @local_only.duress.checked
static const int table[4] = {1, 2, 3, 4};
int local_only(int i) { int a[4] = {1, 2, 3, i}; a[i & 3] += table[i & 3]; return a[1]; }

// A fixed address in a loop: one check in front of it.
// CHECK-LABEL: define internal {{.*}}@fixed.duress.checked
// CHECK-NOT: phi
// CHECK: __duress_check_write4
// CHECK: phi
// CHECK-NOT: __duress_check_write4
// CHECK: ret void
void fixed(int* count, const int* a, int n) { int i = 0; do { *count += a[i * 7]; } while (++i < n); }

// Comparing a local's address or passing the local by value tells nobody where it is.
// CHECK-LABEL: define internal {{.*}}@compared_and_passed.duress.checked
// CHECK-NOT: __duress_{{check|range}}
// CHECK: ret i64
struct Big { long words[30]; };
long take(struct Big b);
long compared_and_passed(long n) {
  struct Big big;
  for (long* p = big.words; p != big.words + 30; ++p) *p = n * *p + (long)(p == (long*)n);
  return take(big);
}
