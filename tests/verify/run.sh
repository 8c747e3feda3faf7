#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh PART BUILD: tests of exhaustive exploration that need a program built by duress-c++.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$2
work=$build/tests/verify/closures
mkdir -p "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# compile SOURCE PROGRAM FLAGS...: as a build system would, only if something is newer.
compile() {
  local source=$1 program=$2
  shift 2
  for input in "$source" "$here"/*.h "$root"/include/duress/*.h "$build"/lib/*.so "$build"/lib/*.a; do
    if [ "$input" -nt "$program" ]; then
      "$build/bin/duress-c++" -std=c++20 -g -O1 "$source" -o "$program" -pthread "$@"
      return
    fi
  done
}

case $1 in
  first)
    compile "$here/first_test.cc" "$work/first_test"
    "$work/first_test"
    ;;
  closures)
    for name in families closures races weak litmus; do
      compile "$here/${name}_test.cc" "$work/${name}_test"
      "$work/${name}_test"
    done
    ;;
  programs)
    "$here/run.py" --build "$build" --suite fast "$here/programs" "$root/examples/jrf"
    ;;
  litmus)
    "$here/litmus.py" --build "$build"
    ;;
  waits)
    "$here/waits.py" --build "$build"
    ;;
  weaken)
    "$here/weaken.py" --build "$build"
    ;;
  all)
    "$here/run.py" --build "$build" --suite all "$here/programs" "$root/examples/jrf" "$root/examples/herlihy_shavit"
    ;;
  *)
    fail "unknown part $1"
    ;;
esac
echo "ok: $1"
