#!/usr/bin/env bash
# Makes the vocoder that ships in the folder of the voice, models/voice/vocoder.
#
# Usage: recipes/voice/vocoder.sh WORK [STEPS]
#
# WORK is that of make.sh: WORK/teacher, or WORK/three/teacher, holds what flite's voice slt read there. Learned from are
# LJSpeech's reader, the reader of ../shared/data/speech/lj, and the first 350 clips of slt. No text of test_texts.txt is in what is
# learned. Every stage leaves its result in WORK/vocoder, and is passed over where that is there. WORK/vocoder/trained/model is the
# vocoder.
# TUTTI is the program (build/bin/tutti), THREADS the training's threads (1), DATA the shared data (../shared/data).
set -euo pipefail
cd "$(dirname "$0")/../.."
work=${1:?the folder that make.sh worked in} steps=${2:-1600}
tutti=${TUTTI:-build/bin/tutti} data=${DATA:-../shared/data} threads=${THREADS:-1}
teacher=$work/teacher
[[ -e $teacher/metadata.csv ]] || teacher=$work/three/teacher
[[ -e $teacher/metadata.csv ]] || {
  echo "vocoder.sh: $work/teacher: expected what flite's voice read there, found nothing; run 'recipes/voice/make.sh english $work'" >&2
  exit 2
}
out=$work/vocoder
mkdir -p "$out"

if [[ ! -e $out/joined/metadata.csv ]]; then
  recipes/voice/join.py "$data/speech" "$teacher" "$out/joined" linda:1 person:1 slt:1:350
  echo "two people (LJSpeech's reader, the reader of LJ001 to LJ003) and CMU flite 2.2, voice cmu_us_slt" >"$out/joined/label.txt"
fi
[[ -e $out/set/waveforms.set ]] ||
  "$tutti" prepare tts --data "$out/joined" --rate 16000 --waveforms --exclude recipes/voice/test_texts.txt --validation-share 0.05 \
    --out "$out/set"

if compgen -G "$out/trained/checkpoints/step-*" >/dev/null; then
  "$tutti" train vocoder --out "$out/trained" --resume
else
  "$tutti" train vocoder --train-data "$out/set" --max-steps "$steps" --width 160 --layers 5 --batch-size 8 --learning-rate 1.5e-3 \
    --precision bfloat16 --compute-threads "$threads" --log-steps 50 --eval-steps 800 --save-steps 200 --out "$out/trained"
fi
echo "$out/trained/model is the vocoder; 'cp -r' it into a voice's folder as vocoder"
