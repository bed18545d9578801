#!/usr/bin/env bash
# Measures Tutti beside openai-whisper, transformers and faster-whisper into BUILD/peers.jsonl.
#
# Usage: peers.sh BUILD [option of bench/peers/peers.py]...
# The peers live in a virtual environment in the cache, made at the first run from bench/peers/requirements.txt (several GB;
# delete it when you like). TUTTI_PEERS_PYTHON names another Python that has them. The weights are TUTTI_MODEL's, a Hugging
# Face folder, else the shared test data's.
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

data=${TUTTI_TEST_DATA:-../shared/data}/whisper-tiny.en
model=${TUTTI_MODEL:-$data}
if [[ ! -f $model/config.json ]]; then
  echo "peers: no model. Set TUTTI_MODEL to a Hugging Face folder (tutti pull tiny.en gets one)" >&2
  exit 1
fi
if [[ -d $data/clips ]]; then
  audio=(--texts "$data/clips/texts.json" "$data"/clips/long-*.flac "$data"/clips/mixed-*.wav)
else
  audio=(samples/*.wav samples/*.flac samples/*.mp3 samples/*.ogg samples/*.m4a)
fi
"$python" bench/peers/peers.py --tutti "$build/bin/tutti" --model "$model" --out "$build/peers.jsonl" --cache "$cache" \
  "$@" "${audio[@]}"
