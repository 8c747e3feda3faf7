#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What action.yml and gitlab.yml run: installs the package, builds with Duress, runs `duress test`, and leaves duress.sarif,
# duress.xml (JUnit), duress.json and duress.html in the current folder. Settings come in variables DURESS_CI_*.
set -uo pipefail
package=${DURESS_CI_PACKAGE:-} source=${DURESS_CI_SOURCE:-.} build=${DURESS_CI_BUILD:-build-duress}
if ! command -v duress >/dev/null; then
  if [[ -z $package ]]; then
    echo "duress: no package is given and Duress is not installed; set DURESS_CI_PACKAGE" >&2
    exit 2
  fi
  root=()
  [[ $(id -u) -eq 0 ]] || root=(sudo)
  files=()
  for one in $package; do
    if [[ $one == http://* || $one == https://* ]]; then
      (cd /tmp && curl -fsSLO "$one") || exit 125
      one=/tmp/${one##*/}
    fi
    files+=("$(realpath "$one")")
  done
  "${root[@]}" apt-get update -qq && "${root[@]}" apt-get install -y "${files[@]}" || exit 125
fi
cmake -S "$source" -B "$build" -DCMAKE_TOOLCHAIN_FILE="$(duress cmake)" && cmake --build "$build" -j "$(nproc)" || exit 125
options=(--time "${DURESS_CI_TIME:-10m}" --fail-on "${DURESS_CI_FAIL_ON:-destructive}")
[[ -z ${DURESS_CI_BASELINE:-} ]] || options+=(--baseline "$DURESS_CI_BASELINE")
read -ra more <<<"${DURESS_CI_OPTIONS:-}"
duress test "$build" "${options[@]}" ${more[@]+"${more[@]}"} --json=duress.json --sarif duress.sarif --junit duress.xml --html duress.html
code=$?
if [[ -n ${GITHUB_OUTPUT:-} ]]; then
  for kind in sarif html; do
    [[ ! -f duress.$kind ]] || echo "$kind=duress.$kind" >>"$GITHUB_OUTPUT"
  done
fi
exit "$code"
