#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh closures|memory|outside|races|tutorial BUILD: tests of duress::check that need a program built by a user's compiler.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$2
work=$build/tests/check/$1
mkdir -p "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

case $1 in
  closures)
    "$build/tests/check/check_test"
    ;;
  memory)
    "$build/tests/check/memory_test"
    ;;
  outside)  # with another compiler the closure runs once, and a failing one says so
    clang++-19 -std=c++20 -I"$root/include" -x c++ - -o "$work/outside" -pthread <<'CODE'
#include <duress/test.h>
#include <cstdio>
int main() {
  int runs = 0;
  auto result = duress::check([&] { ++runs; });
  std::printf("%d %d\n", runs, result.passed);
}
CODE
    [ "$("$work/outside")" = "1 1" ] || fail "outside Duress the closure must run once"
    ;;
  races)  # GoogleTest shows a race as a failure of its test, once, with both places and the interleaving
    "$build/bin/duress-c++" -std=c++20 -g -O1 "$here/races_gtest.cc" -o "$work/races" -lgtest -lgtest_main -pthread
    if "$work/races" > "$work/output" 2>&1; then fail "a race must fail the test"; fi
    has() { grep -qF "$1" "$work/output" || fail "no '$1' in: $(cat "$work/output")"; }
    for name in MayBeLeftAlone NoneInAtomics; do has "[       OK ] Races.$name"; done
    for name in AreFailures AreFailuresOfASearch HarmIsToldFirst; do has "[  FAILED  ] Races.$name"; done
    [ "$(grep -c ': Failure$' "$work/output")" = 3 ] || fail "one failure for each of three: $(cat "$work/output")"
    has "data race on Cache::hits_: races_gtest.cc:15 reads, races_gtest.cc:15 writes"
    has "T0 writes  (anonymous)::Cache::hit()  races_gtest.cc:15  holds nothing"
    has "races_gtest.cc:15 Cache::hits_ written  (race)"
    has "and a data race on Cache::hits_"
    has "Which is: 1"
    ;;
  tutorial)  # docs/guide/check.md: its project builds and its test fails as printed there
    for file in bounded_queue.h bounded_queue_test.cc CMakeLists.txt; do
      grep -qF "examples/check/$file" "$root/docs/guide/check.md" || fail "docs/guide/check.md does not name $file"
    done
    cmake -S "$root/examples/check" -B "$work/project" -DCMAKE_TOOLCHAIN_FILE="$("$build/bin/duress" cmake)" > "$work/log"
    cmake --build "$work/project" --clean-first >> "$work/log"  # the runtime may be another one than last time
    if ctest --test-dir "$work/project" --output-on-failure > "$work/output" 2>&1; then
      fail "the tutorial's test must fail"
    fi
    grep -q "BoundedQueue.KeepsTheOrder .*Passed" "$work/output" || fail "KeepsTheOrder must pass: $(cat "$work/output")"
    grep -q "duress::check: deadlock in execution" "$work/output" || fail "no deadlock: $(cat "$work/output")"
    grep -q "bounded_queue_test.cc:20: Failure" "$work/output" || fail "the failure must name the test's line"
    # The fix that the page gives: one waiter for both kinds of waiting is not enough.
    sed 's/notify_one();.*/notify_all();/' "$root/examples/check/bounded_queue.h" > "$work/bounded_queue.h"
    mkdir -p "$work/fixed"
    cp "$root/examples/check/"{bounded_queue_test.cc,CMakeLists.txt} "$work/bounded_queue.h" "$work/fixed/"
    cmake -S "$work/fixed" -B "$work/fixed/build" -DCMAKE_TOOLCHAIN_FILE="$("$build/bin/duress" cmake)" > "$work/log"
    cmake --build "$work/fixed/build" --clean-first >> "$work/log"
    ctest --test-dir "$work/fixed/build" --output-on-failure > "$work/output" 2>&1 || fail "$(cat "$work/output")"
    ;;
  *)
    fail "unknown part $1"
    ;;
esac
echo "ok: $1"
