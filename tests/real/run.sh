#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [--build DIR] [--plain | --tsan] [--build-only | --fetch-only] [NAME...]: real programs from Debian's source packages, from nothing.
#
# Fetches each source package through a copy of the machine's list of sources (with `deb-src`) and an apt
# state of its own, builds it unchanged with CC=duress-cc CXX=duress-c++, and runs it under `duress run`. What
# is checked is the right answer; races that are found are counted and kept in NAME.json. A package that
# the mirror does not have is skipped; at least three must pass, or all that are named; 77: all were skipped. --plain does the same with clang-19 and
# without Duress, to check this script and to compare; --tsan with its ThreadSanitizer. --build-only builds what is missing or older than Duress, for
# bench/detect; --fetch-only unpacks the sources into real-unpacked, for bench/build. Needs root only if packages of tools/packages-test.txt are missing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
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
[[ ${#names[@]} -gt 0 ]] || names=(pigz pbzip2 libzstd xz-utils leveldb memcached)
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
  if [[ $plain ]]; then "$@"; return; fi
  report=$work/$name/race-$(ls "$work/$name" | grep -c '^race-').json
  "$build/bin/duress" run -q --dir "$work/$name/.duress" --json="$report" -- "$@" || code=$?
  [[ $code -eq 66 ]] && code=0
  return $code
}

# A file of 8 MB that compresses somewhat, the same on every machine.
input=$work/input
[[ -f $input ]] || python3 - "$input" <<'PY'
import random, sys
random.seed(1)
words = [bytes(random.choices(b"abcdefgh ", k=random.randint(2, 9))) for _ in range(3000)]
with open(sys.argv[1], "wb") as file:
    size = 0
    while size < 8 << 20:
        size += file.write(b" ".join(random.choices(words, k=1000)) + random.randbytes(40))
PY

# round_trip NAME COMPRESS... -- EXPAND...: both are filters on stdin and stdout.
round_trip() {
  local name=$1 compress=()
  shift
  while [[ $1 != -- ]]; do compress+=("$1"); shift; done
  shift
  watched "$name" "${compress[@]}" <"$input" >"$work/$name/packed" || return 1
  watched "$name" "$@" <"$work/$name/packed" >"$work/$name/again" || return 1
  [[ $(stat -c %s "$work/$name/packed") -lt $(stat -c %s "$input") ]] && cmp "$input" "$work/$name/again"
}

# ---- the programs: build_NAME runs in the source folder, check_NAME after it -------------------------
build_pigz() { make -j2 CC="$CC" pigz; }
check_pigz() { round_trip pigz ./pigz -p 4 -b 128 -c -- ./pigz -p 4 -d -c; }

# Written before C++11, which reads "%"PRIuMAX differently.
build_pbzip2() { make -j2 CXX="$CXX -std=gnu++98" CC="$CC" pbzip2; }
check_pbzip2() { round_trip pbzip2 ./pbzip2 -p4 -c -- ./pbzip2 -p4 -d -c; }

# Without the decoders of formats from before 2016, which take longer to compile than all the rest.
build_libzstd() { make -j2 -C programs CC="$CC" ZSTD_LEGACY_SUPPORT=0 zstd; }
check_libzstd() { round_trip libzstd programs/zstd -q -T4 -B512K -c -- programs/zstd -q -d -c; }

build_xz_utils() {
  ./configure --quiet --disable-shared --disable-nls --disable-doc --disable-scripts && make -s -j2
}
check_xz_utils() { round_trip xz-utils src/xz/xz -T4 -1 --block-size=1MiB -c -- src/xz/xz -T4 -d -c; }

build_leveldb() {
  cmake -S . -B out -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLEVELDB_BUILD_TESTS=OFF \
    -DLEVELDB_BUILD_BENCHMARKS=OFF -DLEVELDB_INSTALL=OFF &&
    ninja -C out -j2 leveldb &&
    "$CXX" -std=c++17 -g -O2 -Iinclude "$here/leveldb_check.cc" -o out/check $(ls out/libleveldb.*) \
      -Wl,-rpath,"$PWD/out" -lsnappy -pthread
}
check_leveldb() { watched leveldb out/check "$work/leveldb/database"; }

build_memcached() { ./configure --quiet --disable-docs && make -s -j2 memcached; }
check_memcached() {
  local port pid code=0
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  watched memcached ./memcached -u root -A -t 4 -l 127.0.0.1 -p "$port" -U 0 -m 64 &
  pid=$!
  timeout 300 python3 "$here/memcached_client.py" "$port" || { code=1; kill "$pid" 2>/dev/null; }
  wait "$pid" || code=1
  return $code
}

# ---- all of them ---------------------------------------------------------------------------------------
prepare_apt || { echo "cannot read the lists of source packages" >&2; exit 1; }
passed=0 failed=0
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
  passed=$((passed + 1))
  races=
  [[ $plain ]] || races=", $(python3 "$here/summarise.py" "$name"/race-*.json)"
  echo "$name $version: built in $built s, right answer in $((SECONDS - begin)) s$races"
done
echo "$passed passed, $failed failed"
[[ $((passed + failed)) -gt 0 ]] || exit 77
[[ $failed -eq 0 && ($passed -ge 3 || $passed -eq ${#names[@]}) ]]
