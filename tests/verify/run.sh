#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD NAME: a test of exhaustive exploration in process, built by duress-c++.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$1 name=$2
work=$build/tests/verify/closures
mkdir -p "$work"

# As a build system would, only if something is newer.
for input in "$here/$name.cc" "$here"/*.h "$root"/include/duress/*.h "$build"/lib/duress_*.so "$build"/lib/libduress_{rt,stub}*.a; do
  if [ "$input" -nt "$work/$name" ]; then
    "$build/bin/duress-c++" -std=c++20 -g -O1 "$here/$name.cc" -o "$work/$name" -pthread
    break
  fi
done
"$work/$name"
