#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 19 (.clang-tidy) over what runs inside the target, with the build's compile commands: check_tidy.sh BUILD
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find src/base src/clock src/shadow src/analysis src/runtime src/check -name '*.cc' ! -name '*_test.cc' ! -path '*/testing/*' -print0 |
  sort -z | xargs -0 -n 8 -P 2 clang-tidy-19 -p "$1" --quiet
