#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The compiler wrappers as build systems use them. Uses a copy of the wrappers beside stand-ins for our libraries, so
# that only the command lines are tested.
set -u
cc=$1 cxx=$2 clang=$3
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/lib"; cp "$cc" "$work/bin/duress-cc"; cp "$cxx" "$work/bin/duress-c++"
cp "$(dirname "$cc")/../lib/duress_pass.so" "$work/lib/"
cd "$work"
cat > stub.c <<'END'
__thread struct { unsigned long words[5]; } __duress_self;
char __duress_watched[1 << 16];
void __duress_module_init(const void* m) {}
#define HOOK(name) unsigned long name(void* p) { return 0; }
HOOK(__duress_check_write4) HOOK(__duress_check_read4) HOOK(__duress_load4) HOOK(__duress_store4)
END
"$clang" -w -fPIC -c stub.c && ar rcs lib/libduress_rt.a stub.o && ar rcs lib/libduress_stub.a stub.o && ar rcs lib/libduress_rt_malloc.a
echo '{ __duress_*; };' > lib/duress.syms
cc=$work/bin/duress-cc cxx=$work/bin/duress-c++
failures=0
line() { "$@" -### 2>&1; }
expect() { # description, wanted yes/no, pattern, command...
  local what=$1 wanted=$2 pattern=$3; shift 3
  local got=no; "$@" 2>&1 | grep -q -e "$pattern" && got=yes
  [ $got = "$wanted" ] || { echo "FAILED: $what: '$pattern' wanted $wanted: $*"; "$@" 2>&1 | tail -5; failures=$((failures + 1)); }
}
same() { # description, command tail...: same exit code, standard output and errors as clang
  local what=$1; shift
  "$cc" "$@" > ours.out 2> ours.err; local ours=$?
  "$clang" "$@" > theirs.out 2> theirs.err; local theirs=$?
  { [ $ours = $theirs ] && cmp -s ours.out theirs.out && cmp -s ours.err theirs.err; } ||
    { echo "FAILED: $what: differs from clang: $*"; diff ours.err theirs.err | head -5; failures=$((failures + 1)); }
}
echo 'int main(void) { return 0; }' > a.c
echo 'int main() { return 0; }' > a.cc
echo '.text' > a.s
echo '#define X 1' > a.h

expect "compiles with the pass" yes 'duress_pass.so' line $cc -c a.c
expect "debug info" yes 'debug-info-kind' line $cc -c a.c
expect "-g0 stays" no 'debug-info-kind=constructor' line $cc -g0 -c a.c
expect "-c does not link" no 'libduress_rt' line $cc -c a.c
expect "links the runtime" yes 'whole-archive.*libduress_rt.a.*libduress_rt_malloc.a.*no-whole-archive.*dynamic-list' line $cc a.c
expect "runtime before the user's libraries" yes 'libduress_rt.a.*-lm' line $cc a.c -lm
expect "c++ links libstdc++" yes 'lstdc++' line $cxx a.cc
expect "c does not" no 'lstdc++' line $cc a.c
expect "shared library: stub" yes 'libduress_stub.a' line $cc -shared -fPIC a.c
expect "shared library: no runtime" no 'libduress_rt' line $cc -shared -fPIC a.c
expect "shared through -Wl" no 'libduress_rt' line $cc -Wl,-shared -fPIC a.c
expect "libtool's shared libraries" yes 'libduress_stub.a' line $cxx -shared -nostdlib a.cc
echo 'int shared; int update(void) { return ++shared; }' > library.c
echo 'VERSION_1 { global: nothing; local: *; };' > script.map
for form in -Wl,--version-script=script.map -Wl,--version-script,script.map "-Xlinker --version-script=script.map" \
  "-Xlinker --version-script -Xlinker script.map" "-Wl,-z,now,--version-script=script.map"; do
  $cc -shared -fPIC library.c $form -o hidden.so || failures=$((failures + 1))
  expect "hooks stay global: $form" yes ' [WT] __duress_module_init' nm -D hidden.so
  expect "the script holds: $form" no ' T update' nm -D hidden.so
done
for script in 'V { local: *; };' '/* global: none */ V { a*; };' '{ global : a; extern "C++" { b; }; local: *; };'; do
  echo "$script" > script.map
  $cc -shared -fPIC library.c -Wl,--version-script=script.map -o hidden.so || failures=$((failures + 1))
  expect "hooks stay global: $script" yes ' [WT] __duress_module_init' nm -D hidden.so
done
expect "static: is refused" yes 'error: a statically linked program cannot be observed' $cc -static a.c
$cc -static a.c 2> /dev/null; [ $? = 1 ] || { echo "FAILED: -static must exit 1"; failures=$((failures + 1)); }
expect "static without a library: stub" yes 'libduress_stub.a' line $cc -static -nostdlib a.c
expect "-r" no 'libduress' line $cc -r a.c
expect "address sanitizer keeps its allocator" no 'rt_malloc' line $cc -fsanitize=address a.c
expect "thread sanitizer: says so" yes 'warning: -fsanitize=thread is ignored' line $cc -fsanitize=thread a.c
expect "thread sanitizer is left out" no 'tsan' line $cc -fsanitize=thread,undefined a.c
expect "thread sanitizer: with Duress" yes 'libduress_rt.a' line $cc -fsanitize=thread a.c
expect "32 bit" no 'duress_pass' line $cc -m32 -c a.c
expect "-fduress= is ours" no "fduress" line $cc -fduress=run -c a.c
expect "-fduress= with another value" yes "use run or all" $cc -fduress=fast -c a.c
echo '-c a.c' > args
expect "response files" no 'libduress_rt' line $cc @args
expect "option values are no inputs" no 'libduress_rt' line $cc -o a.c -v
expect "assembly" no 'debug-info-kind=constructor' line $cc -c a.s
same "--version" --version
same "-dumpmachine" -dumpmachine
same "-print-search-dirs" -print-search-dirs
same "no input" -O2
same "-E" -E a.c
same "-M" -M a.c
same "-E -dM" -E -dM -x c /dev/null
same "missing file" -c missing.c
same "unknown option" -c a.c -fno-such-option
same "syntax only, all warnings" -fsyntax-only -Weverything -Werror a.c
same "assembles" -c a.s -Werror -o s.o
same "precompiles a header" -x c-header a.h -o a.pch
same "cc1" -cc1 -E a.c
echo 'int main(void) { return 3; }' | $cc -x c - -o piped -Werror && ./piped; [ $? = 3 ] || { echo "FAILED: reading from a pipe"; failures=$((failures + 1)); }
echo 'int x; int main(int c, char**) { x += c; return x - 1; }' > b.cc
$cxx -Werror b.cc -o program && ./program || { echo "FAILED: building a program"; failures=$((failures + 1)); }
expect "debug info is found" yes 'duress_sites' readelf -SW program
DURESS_CC=/nowhere/clang $cc a.c 2>&1 | grep -q 'cannot run /nowhere/clang' || { echo "FAILED: DURESS_CC"; failures=$((failures + 1)); }
ln -s "$cc" linked-cc
expect "through a link" yes 'libduress_rt.a' line ./linked-cc a.c
[ $failures = 0 ] && echo "all well"
exit $((failures != 0))
