// SPDX-License-Identifier: Apache-2.0
// Calls of C library functions in the three bodies.
// RUN: %clang -O2 -g0 %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang -O2 -g0 %s -S -fpass-plugin=%plugin -o - | %check --check-prefix=CODE %s
#include <stdio.h>
#include <string.h>

// The plain body is the compiler's own: here two loads. The others are calls, with the site first.
// CHECK-LABEL: define {{.*}}i32 @same(
// CHECK-NOT: __duress_lib
// CHECK: @{{bcmp|memcmp}}(
// CODE-LABEL: same:
// CODE-NOT: call
// CODE: retq
int same(const void* a, const void* b) { return memcmp(a, b, 8) == 0; }

// CHECK-LABEL: define {{.*}}@literal(
// CHECK: ret i64 4
unsigned long literal(void) { return strlen("text"); }

// A local that nobody else knows.
// CHECK-LABEL: define {{.*}}@local(
unsigned long local(int n) { char text[16]; memset(text, n, 15); text[15] = 0; return strlen(text); }

// A function of the program that has only the name.
// CHECK-LABEL: define {{.*}}@own(
long __isoc99_sscanf(const char*);
long own(const char* s) { return __isoc99_sscanf(s); }

// CHECK-LABEL: define {{.*}}@variadic(
int variadic(char* to, const char* s) { return snprintf(to, 4, "%d %s", 1, s); }

// CHECK-LABEL: define internal {{.*}}@same.duress.faithful(
// CHECK: call {{.*}}@__duress_lib_memcmp(ptr getelementptr {{.*}}@__duress_sites, {{.*}}), ptr %{{.*}}, ptr %{{.*}}, i64 8)
// CHECK-LABEL: define internal {{.*}}@variadic.duress.faithful(
// CHECK: @__duress_lib_snprintf(ptr
// CHECK-LABEL: define internal {{.*}}@same.duress.checked(
// CHECK: @__duress_lib_{{bcmp|memcmp}}(ptr
// CHECK-LABEL: define internal {{.*}}@local.duress.checked(
// CHECK-NOT: __duress_lib
// CHECK: @strlen(
// CHECK-LABEL: define internal {{.*}}@own.duress.checked(
// CHECK-NOT: __duress_lib
// CHECK: @__isoc99_sscanf(
// CHECK-LABEL: define internal {{.*}}@variadic.duress.checked(
// CHECK: @__duress_lib_snprintf(ptr {{.*}}@__duress_sites, {{.*}}), ptr %{{.*}}, i64 4, ptr
