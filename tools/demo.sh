#!/usr/bin/env bash
# Shows what this build does on the recordings in samples/. Usage: demo.sh BUILD
#
# With TUTTI_MODEL it transcribes them; without a model it shows decoding, features and speed, and says how to get one:
# text is never printed from weights that are not there.
set -euo pipefail
cd "$(dirname "$0")/.."
tutti=$1/bin/tutti
samples=(samples/*.wav samples/*.flac samples/*.mp3 samples/*.ogg samples/*.m4a)

if [[ -n ${TUTTI_MODEL:-} ]]; then
  exec "$tutti" transcribe --model "$TUTTI_MODEL" --output-dir "$1/demo" --output-format all "${samples[@]}"
fi
"$tutti" features "${samples[@]}"
cat <<TEXT

No model is named, so nothing was transcribed. To get one and see text:
  $tutti pull tiny.en        (about 150 MB from huggingface.co)
  TUTTI_MODEL=tiny.en make demo
TEXT
