#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh PART BUILD: tests of exhaustive exploration that need a program built by duress-c++.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$2
work=$build/tests/verify/$1
mkdir -p "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# compile SOURCE PROGRAM FLAGS...: as a build system would, only if something is newer.
compile() {
  local source=$1 program=$2
  shift 2
  for input in "$source" "$root"/include/duress/*.h "$build"/lib/*.so "$build"/lib/*.a; do
    if [ "$input" -nt "$program" ]; then
      "$build/bin/duress-c++" -std=c++20 -g -O1 "$source" -o "$program" -pthread "$@"
      return
    fi
  done
}

case $1 in
  closures)
    compile "$here/closures_test.cc" "$work/closures_test" -lgtest -lgtest_main
    "$work/closures_test"
    ;;
  programs)
    "$here/run.py" --build "$build" "$here/programs" "$root/examples/jrf"
    ;;
  algorithms)
    "$here/run.py" --build "$build" "$root/examples/herlihy_shavit"
    ;;
  *)
    fail "unknown part $1"
    ;;
esac
echo "ok: $1"
