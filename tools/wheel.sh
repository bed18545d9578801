#!/usr/bin/env bash
# Builds the Python package into dist/: the module and the programs in BUILD, then the wheel of them.
#
# Usage: wheel.sh BUILD [DIST]   builds it into DIST (dist), and prints its path
#        wheel.sh --python       prints the Python that builds it, and makes its environment where that is missing
#
# The environment lives in the cache and has the packages of python/requirements.txt.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

environment() {
  local venv
  venv=$(dirname "$(tools/fetch_libtorch.py --print)")/wheel/venv-$(sha256sum <python/requirements.txt | cut -c1-12)
  if [[ ! -f $venv/complete ]]; then
    echo "wheel: installing python/requirements.txt into $venv" >&2
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r python/requirements.txt >&2
    touch "$venv/complete"
  fi
  echo "$venv/bin/python"
}

python=$(environment)
if [[ $1 == --python ]]; then
  echo "$python"
  exit
fi
build=$(realpath "$1")
dist=${2:-dist}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
PATH=$(dirname "$python"):$PATH
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$made" \
  -C build-dir="$build/wheel" -C cmake.define.TUTTI_BUILD="$build" ./python >&2
# The system's libraries come along, so that the wheel runs where they are not installed. Those of torch are torch's own, and
# OpenSSL stays the system's, which mends it.
mkdir -p "$dist"
rm -f "$dist"/tutti-*.whl
excluded=()
for name in libtorch libc10 libgomp libcu libnv libssl libcrypto; do excluded+=(--exclude "$name*"); done
auditwheel repair --zip-compression-level 9 --wheel-dir "$dist" "${excluded[@]}" "$made"/tutti-*.whl >"$made/log" 2>&1 ||
  { cat "$made/log" >&2; exit 1; }
ls "$dist"/tutti-*.whl
