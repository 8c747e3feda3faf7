// SPDX-License-Identifier: Apache-2.0
// Functions that ask not to be instrumented are not.
// RUN: test ! -e %attributes || %clang++ -O1 -g0 %s -S -emit-llvm -fplugin=%attributes -fpass-plugin=%plugin -o - | %check %s
// RUN: %clang++ -O1 -g0 %s -S -emit-llvm -fpass-plugin=%plugin -o - | %check %s --check-prefix=DISABLED
int value;
// CHECK-NOT: @_Z5quietv.duress
// CHECK-NOT: @_ZN1S6methodEv.duress
// CHECK-NOT: @_Z9templatedIiET_v.duress
// CHECK-NOT: @{{in_c|befriended|_ZN5outer5inner6nestedEv|_ZN5outer5inner1V5outerEv|_ZN1WIiE6memberEv}}.duress
// DISABLED-NOT: @_Z8disabledv.duress
// CHECK-DAG: define internal {{.*}}@_Z4loudv.duress.faithful
// CHECK-DAG: define internal {{.*}}@_Z4loudv.duress.checked
__attribute__((no_sanitize("thread"))) int quiet() { return ++value; }
__attribute__((disable_sanitizer_instrumentation)) int disabled() { return ++value; }
struct S { __attribute__((no_sanitize_thread)) int method() { return ++value; } };
template <class T> __attribute__((no_sanitize("thread"))) T templated() { return ++value; }
namespace outer::inner {
extern "C" { __attribute__((no_sanitize("thread"))) int in_c() { return ++value; } }
__attribute__((no_sanitize("thread"))) int nested() { return ++value; }
struct V {
  int outer();
  struct X {
    friend __attribute__((no_sanitize("thread"))) int befriended(X) asm("befriended") { return ++value; }
  };
};
__attribute__((no_sanitize("thread"))) int V::outer() { return ++value; }
int all() { return in_c() + nested() + V().outer() + befriended(V::X()); }
}
template <class T> struct W { __attribute__((no_sanitize("thread"))) T member() { return ++value; } };
int loud() { S s; return quiet() + s.method() + templated<int>() + W<int>().member() + outer::inner::all() + ++value; }
