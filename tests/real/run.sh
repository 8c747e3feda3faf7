#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--build DIR] [--plain | --tsan] [--build-only | --fetch-only] [NAME...]: real programs from Debian's source packages, from nothing.
#
# Fetches each source package through a copy of the machine's list of sources (with `deb-src`) and an apt
# state of its own, builds it unchanged with CC=duress-cc CXX=duress-c++, and runs it under `duress run` (programs.sh). What
# is checked is the right answer, and that every race that is reported was judged (docs/real.md); reports are kept in NAME/race-N.json. A package that
# the mirror does not have is skipped; at least three must pass, or all that are named; 77: all were skipped. --plain does the same with clang-19 and
# without Duress, to check this script and to compare; --tsan with its ThreadSanitizer, whose reports are then in NAME/tsan.PID. --build-only builds what is missing or older than Duress, for
# bench/detect; --fetch-only unpacks the sources into real-unpacked, for bench/build. Needs root only if packages of tools/packages-test.txt are missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
programs=(pigz pbzip2 libzstd xz-utils leveldb memcached redis libuv1 zeromq3 liburcu sqlite3 abseil)
build=$root/build plain= only_build= only_fetch= names=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    --build) build=$(cd "$2" && pwd); shift ;;
    --plain) plain=plain ;;
    --tsan) plain=tsan ;;
    --build-only) only_build=1 ;;
    --fetch-only) only_fetch=1 ;;
    -*) echo "usage: run.sh [--build DIR] [--plain | --tsan] [--build-only | --fetch-only] [NAME...]" >&2; exit 2 ;;
    *) names+=("$1") ;;
  esac
  shift
