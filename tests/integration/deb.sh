#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD: the Debian package, made by cpack, installed by apt into a clean root, and used there. The root is made by
# debootstrap once and kept in the build folder; each run installs into a copy-on-write layer over it. Code 77: skipped,
# and why.
set -euo pipefail
build=$(cd "$1" && pwd)
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
  exec unshare --mount --pid --fork "$0" "$build" inside
fi

# In a mount namespace of our own: what is mounted here is gone when we end. The layer is in memory.
package=$(ls "$work"/package/*.deb)
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
cp "$package" "$root/duress.deb"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

dpkg-deb -I "$package" | grep -E '^ (Package|Version|Depends):'
inside apt-get update > "$work/apt.log" 2>&1 || fail "apt-get update: $(tail -3 "$work/apt.log")"
inside apt-get install -y --no-install-recommends /duress.deb >> "$work/apt.log" 2>&1 || fail "apt-get: $(tail -5 "$work/apt.log")"
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
  [[ -e $root/usr/$file || -e $root/usr/$file.gz ]] || fail "the package has no /usr/$file"
done
inside dpkg --remove duress > /dev/null
inside sh -c '! command -v duress' || fail "the package was removed and duress is still there"
echo "ok: $(basename "$package")"
