// SPDX-License-Identifier: Apache-2.0
// Loops that walk through memory are checked once, in front.
// RUN: %clang -O1 -fno-vectorize -fno-unroll-loops -g0 %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang -O3 -g0 %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s --check-prefix=VECTOR
void other(void);

// CHECK-LABEL: define internal {{.*}}@fill.duress.checked
// CHECK: %[[BYTES:.*]] = shl {{.*}}i64 %{{.*}}, 2
// CHECK: call void @__duress_range_write(ptr %0, i64 %[[BYTES]]
// CHECK-NOT: __duress_check
// CHECK: ret void
// VECTOR-LABEL: define internal {{.*}}@fill.duress.checked
// VECTOR-NOT: __duress_check_write16
// VECTOR: ret void
void fill(int* a, unsigned n) { for (unsigned i = 0; i < n; ++i) a[i] = i; }

// Read and written: the write covers both.
// CHECK-LABEL: define internal {{.*}}@scale.duress.checked
// CHECK-NOT: range_read
// CHECK: call void @__duress_range_write
// CHECK-NOT: __duress_check
// CHECK: ret void
void scale(double* a, long n) { for (long i = 0; i < n; ++i) a[i] *= 2; }

// An early exit: the number of rounds is not known.
// CHECK-LABEL: define internal {{.*}}@find.duress.checked
// CHECK-NOT: __duress_range
// CHECK: __duress_check_read4
// CHECK: ret i32
int find(const int* a, int n) { for (int i = 0; i < n; ++i) if (a[i] == 7) return i; return -1; }

// Gaps: only what is accessed may be checked.
// CHECK-LABEL: define internal {{.*}}@gaps.duress.checked
// CHECK-NOT: __duress_range
// CHECK: call void @__duress_stride_write(ptr %0, i64 %{{.*}}, i64 8, i64 4
// CHECK-NOT: __duress_check
// CHECK: ret void
void gaps(int* a, int n) { for (int i = 0; i < n; ++i) a[2 * i] = i; }

// Only in some rounds.
// CHECK-LABEL: define internal {{.*}}@sometimes.duress.checked
// CHECK: call void @__duress_range_read
// CHECK: __duress_check_write4
void sometimes(int* restrict a, const int* restrict b, long n) { for (long i = 0; i < n; ++i) if (b[i] & 1) a[i] = 1; }

// Neighbours on both sides of every second element: one row of places, not two.
// CHECK-LABEL: define internal {{.*}}@both_sides.duress.checked
// CHECK: call void @__duress_stride_read(ptr %{{.*}}, i64 %{{.*}}, i64 16, i64 8
// CHECK-NOT: __duress_stride_read
// CHECK: ret double
double both_sides(const double* a, long n) { double s = 0; for (long i = 1; i < n; i += 2) s += a[i - 1] * a[i + 1]; return s; }

// A call in the loop may synchronise.
// CHECK-LABEL: define internal {{.*}}@with_call.duress.checked
// CHECK-NOT: __duress_range
// CHECK: __duress_check_write4
// CHECK: ret void
void with_call(int* a, int n) { for (int i = 0; i < n; ++i) { a[i] = i; other(); } }