done
[[ ${#names[@]} -gt 0 ]] || names=("${programs[@]}")
"$root/tools/install.sh" "$root/tools/packages-test.txt" || exit 1

if [[ $plain ]]; then
  work=$build/real-$plain
  export CC=clang-19 CXX=clang++-19
  [[ $plain != tsan ]] || CC="$CC -fsanitize=thread" CXX="$CXX -fsanitize=thread"
else
  work=$build/real
  export CC=$build/bin/duress-cc CXX=$build/bin/duress-c++
fi
[[ ! $only_fetch ]] || work=$build/real-unpacked
sources=$build/real-sources
mkdir -p "$work" "$sources"/apt/lists/partial "$sources"/archives/partial
cd "$work" || exit 1

# ---- fetching ------------------------------------------------------------------------------------
prepare_apt() {
  local list=$sources/apt/debian.sources
  if [[ -f /etc/apt/sources.list.d/debian.sources ]]; then
    sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$list"
  elif grep -qs '^deb ' /etc/apt/sources.list; then
    list=$sources/apt/sources.list
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$list"
  else
    printf 'Types: deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm\nComponents: main\n' >"$list"
    echo 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' >>"$list"
  fi
  apt=(apt-get -qq -o "Dir::Etc::sourcelist=$list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$sources/apt/lists" -o "Dir::Cache=$sources/apt" -o APT::Sandbox::User=root)
  [[ -n $(find "$sources/apt/lists" -name '*Sources*' -mmin -1440 -print -quit) ]] || "${apt[@]}" update
}

# fetch NAME: unpacks the source package into $work/NAME/source, from nothing each time.
fetch() {
  rm -rf "${work:?}/$1"
  mkdir -p "$work/$1"
  (cd "$sources/archives" && "${apt[@]}" source --download-only "$1") >"$work/$1/fetch.log" 2>&1 || return 1
  dpkg-source --no-check -x "$(ls -t "$sources/archives/$1"_*.dsc | head -1)" "$work/$1/source" >>"$work/$1/fetch.log" 2>&1
}

# ThreadSanitizer's tests, out of LLVM's source: only their folder is unpacked. Judged by tsan_suite.py.
tsan_suite() {
  local package=llvm-toolchain-19 archive
  mkdir -p "$work/tsan-suite"
  if ! (cd "$sources/archives" && "${apt[@]}" source --download-only "$package") >"$work/tsan-suite/fetch.log" 2>&1; then
    echo "tsan-suite: skipped, the mirror does not have $package"
    exit 77
  fi
  archive=$(ls -t "$sources/archives/$package"_*.orig.tar.xz | head -1)
  tar xf "$archive" -C "$work/tsan-suite" --strip-components=1 --wildcards '*/compiler-rt/test/tsan/*' \
    '*/compiler-rt/test/sanitizer_common/print_address.h' || exit 1
  exec python3 "$here/tsan_suite.py" --build "$build" --suite "$work/tsan-suite/compiler-rt/test/tsan" ${plain:+--tsan}
}

# up_to_date NAME: it was built, and not with an older Duress.
up_to_date() {
  [[ -f $work/$1/built ]] || return 1
  [[ $plain ]] || [[ -z $(find "$build"/lib/libduress_rt*.a "$build/lib/duress_pass.so" "$CC" -newer "$work/$1/built") ]]
}

# ---- running ---------------------------------------------------------------------------------------
# watched NAME PROGRAM ARGS...: runs under Duress; races are no failure here. Reports in NAME.json, NAME.2.json ...
watched() {
  local name=$1 code=0 report
  shift
  if [[ $plain ]]; then
    TSAN_OPTIONS="log_path=$work/$name/tsan exitcode=0 history_size=5" "$@"
    return
  fi
  report=$work/$name/race-$(ls "$work/$name" | grep -c '^race-').json
  "$build/bin/duress" run -q --dir "$work/$name/.duress" --json="$report" -- "$@" || code=$?
  [[ $code -eq 66 ]] && code=0
  return $code
}

. "$here/programs.sh"

# ---- all of them ---------------------------------------------------------------------------------------
prepare_apt || { echo "cannot read the lists of source packages" >&2; exit 1; }
passed=0 failed=0
[[ ${names[*]} != tsan-suite ]] || tsan_suite
for name in "${names[@]}"; do
  function_name=${name//-/_}
  if [[ $only_build ]] && up_to_date "$name"; then
    passed=$((passed + 1))
    continue
  fi
  if ! fetch "$name"; then
    echo "$name: skipped, the mirror does not have it: $(grep -m1 -oE 'Unable to find.*|[0-9]{3} .*Not Found' "$work/$name/fetch.log")"
    continue
  fi
  if [[ $only_fetch ]]; then
    passed=$((passed + 1))
    continue
  fi
  version=$(cd "$name/source" && dpkg-parsechangelog -S Version)
  begin=$SECONDS
  if ! (cd "$name/source" && "build_$function_name") >"$name/build.log" 2>&1; then
    echo "$name $version: FAILED to build; the end of $work/$name/build.log:"
    tail -15 "$name/build.log"
    failed=$((failed + 1))
    continue
  fi
  built=$((SECONDS - begin)) begin=$SECONDS
  touch "$name/built"
  if [[ $only_build ]]; then
    echo "$name $version: built in $built s"
    passed=$((passed + 1))
    continue
  fi
  if ! (cd "$name/source" && "check_$function_name") >"$name/run.log" 2>&1; then
    echo "$name $version: built, WRONG ANSWER; the end of $work/$name/run.log:"
    tail -15 "$name/run.log"
    failed=$((failed + 1))
    continue
  fi
  races= judged=1
  if [[ ! $plain ]]; then races=", $(python3 "$here/summarise.py" "$name" "$name"/race-*.json)" || judged=; fi
  echo "$name $version: built in $built s, right answer in $((SECONDS - begin)) s$races"
  if [[ $judged ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[[ $((passed + failed)) -gt 0 ]] || exit 77
[[ $failed -eq 0 && ($passed -ge 3 || $passed -eq ${#names[@]}) ]]
