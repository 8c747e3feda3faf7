#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [fast]: installs what is missing, builds, and runs all tests (or only the fast ones).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
case "${1:-all}" in
  fast) select=(-L fast) lists=(tools/packages.txt) ;;
  all) select=() lists=(tools/packages.txt tools/packages-test.txt) ;;
  *) echo "usage: test.sh [fast]" >&2; exit 2 ;;
esac
tools/install.sh "${lists[@]}"
tools/build.sh
echo "== tests: ctest --test-dir build ${select[*]}"
ctest --test-dir build --output-on-failure -j "$(nproc)" "${select[@]}"
