#!/usr/bin/env bash
# Makes an archive of the programs in BUILD that runs where it is unpacked, on Linux with glibc 2.35 or later.
#
# Usage: tarball.sh BUILD [DIST]   writes DIST/tutti-VERSION-linux-x86_64.tar.gz (DIST: dist), and prints its path
#
# In bin/ are both programs, in lib/ every shared library that they need but glibc's own: libtorch's for CPUs, libstdc++,
# libsndfile, simdjson, SQLite, OpenSSL. What is loaded on first use (FFmpeg, libcurl, ...) is the system's.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
readonly OLDEST_GLIBC=2.35
build=$(realpath "$1")
dist=${2:-dist}
name=tutti-$(tools/staged.sh version "$build")-linux-x86_64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/$name

tools/staged.sh install "$build" "$tree"
rm -rf "$tree/lib"
mkdir "$tree/lib"
tools/staged.sh libraries "$build/bin/tutti" "$build/bin/tutti-engine" | while read -r library; do
  cp -L "$library" "$tree/lib/"
done
chmod 755 "$tree"/lib/*
strip --strip-unneeded "$tree"/lib/*
# RPATH, which serves what these libraries load as well.
patchelf --force-rpath --set-rpath "\$ORIGIN/../lib" "$tree/bin/tutti" "$tree/bin/tutti-engine"
for library in "$tree"/lib/*; do patchelf --force-rpath --set-rpath "\$ORIGIN" "$library"; done

# Debian 12's libstdc++ has its random_device from glibc 2.36's arc4random. Ubuntu 22.04 has 2.35; here this one answers.
if objdump -T "$tree/lib/libstdc++.so.6" | grep '(GLIBC_2.36) arc4random$' >/dev/null; then
  gcc -shared -fPIC -O2 -Wl,-soname,libtutti-random.so -o "$tree/lib/libtutti-random.so" -x c - <<'CODE'
#include <stdlib.h>
#include <sys/random.h>
unsigned arc4random(void) {
  unsigned value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();
  return value;
}
CODE
  patchelf --add-needed libtutti-random.so "$tree/lib/libstdc++.so.6"
  tools/replace_version.py "$tree/lib/libstdc++.so.6" GLIBC_2.36 GLIBC_2.2.5
fi

newest=$(objdump -T "$tree"/bin/* "$tree"/lib/* | grep -v ' arc4random$' | grep -oE 'GLIBC_2\.[0-9]+' | sort -V -u | tail -1)
if [[ $(printf '%s\n' "GLIBC_$OLDEST_GLIBC" "$newest" | sort -V | tail -1) != "GLIBC_$OLDEST_GLIBC" ]]; then
  echo "tarball: something in it needs $newest, and GLIBC_$OLDEST_GLIBC is what it may need" >&2
  exit 1
fi
mkdir -p "$dist"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -c "$name" | gzip -6 >"$work/$name.tar.gz"
mv "$work/$name.tar.gz" "$dist/"
echo "$dist/$name.tar.gz"
