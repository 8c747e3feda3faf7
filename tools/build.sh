#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# build.sh [TARGET...]: configures with the preset `dev` if needed, and builds the targets (default: everything) into build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ! -f build/build.ninja ]]; then
  echo "== configuring: cmake --preset dev"
  cmake --preset dev >/dev/null
fi
echo "== building into build/"
cmake --build --preset dev ${1:+--target "$@"}
