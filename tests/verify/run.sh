#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD NAME [LEVEL]: a test of exhaustive exploration in process, built by duress-c++ at that level of optimisation (-O1).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$1 name=$2 level=${3:--O1}
work=$build/tests/verify/closures
mkdir -p "$work"

# As a build system would, only if something is newer.
for input in "$here/$name.cc" "$here"/*.h "$root"/include/duress/*.h "$build"/lib/duress_*.so "$build"/lib/libduress_{rt,stub}*.a; do
  if [ "$input" -nt "$work/$name" ]; then
    "$build/bin/duress-c++" -std=c++20 -g "$level" -fuse-ld=lld "$here/$name.cc" -o "$work/$name" -pthread
    break
  fi
done
"$work/$name"
