#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds Duress, looks for the races of double-checked locking, and makes them bite.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
tools/install.sh tools/packages.txt
tools/build.sh duress_tools
example=examples/jumble/double_checked_locking.cc
mkdir -p build/demo
say() { echo; echo "\$ $*"; }

say duress-c++ -g -O1 -std=c++20 $example -o point
build/bin/duress-c++ -g -O1 -std=c++20 -Iexamples/support -pthread $example -o build/demo/point

say ./point "                # started by itself: a normal program"
build/demo/point

say duress run -- ./point
code=0
build/bin/duress run --dir build/demo/.duress -- build/demo/point || code=$?
echo "exit code $code (66: races were found)"
[[ $code -eq 66 ]]

say duress classify -- ./point "   # which of them do harm?"
rm -rf build/demo/.duress
code=0
build/bin/duress classify --dir build/demo/.duress -- build/demo/point || code=$?
echo "exit code $code (66: destructive races were found)"
[[ $code -eq 66 ]]

say duress report --html report.html "   # the same to look at, in a browser"
build/bin/duress report --dir build/demo/.duress --html build/demo/report.html
echo "build/demo/report.html"
