// SPDX-License-Identifier: Apache-2.0
// Source-level reads stay apart in faithful bodies, whatever the optimiser knows about plain ones.
// RUN: %clang++ -O2 -g %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang++ -O2 -g %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s --check-prefix=ALONE
// RUN: %c++ -O2 %s -o %t && DURESS_TEST_BODY=2 DURESS_TEST_COUNTS=1 %t 2>&1 | %check %s --check-prefix=COUNT
struct Shape { int sides; int draw() const { return sides; } };
Shape* shape;
int value = 3;

// CHECK-LABEL: define internal {{.*}}@_Z6doublev.duress.faithful
// CHECK-COUNT-2: call i64 @__duress_load8(ptr{{.*}} @shape
// CHECK: ret
int double_() __asm__("_Z6doublev");
int double_() { return shape ? shape->draw() : 0; }

// Two calls of a function whose plain body only reads: not merged. Its other bodies are gone, as it was inlined.
// CHECK-LABEL: define internal {{.*}}@_Z5twicev.duress.faithful
// CHECK-COUNT-2: call {{.*}}i32 @_ZL3getv.duress.faithful()
// CHECK: ret
static int get() { return value; }
int twice() { return get() + get(); }

// No hook for locals that stay here.
// CHECK-LABEL: define internal {{.*}}@_Z5quieti.duress.faithful
// CHECK-NOT: __duress_load4
// CHECK: ret
int quiet(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i; value = sum; return sum; }

// A parameter that the plain body does not need must still arrive.
// CHECK-LABEL: define internal {{.*}}@_ZL3addPi.duress.faithful
// CHECK: call {{.*}}@__duress_load4(ptr{{.*}} %0
static __attribute__((noinline)) int add(int* p) { return *p + 1; }

// What only faithful bodies call has no other body; that of an inline function is one for the whole program.
// ALONE-NOT: @_ZL3getv()
// ALONE-NOT: @_ZNK5Shape4drawEv(
// ALONE: define linkonce_odr hidden {{.*}}@_ZNK5Shape4drawEv.duress.alone({{.*}}comdat
// ALONE-NOT: @_ZNK5Shape4drawEv(
// ALONE-NOT: @_ZL3getv()

Shape square{4};
int main() {
  shape = &square;
  return double_() + twice() + add(&value) + quiet(3) == 4 + 6 + 4 + 3 ? 0 : 1;
}
// COUNT: __duress_module_init 1
// COUNT: __duress_load4
