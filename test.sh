#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [fast|real]: installs what is missing, builds, and runs the tests: the fast ones, or all of them, or those that `test.sh`
# alone leaves out: real programs from Debian's sources, clang-tidy, the Debian package, and the long versions of slow tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
case "${1:-all}" in
  fast) select=(-L fast) lists=(tools/packages.txt) ;;
  all) select=(-LE real) lists=(tools/packages.txt tools/packages-test.txt) ;;
  real) select=(-L real) lists=(tools/packages.txt tools/packages-test.txt) ;;
  *) echo "usage: test.sh [fast|real]" >&2; exit 2 ;;
esac
tools/install.sh "${lists[@]}"
tools/build.sh
echo "== tests: ctest --test-dir build ${select[*]}"
ctest --test-dir build --output-on-failure -j "$(nproc)" "${select[@]}"
