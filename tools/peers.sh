#!/usr/bin/env bash
# Measures Tutti beside faster-whisper, openai-whisper, transformers, OpenVINO GenAI, pywhispercpp, WhisperLive, PyTorch, Piper,
# Matcha-TTS into BUILD/peers.jsonl.
#
# Usage: peers.sh BUILD [option of bench/peers/peers.py]...     (--only transcribe/batched, --quick, --runs N, ...)
# The peers live in a virtual environment in the cache, made at the first run from bench/peers/requirements.txt (several GB;
# delete it when you like). TUTTI_PEERS_PYTHON names another Python that has them. OpenVINO GenAI has an environment of its own
# above that one (bench/peers/requirements-openvino.txt), because optimum-intel needs an older transformers; TUTTI_OPENVINO_PYTHON
# names another Python. So do TUTTI_PIPER_PYTHON for Piper (requirements-piper.txt), TUTTI_MATCHA_PYTHON for Matcha-TTS
# (requirements-matcha.txt) and TUTTI_LIVE_PYTHON for WhisperLive (requirements-live.txt). WHISPER_CPP names the sources of
# whisper.cpp; with them it takes part, too.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
build=$1
shift
tools/setup.sh peers

cache=$(dirname "$(tools/fetch_libtorch.py --print)")/peers

# environment NAME REQUIREMENTS [PYTHON]: the Python of an environment with these packages, and those of PYTHON below them.
environment() {
  local venv own
  venv=$cache/$1-$({ cat "$2"; echo "${3:-}"; } | sha256sum | cut -c1-12)
  if [[ ! -f $venv/complete ]]; then
    echo "peers: installing $2 into $venv" >&2
    rm -rf "$cache/$1"-*
    python3 -m venv "$venv"
    if [[ -n ${3:-} ]]; then
      own=$("$venv/bin/python" -c 'import site; print(site.getsitepackages()[0])')
      "$3" -c 'import site; print(*site.getsitepackages(), sep="\n")' >"$own/below.pth"
    fi
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2" >&2
    touch "$venv/complete"
  fi
  echo "$venv/bin/python"
}

# Its package asks for an older numpy to be built with, and for programs that a training step does not use: both are left out.
matcha_environment() {
  local own
  own=$(environment matcha bench/peers/requirements-matcha.txt "$python")
  "$own" -c 'import matcha' 2>/dev/null ||
    "$own" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation matcha-tts==0.0.7.2 >&2
  echo "$own"
}

python=${TUTTI_PEERS_PYTHON:-$(environment venv bench/peers/requirements.txt)}
piper=${TUTTI_PIPER_PYTHON:-$(environment piper bench/peers/requirements-piper.txt)} || piper=
openvino=${TUTTI_OPENVINO_PYTHON:-$(environment openvino bench/peers/requirements-openvino.txt "$python")} || openvino=
matcha=${TUTTI_MATCHA_PYTHON:-$(matcha_environment)} || matcha=
live=${TUTTI_LIVE_PYTHON:-$(environment live bench/peers/requirements-live.txt)} || live=

data=${TUTTI_TEST_DATA:-../shared/data}
if [[ ! -f $data/whisper-tiny.en/config.json ]]; then
  echo "peers: the recordings and weights that are measured on are not in $data (TUTTI_TEST_DATA names another place)" >&2
  exit 1
fi
cmake --build "$build" --target feed_bench train_classifier_bench
optional=()
if [[ -n $openvino ]]; then optional+=(--openvino-python "$openvino"); fi
if [[ -n $live ]]; then optional+=(--live-python "$live"); fi
if [[ -n $piper ]]; then optional+=(--piper-python "$piper"); fi
if [[ -n $matcha ]]; then optional+=(--matcha-python "$matcha"); fi
if [[ -n ${WHISPER_CPP:-} ]]; then optional+=(--whisper-cpp "$WHISPER_CPP"); fi
"$python" bench/peers/peers.py --tutti "$build/bin/tutti" --data "$data" --out "$build/peers.jsonl" --cache "$cache" \
  "${optional[@]}" "$@"
