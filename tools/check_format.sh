#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Says which C and C++ files clang-format 19 would change; changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find include src tests examples bench -name '*.h' -o -name '*.cc' -o -name '*.c' | sort | xargs clang-format-19 --dry-run --Werror
