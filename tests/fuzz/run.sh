#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD SECONDS [NAME...]: each reader under libFuzzer for so long; what it keeps is in BUILD/tests/fuzz/NAME.
set -euo pipefail
build=$1 seconds=$2
shift 2
[[ $# -gt 0 ]] || set -- trace rapid chain suppressions log
for name in "$@"; do
  cmake --build "$build" --target "${name}_fuzz" > /dev/null
  mkdir -p "$build/tests/fuzz/$name"
  echo "== $name, $seconds s"
  (cd "$build/tests/fuzz" && "./${name}_fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=1 "$name" 2>&1) |
    grep -E "^Done|ERROR|SUMMARY|stat::|Test unit" || true
done
