#!/usr/bin/env bash
# Makes the Debian packages tutti and tutti-engine of the programs in BUILD.
#
# Usage: deb.sh BUILD [DIST]   writes tutti_VERSION-1_amd64.deb and tutti-engine_... into DIST (dist), and prints their paths
#
# tutti depends on the shared libraries that dpkg-shlibdeps finds. tutti-engine has libtorch's for CPUs in /usr/lib/tutti, which
# Debian has no package of. The files in packaging/deb are their control files, copyright and lintian's exceptions.
# TUTTI_MAINTAINER: "NAME <ADDRESS>" in place of the last commit's.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
build=$(realpath "$1")
dist=${2:-dist}
version=$(tools/staged.sh version "$build")-1
maintainer=${TUTTI_MAINTAINER:-$(git log -1 --format='%an <%ae>' 2>/dev/null || echo 'Tutti contributors <root@localhost>')}
date=$(git log -1 --format=%aD 2>/dev/null || date -R)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tutti=$work/tutti engine=$work/tutti-engine

# move PATH...: from the package tutti to tutti-engine.
move() {
  local path
  for path in "$@"; do
    mkdir -p "$engine/$(dirname "$path")"
    mv "$tutti/$path" "$engine/$path"
  done
}

# documents TREE: what every package has in its folder below /usr/share/doc.
documents() {
  local name doc
  name=$(basename "$1")
  doc=$1/usr/share/doc/$name
  mkdir -p "$doc" "$1/usr/share/lintian/overrides"
  cp "packaging/deb/$name.copyright" "$doc/copyright"
  cp "packaging/deb/$name.lintian-overrides" "$1/usr/share/lintian/overrides/$name"
  gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
  printf 'tutti (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$version" "$maintainer" "$date" |
    gzip -9n >"$doc/changelog.Debian.gz"
}

# build_package TREE LIBRARIES
build_package() {
  local name size
  name=$(basename "$1")
  find "$1" -type d -exec chmod 755 {} +
  find "$1" -type f ! -path '*/bin/*' -exec chmod 644 {} +
  size=$(du -sk "$1" | cut -f1)
  mkdir "$1/DEBIAN"
  sed -e "s/@VERSION@/$version/" -e "s/@MAINTAINER@/$maintainer/" -e "s/@SIZE@/$size/" -e "s/@LIBRARIES@/$2/" \
    "packaging/deb/$name.control" >"$1/DEBIAN/control"
  (cd "$1" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$1/DEBIAN/md5sums"
  dpkg-deb --root-owner-group -Zxz -z1 --build "$1" "$dist" >/dev/null
  echo "$dist/${name}_${version}_amd64.deb"
}

# depends_of PROGRAM [FOLDER]: the packages of the libraries that it needs; those in FOLDER are its own.
depends_of() {
  mkdir -p "$work/source/debian"
  printf 'Source: tutti\n\nPackage: tutti\nArchitecture: amd64\n' >"$work/source/debian/control"
  (cd "$work/source" && dpkg-shlibdeps -O --ignore-missing-info ${2:+-l"$2" -xlibgomp1} -e "$1" 2>"$work/log") |
    sed 's/^shlibs:Depends=//' || { cat "$work/log" >&2; return 1; }
}

tools/staged.sh install "$build" "$tutti/usr"
rm -rf "$tutti/usr/lib" "$tutti/usr/share/doc"
gzip -9n "$tutti"/usr/share/man/man1/*
mv "$tutti/usr/share/zsh/site-functions" "$tutti/usr/share/zsh/vendor-completions"
move usr/bin/tutti-engine usr/share/man/man1/tutti-engine.1.gz

own=$engine/usr/lib/tutti
mkdir -p "$own"
# Those that are no package's of Debian: libtorch's, and of CUDA's the two that it needs on CPUs.
tools/staged.sh libraries "$build/bin/tutti-engine" | while read -r library; do
  case $(realpath "$library") in /lib/* | /usr/lib/*) ;; *) cp -L "$library" "$own/" ;; esac
done
strip --strip-unneeded "$own"/*
patchelf --force-rpath --set-rpath "\$ORIGIN/../lib/tutti" "$engine/usr/bin/tutti-engine"
patchelf --remove-rpath "$tutti/usr/bin/tutti"
for library in "$own"/*; do patchelf --force-rpath --set-rpath "\$ORIGIN" "$library"; done

units=$tutti/usr/lib/systemd/system
mkdir -p "$units" "$tutti/usr/share/doc/tutti/examples"
for unit in examples/tutti-serve.service examples/runners/tutti-worker@.service; do
  sed 's|/usr/local/bin/|/usr/bin/|' "$unit" >"$units/$(basename "$unit")"
done
cp -r examples/runners "$tutti/usr/share/doc/tutti/examples/"
cp README.md THIRD_PARTY.md "$tutti/usr/share/doc/tutti/"
documents "$tutti"
documents "$engine"
cp THIRD_PARTY.md "$engine/usr/share/doc/tutti-engine/"

mkdir -p "$dist"
build_package "$tutti" "$(depends_of "$tutti/usr/bin/tutti")"
build_package "$engine" "$(depends_of "$engine/usr/bin/tutti-engine" "$own")"
