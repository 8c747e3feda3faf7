#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [fast|real|fuzz|sanitizers]: installs what is missing, builds, and runs the tests: the fast ones, or all of them, or those
# that `test.sh` alone leaves out. real: programs from Debian's sources, clang-tidy, the Debian package, and the long versions of slow
# tests. fuzz: the readers of files, all libraries with coverage and AddressSanitizer. sanitizers: the host's unit tests under
# AddressSanitizer with UBSan, and under ThreadSanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
case "${1:-all}" in
  fast) select=(-L fast) lists=(tools/packages.txt) ;;
  all) select=(-LE real) lists=(tools/packages.txt tools/packages-test.txt) ;;
  real) select=(-L real) lists=(tools/packages.txt tools/packages-test.txt) ;;
  fuzz | sanitizers) lists=(tools/packages.txt) ;;
  *) echo "usage: test.sh [fast|real|fuzz|sanitizers]" >&2; exit 2 ;;
esac
tools/install.sh "${lists[@]}"
case "${1:-}" in
  fuzz)
    cmake --preset fuzz
    cmake --build build-fuzz --target fuzz_targets
    exec ctest --test-dir build-fuzz --output-on-failure -j "$(nproc)" -R '^fuzz\.'
    ;;
  sanitizers)
    host=(catalog_test classify_test cli_test cluster_test collide_test exec_test finding_test repair_test report_test search_test
          suite_test trace_test trail_test)
    # The tests fork with threads, and kill targets by the signals that ThreadSanitizer would handle.
    export TSAN_OPTIONS="die_after_fork=0 handle_segv=0 handle_sigbus=0 handle_sigfpe=0 handle_sigill=0 handle_abort=0"
    for preset in asan tsan; do
      cmake --preset "$preset"
      cmake --build "build-$preset" --target "${host[@]}"
      for test in "${host[@]}"; do
        echo "== $preset: $test"
        "build-$preset/tests/$test" --gtest_brief=1
      done
    done
    exit
    ;;
esac
tools/build.sh
echo "== tests: ctest --test-dir build ${select[*]}"
ctest --test-dir build --output-on-failure -j "$(nproc)" "${select[@]}"
