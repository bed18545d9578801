#!/usr/bin/env bash
# Shows what this build does. Usage: demo.sh BUILD
#
# The model that ships (models/nano: spoken digits and Morse) transcribes the samples it was made for; with TUTTI_MODEL that
# model hears all that is spoken. Then the small model goes on learning for a minute, from a ring of batches that are ready
# before the step asks for them.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
tutti=$build/bin/tutti
spoken=(samples/*.wav samples/*.ogg samples/*.mp3 samples/yweweler.flac)
keyed=(samples/morse-*.flac)
long=(samples/*.m4a)  # half a minute: models/nano has learned eight digits in a row at most

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "What models/nano hears, people and Morse:"
"$tutti" transcribe --model models/nano --output-dir "$build/demo" --output-format all "${spoken[@]}" "${keyed[@]}"

if [[ -n ${TUTTI_MODEL:-} ]]; then
  say "What $TUTTI_MODEL hears:"
  "$tutti" transcribe --model "$TUTTI_MODEL" --output-dir "$build/demo/named" --output-format all "${spoken[@]}" "${long[@]}"
else
  say "Another model? '$tutti pull tiny.en' fetches one (about 150 MB from huggingface.co); then: TUTTI_MODEL=tiny.en make demo"
fi

say "A minute of training: models/nano learns a corpus of Morse that is made for it now."
rm -rf "$build/demo/morse" "$build/demo/training"
"$tutti" synth morse --count 400 --seed 11 --condition moderate --longest 8 --letter-times --out "$build/demo/morse"
"$tutti" train whisper --model models/nano --data "$build/demo/morse" --out "$build/demo/training" --max-minutes 1 \
  --batch-size 8 --look-ahead 64 --padding bucket --epochs 0 --max-steps 100000 --learning-rate 3e-5 --frame-weight 0.3 \
  --window-share 0.1 --normaliser none --eval-steps 0 --save-steps 100000 --log-steps 20
