#!/usr/bin/env bash
# Makes the voice that ships, models/voice, or one that learns English of a teacher.
#
# Usage: recipes/voice/make.sh digits|english|three|person WORK [STEPS]
#
#   digits   strings of digits, of jackson's single ones (../shared/data/digits)
#   english  an hour of flite's voice slt: LJSpeech's LJ001 and LJ002, made-up sentences, strings of digits
#   three    begins with the English voice (VOICE, or that of WORK/english): LJSpeech's reader (../shared/data/speech/ljspeech), the
#            reader of ../shared/data/speech/lj, and an hour and a half of slt
#   person   begins with the voice of these (WORK/three): LJSpeech's reader and slt alone
#
# Every stage leaves its result in WORK, and is passed over where that is there: a run that was stopped goes on where it was, the training
# from its newest checkpoint. WORK/trained/model is the voice. No text of test_digits.txt and test_texts.txt is in what is learned.
# TUTTI is the program (build/bin/tutti), THREADS the training's threads (1), DATA the shared data (../shared/data), PRECISION that of
# the last two (bfloat16; float32 for processors without units for it).
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=${1:?digits, english, three or person} work=${2:?the folder to work in}
tutti=${TUTTI:-build/bin/tutti} data=${DATA:-../shared/data} threads=${THREADS:-1} precision=${PRECISION:-bfloat16}
mkdir -p "$work"

# So many minutes of flite's voice slt.
read_by_slt() {
  rm -rf "$work/teacher"
  grep -E '^LJ00[12]' "$data/speech/lj/metadata.csv" | cut -d '|' -f 3 >"$work/texts"
  "$tutti" synth voice --minutes "$1" --texts "$work/texts" --exclude recipes/voice/test_texts.txt --out "$work/teacher"
  touch "$work/teacher.made"
}

# The set of several speakers: SPEAKER:TIMES[:CLIPS]...
join() {
  local teacher=$work/three/teacher label="LJSpeech's reader, and synthetic speech of CMU flite 2.2, voice cmu_us_slt"
  [[ $kind == person ]] || teacher=$work/teacher label="LJSpeech's reader, a man who read its texts, and CMU flite 2.2, voice cmu_us_slt"
  [[ -e $work/joined/metadata.csv ]] || recipes/voice/join.py "$data/speech" "$teacher" "$work/joined" "$@"
  [[ -e $work/set/voice.set ]] ||
    "$tutti" prepare tts --data "$work/joined" --rate 16000 --exclude recipes/voice/test_texts.txt --validation-share 0.04 \
      --label "$label" --out "$work/set"
}

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
    [[ -e $work/teacher.made ]] || read_by_slt 60
    [[ -e $work/set/voice.set ]] ||
      "$tutti" prepare tts --data "$work/teacher" --exclude recipes/voice/test_texts.txt --out "$work/set"
    ;;
  three)
    steps=${3:-3000}
    voice=${VOICE:-$work/english/trained/model}
    [[ -e $voice/config.json ]] || "$0" english "$work/english"
    network=(--model "$voice" --learning-rate 9e-4 --dropout 0.15 --ema 0.998 --precision "$precision")
    [[ -e $work/teacher.made ]] || read_by_slt 90
    join linda:4 person:2 slt:1
    ;;
  person)
    steps=${3:-950}
    [[ -e $work/three/trained/model/config.json ]] || "$0" three "$work/three"
    network=(--model "$work/three/trained/model" --learning-rate 5e-4 --dropout 0.15 --ema 0.997 --precision "$precision")
    join linda:5 slt:1:830
    ;;
  *)
    echo "make.sh: expected digits, english, three or person, found '$kind'" >&2
    exit 2
    ;;
esac

if compgen -G "$work/trained/checkpoints/step-*" >/dev/null; then
  "$tutti" train tts --out "$work/trained" --resume
else
  "$tutti" train tts --train-data "$work/set" --max-steps "$steps" "${network[@]}" --compute-threads "$threads" --log-steps 50 \
    --eval-steps 200 --save-steps 200 --out "$work/trained"
fi
# What 'tutti say' takes of config.json: a network that learned a synthesiser alone is flat, so its pitch is widened. LJSpeech's reader is
# understood better a little slower.
case $kind in
  english) spoken='{"pitch_range": 2.5}' ;;
  person) spoken='{"default_speaker": "slt", "speaker_settings": {"linda": {"length_scale": 1.075}, "slt": {"pitch_range": 2.7}}}' ;;
  *) spoken='{}' ;;
esac
python3 - "$work/trained/model" "$spoken" <<'END'
import json, pathlib, sys

def change(name, fields):
    path = pathlib.Path(sys.argv[1]) / name
    written = path.with_name(name + ".new")
    written.write_text(json.dumps(json.loads(path.read_text()) | fields, indent=1) + "\n")
    written.replace(path)

change("digests.json", {"config.json": None})  # it may change from now on
change("config.json", json.loads(sys.argv[2]))
END
echo "$work/trained/model is the voice"
