// SPDX-License-Identifier: Apache-2.0
// Faithful bodies: one comparison of the site's byte and the word's in front of each call; the call on the cold side.
// RUN: %clang -O2 -g -fPIE %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang -O2 -g -fPIE %s -S -fpass-plugin=%plugin -o - | %check %s --check-prefix=ASM
// RUN: %clang -O2 -g -fPIC -flto %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s --check-prefix=LTO
// RUN: %cc -O2 %s -o %t && DURESS_TEST_BODY=2 DURESS_TEST_COUNTS=1 %t 2>&1 | %check %s --check-prefix=LOUD
// RUN: DURESS_TEST_BODY=2 DURESS_TEST_QUIET=1 DURESS_TEST_COUNTS=1 %t 2>&1 | %check %s --check-prefix=QUIET
// RUN: DURESS_TEST_BODY=2 DURESS_TEST_QUIET=w DURESS_TEST_COUNTS=1 %t 2>&1 | %check %s --check-prefix=LOUD
#include <string.h>

// A number of floating point is loaded as one.
// CHECK-LABEL: define internal {{.*}}double @read8.duress.faithful
// CHECK: %[[SITE:.*]] = load i8, ptr {{.*}}@__duress_quiet
// CHECK: lshr i64 %{{.*}}, 3
// CHECK: and i64 %{{.*}}, 65535
// CHECK: %[[AT:.*]] = getelementptr {{.*}}@__duress_watched, i64
// CHECK: %[[WATCHED:.*]] = load i8, ptr %[[AT]]
// CHECK: %[[MUST:.*]] = icmp ule i8 %[[SITE]], %[[WATCHED]]
// CHECK: br i1 %[[MUST]], label %[[COLD:.*]], label %[[GO:.*]], !dbg {{.*}}, !prof
// CHECK: [[GO]]:
// CHECK: load double, ptr %0, align 8
// CHECK: phi double
// CHECK: [[COLD]]:
// CHECK: call i64 @__duress_load8(ptr align 8 %0

// ASM-LABEL: read8.duress.faithful:
// ASM: __duress_quiet
// ASM: cmpb
// ASM: jbe
// ASM: mov{{q|sd}} (%rdi), %xmm0
// ASM: retq
// ASM: callq __duress_load8
__attribute__((noinline)) double read8(const double* p) { return *p; }

// What may lie in two words is not quiet if one of them is watched.
// CHECK-LABEL: define internal {{.*}}@unaligned.duress.faithful
// CHECK: getelementptr {{.*}}@__duress_watched
// CHECK: getelementptr inbounds {{.*}}i8, ptr %0, i64 3
// CHECK: getelementptr {{.*}}@__duress_watched
// CHECK: or i8
// CHECK: store i32 {{.*}}, ptr %0, align 1
__attribute__((noinline)) void unaligned(char* p, int value) {
  struct __attribute__((packed)) { int value; }* at = (void*)p;
  at->value = value;
}

// An optimiser at link time must not merge what the source reads twice.
// LTO-LABEL: define internal {{.*}}@read8.duress.faithful
// LTO: load volatile double
// LTO-LABEL: define internal {{.*}}@unaligned.duress.faithful
// LTO: store volatile i32

double number = 3;
char bytes[9];
int main(void) {
  unaligned(bytes + 5, 7);
  return read8(&number) == 3 && bytes[5] == 7 && bytes[8] == 0 ? 0 : 1;
}
// LOUD: __duress_load8 1
// LOUD: __duress_store4 1
// QUIET: __duress_module_init 1
// QUIET-NOT: __duress_load
// QUIET-NOT: __duress_store
// QUIET: frames 0
