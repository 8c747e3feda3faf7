#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stale values while threads run in parallel: `duress run --model stale --only VARIABLE`.
#   parallel.sh BUILD ROOT FOLDER
set -eu
build=$1 root=$2 out=$3
mkdir -p "$out"
"$build/bin/duress-c++" -std=c++20 -g -O2 -I"$root/examples/support" "$root/examples/jumble/double_checked_locking.cc" \
  -o "$out/locking"
run() {
  code=0
  "$build/bin/duress" run --dir "$out/dir" --model stale "$@" -- "$out/locking" >"$out/text" 2>&1 || code=$?
}
fail() {
  echo "$1" >&2
  cat "$out/text" >&2
  exit 1
}
# The example orders its threads where the runtime does not see it, so Oldest always finds the zero.
for round in 1 2 3 4 5; do
  run --only Point::x --heuristic SequentiallyConsistent --seed $round
  [ $code = 0 ] || fail "the newest value made it fail, code $code"
  run --only Point::x --heuristic Oldest --seed $round
  [ $code != 0 ] || fail "the oldest value did not make it fail"
  run --only Point::p --heuristic Oldest --seed $round
  [ $code = 0 ] || fail "an old pointer made it fail, code $code"
done
run --only Point::x --heuristic Oldest --stats
grep -q "stale reads  *1$" "$out/text" || fail "no stale read is counted"
grep -q "races were not looked for" "$out/text" || fail "it must say what it did not do"
# Happens-before through relaxed updates, which take no lock where nothing was released.
"$build/bin/duress-c++" -std=c++20 -g -O2 -pthread "$root/tests/conformance/relaxed_updates.cc" -o "$out/relaxed"
for heuristic in Oldest Random; do
  code=0
  "$build/bin/duress" run --dir "$out/dir" --model stale --only Shared::data --heuristic $heuristic -- "$out/relaxed" \
    >"$out/text" 2>&1 || code=$?
  [ $code = 0 ] || fail "$heuristic: relaxed updates, code $code"
done
run --only Point::z
[ $code = 2 ] && grep -q "nearest: Point::" "$out/text" || fail "a name that matches nothing: the nearest are listed"
run --only Point::x --heuristic Old
[ $code = 2 ] && grep -q "nearest: Oldest" "$out/text" || fail "an unknown heuristic"
run
[ $code = 2 ] || fail "--only is needed"
