#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# only_run_test.sh BIN: a program built with -fduress=run is for `duress run`; what needs faithful bodies says what is missing.
set -u
bin=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cat >race.c <<'END'
#include <pthread.h>
int shared;
static void* add(void* p) { ++shared; return p; }
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, add, 0);
  ++shared;
  pthread_join(other, 0);
  return 0;
}
END
failures=0
# expect CODE PATTERN COMMAND...
expect() {
  local wanted=$1 pattern=$2 code
  shift 2
  "$@" >out 2>&1
  code=$?
  { [ $code = "$wanted" ] && grep -q -e "$pattern" out; } ||
    { echo "FAILED: '$pattern' with $wanted wanted, $code: $*"; cat out; failures=$((failures + 1)); }
}
"$bin/duress-cc" -O2 -fduress=run race.c -o race -pthread || failures=1
"$bin/duress-cc" -O2 -fduress=run -fduress=all race.c -o whole -pthread || failures=1
expect 66 'data race on shared' "$bin/duress" run -- ./race
for command in "run --controlled" "run -t LockSet" "explore --runs 3" "classify --runs 3" "verify"; do
  read -ra words <<<"$command"
  expect 125 'built with -fduress=run' "$bin/duress" "${words[@]}" -- ./race
done
expect 66 'data race on shared' "$bin/duress" run --controlled -- ./whole
nm race | grep -q 'duress.faithful' && { echo "FAILED: a faithful body in race"; failures=1; }
nm whole | grep -q 'duress.faithful' || { echo "FAILED: no faithful body in whole"; failures=1; }
expect 1 "invalid value 'fast' in -fduress=: use run or all" "$bin/duress-cc" -fduress=fast -c race.c
[ $failures = 0 ]
