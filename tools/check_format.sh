#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Says which files of src/ clang-format 19 would change; changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find src -name '*.h' -o -name '*.cc' | sort | xargs clang-format-19 --dry-run --Werror
