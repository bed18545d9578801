#!/usr/bin/env bash
# Makes the voice that ships, models/voice, or one that learns English of a teacher.
#
# Usage: recipes/voice/make.sh digits|english WORK [STEPS]
#
#   digits   strings of digits, of jackson's single ones (../shared/data/digits)
#   english  an hour of flite's voice slt: LJSpeech's LJ001 and LJ002, made-up sentences, strings of digits
#
# Every stage leaves its result in WORK, and is passed over where that is there: a run that was stopped goes on where it was, the training
# from its newest checkpoint. WORK/trained/model is the voice. No text of test_digits.txt and test_texts.txt is in what is learned.
# TUTTI is the program (build/bin/tutti), THREADS the training's threads (1), DATA the shared data (../shared/data).
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=${1:?digits or english} work=${2:?the folder to work in}
tutti=${TUTTI:-build/bin/tutti} data=${DATA:-../shared/data} threads=${THREADS:-1}
mkdir -p "$work"

case $kind in
  digits)
    steps=${3:-1200}
    network=(--width 128 --encoder-layers 3)
    [[ -e $work/set/voice.set ]] ||
      "$tutti" prepare tts --data "$data/digits" --speaker jackson --strings 2500 --exclude recipes/voice/test_digits.txt --out "$work/set"
    ;;
  english)
    steps=${3:-4500}
    network=(--width 160 --encoder-layers 5 --dropout 0.15)
    if [[ ! -e $work/teacher.made ]]; then
      rm -rf "$work/teacher"
      grep -E '^LJ00[12]' "$data/speech/lj/metadata.csv" | cut -d '|' -f 3 >"$work/texts"
      "$tutti" synth voice --minutes 60 --texts "$work/texts" --exclude recipes/voice/test_texts.txt --out "$work/teacher"
      touch "$work/teacher.made"
    fi
    [[ -e $work/set/voice.set ]] ||
      "$tutti" prepare tts --data "$work/teacher" --exclude recipes/voice/test_texts.txt --out "$work/set"
    ;;
  *)
    echo "make.sh: expected digits or english, found '$kind'" >&2
    exit 2
    ;;
esac

if compgen -G "$work/trained/checkpoints/step-*" >/dev/null; then
  "$tutti" train tts --out "$work/trained" --resume
else
  "$tutti" train tts --train-data "$work/set" --max-steps "$steps" "${network[@]}" --compute-threads "$threads" --log-steps 50 \
    --eval-steps 200 --save-steps 200 --out "$work/trained"
fi
# A network that learned a synthesiser is flat: 'tutti say' widens its pitch by what its config.json has, as models/voice does.
[[ $kind == digits ]] || python3 - "$work/trained/model" <<'END'
import json, pathlib, sys

def change(name, **fields):
    path = pathlib.Path(sys.argv[1]) / name
    written = path.with_name(name + ".new")
    written.write_text(json.dumps(json.loads(path.read_text()) | fields, indent=1) + "\n")
    written.replace(path)

change("digests.json", **{"config.json": None})  # it may change from now on
change("config.json", pitch_range=2.5)
END
echo "$work/trained/model is the voice"
