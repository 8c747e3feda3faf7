#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD: the Debian packages, made by cpack, looked at by lintian, installed into a clean root by the commands of
# packaging/ci/Dockerfile, and used there, by hand and by the script of the CI templates. The root is made by debootstrap
# once and kept in the build folder; each run installs into a copy-on-write layer over it. Code 77: skipped, and why.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$build/tests/integration/deb
base=$work/root

skip() {
  echo "SKIPPED: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

if [[ ${2:-} != inside ]]; then
  [[ $(id -u) -eq 0 ]] || skip "a clean root can only be made by root"
  command -v debootstrap > /dev/null || skip "debootstrap is not installed"
  command -v dpkg-shlibdeps > /dev/null || skip "dpkg-dev is not installed"
  mkdir -p "$work"
  if [[ ! -e $base/made ]]; then
    rm -rf "$base"
    curl -fsS --max-time 20 -o /dev/null http://deb.debian.org/debian/dists/bookworm/Release 2> /dev/null ||
      skip "deb.debian.org cannot be reached"
    debootstrap --variant=minbase bookworm "$base" http://deb.debian.org/debian > "$work/debootstrap.log" 2>&1 ||
      fail "debootstrap: $(tail -3 "$work/debootstrap.log")"
    touch "$base/made"
  fi
  rm -rf "$work/package" && mkdir "$work/package"
  (cd "$work/package" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/package" > "$work/cpack.log" 2>&1) ||
    fail "cpack: $(tail -5 "$work/cpack.log")"
  (cd "$work/package" && [[ $(echo *.deb) == "duress-doc_"*" duress_"*" libduress-dev_"* ]]) || fail "not three packages: $(ls "$work/package")"
  if command -v lintian > /dev/null; then
    # Upstream has no address for mail; CPack adds a call of ldconfig for shared objects in folders of /usr/lib.
    known=bogus-mail-host,bogus-mail-host-in-debian-changelog,maintscript-calls-ldconfig
    lintian --allow-root --tag-display-limit 0 --suppress-tags $known "$work"/package/*.deb > "$work/lintian.log" 2>&1 ||
      fail "lintian: $(cat "$work/lintian.log")"
    [[ ! -s $work/lintian.log ]] || fail "lintian: $(cat "$work/lintian.log")"
  fi
  exec unshare --mount --pid --fork "$0" "$build" inside
fi

# In a mount namespace of our own: what is mounted here is gone when we end. The layer is in memory.
package=$(ls "$work"/package/duress_*.deb)
layer=$work/layer
mkdir -p "$layer" "$work/archives"
mount -t tmpfs tmpfs "$layer"
mkdir "$layer"/{upper,scratch,root}
mount -t overlay overlay -o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/scratch" "$layer/root" ||
  skip "this kernel has no overlay file system"
root=$layer/root
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mkdir -p "$root/var/cache/apt/archives"
mount --bind "$work/archives" "$root/var/cache/apt/archives"  # downloaded once
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/tmp/packages" && cp "$work"/package/*.deb "$root/tmp/packages"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

dpkg-deb -I "$package" | grep -E '^ (Package|Version|Depends):'
# The commands of the image, without the daemon that would run them.
image=$(sed -n '/^RUN /,/[^\\]$/p' "$source/packaging/ci/Dockerfile" | sed 's/^RUN //; s/\\$//' | tr '\n' ' ')
[[ $image == *apt-get*install* ]] || fail "the Dockerfile has no command that installs: $image"
inside sh -c "$image" > "$work/apt.log" 2>&1 || fail "Dockerfile: $(tail -5 "$work/apt.log")"
inside duress --version
inside duress doctor > "$work/doctor" 2>&1 || fail "duress doctor: $(cat "$work/doctor")"
cat > "$root/root/counter.cc" <<'CODE'
#include <thread>
int counter;
int main() {
  std::thread other([] { counter = counter + 1; });
  counter = counter + 1;
  other.join();
  return counter == 2 ? 0 : 1;
}
CODE
run() { (inside sh -c "cd /root && $1") > "$work/out" 2>&1 || code=$?; }
code=0 && run "duress-c++ -std=c++20 -g -O1 -pthread counter.cc -o counter && ./counter"
[[ $code -eq 0 ]] || fail "building a program: $(cat "$work/out")"
code=0 && run "duress run -- ./counter"
[[ $code -eq 66 ]] && grep -q "counter.cc:4:[0-9]*: warning: data race on counter \[R-" "$work/out" || fail "run: $code $(cat "$work/out")"
code=0 && run "duress classify --runs 10 -- ./counter"
[[ $code -eq 66 ]] && grep -q "is DESTRUCTIVE" "$work/out" || fail "classify: $code $(cat "$work/out")"
id=$(grep -o "R-[0-9a-f]*" "$work/out" | head -1)
code=0 && run "duress replay $id"
[[ $code -eq 66 ]] || fail "replay: $code $(cat "$work/out")"
for file in share/man/man1/duress.1 share/man/man1/duress-classify.1 share/cmake/Duress/DuressConfig.cmake \
  share/bash-completion/completions/duress share/zsh/site-functions/_duress share/pkgconfig/duress.pc include/duress/test.h; do
  [[ -e $root/usr/$file || -e $root/usr/$file.gz ]] || fail "the packages have no /usr/$file"
done
[[ -z $(find "$root/usr/lib" -name duress_pass.so -not -path '*/duress/*') ]] || fail "duress_pass.so is not in a folder of its own"
# What the templates run, on a project of their users.
mkdir "$root/root/project" && mv "$root/root/counter.cc" "$root/root/project"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(p CXX)' 'enable_testing()' 'find_package(Threads)' \
  'add_executable(counter counter.cc)' 'target_link_libraries(counter Threads::Threads)' 'add_test(NAME counter COMMAND counter)' \
  > "$root/root/project/CMakeLists.txt"
code=0 && run "cd project && DURESS_CI_OPTIONS='--runs 10' /usr/share/duress/ci/run.sh"
[[ $code -eq 66 && -s $root/root/project/duress.sarif && -s $root/root/project/duress.xml ]] || fail "run.sh: $code $(cat "$work/out")"
inside dpkg --remove libduress-dev duress-doc duress > /dev/null
inside sh -c '! command -v duress' || fail "the package was removed and duress is still there"
echo "ok: $(cd "$work/package" && echo *.deb)"
