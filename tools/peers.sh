#!/usr/bin/env bash
# Measures Tutti beside faster-whisper, openai-whisper, transformers and PyTorch into BUILD/peers.jsonl.
#
# Usage: peers.sh BUILD [option of bench/peers/peers.py]...     (--only transcribe/batched, --quick, --runs N, ...)
# The peers live in a virtual environment in the cache, made at the first run from bench/peers/requirements.txt (several GB;
# delete it when you like). TUTTI_PEERS_PYTHON names another Python that has them. WHISPER_CPP names the sources of
# whisper.cpp; with them it takes part, too.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
tools/setup.sh peers

cache=$(dirname "$(tools/fetch_libtorch.py --print)")/peers
python=${TUTTI_PEERS_PYTHON:-}
if [[ -z $python ]]; then
  venv=$cache/venv-$(sha256sum bench/peers/requirements.txt | cut -c1-12)
  python=$venv/bin/python
  if [[ ! -f $venv/complete ]]; then
    echo "peers: installing the peers into $venv"
    rm -rf "$cache"/venv-*
    python3 -m venv "$venv"
    "$python" -m pip install --quiet --disable-pip-version-check -r bench/peers/requirements.txt
    touch "$venv/complete"
  fi
fi

data=${TUTTI_TEST_DATA:-../shared/data}
if [[ ! -f $data/whisper-tiny.en/config.json ]]; then
  echo "peers: the recordings and weights that are measured on are not in $data (TUTTI_TEST_DATA names another place)" >&2
  exit 1
fi
cmake --build "$build" --target feed_bench
sources=()
if [[ -n ${WHISPER_CPP:-} ]]; then sources=(--whisper-cpp "$WHISPER_CPP"); fi
"$python" bench/peers/peers.py --tutti "$build/bin/tutti" --data "$data" --out "$build/peers.jsonl" --cache "$cache" \
  "${sources[@]}" "$@"
