#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [SECONDS [NAME...]]: builds the readers with coverage and AddressSanitizer (preset fuzz) and runs each under libFuzzer
# for so long (an hour), from tests/fuzz/corpus. What is new is kept in build-fuzz/tests/fuzz/NAME-kept. Ends with 1 at the first
# input that fails, which then lies in build-fuzz/tests/fuzz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-3600}
shift || true
[[ $# -gt 0 ]] || set -- trace rapid chain suppressions log token document record exchange elf unwind
cmake --preset fuzz > /dev/null
cmake --build build-fuzz --target "${@/%/_fuzz}" > /dev/null
corpus=$PWD/tests/fuzz/corpus
cd build-fuzz/tests/fuzz
for name in "$@"; do
  mkdir -p "$name-kept"
  if ! "./${name}_fuzz" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    "$name-kept" "$corpus/$name" > "$name.log" 2>&1; then
    grep -E "ERROR|SUMMARY|Test unit" "$name.log" || tail -n 20 "$name.log"
    echo "$name: fails; log: $PWD/$name.log"
    exit 1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$name.log")
  coverage=$(grep -o 'cov: [0-9]*' "$name.log" | tail -n 1)
  echo "$name: $runs inputs in $seconds s, $coverage, nothing found"
done
