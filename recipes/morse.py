#!/usr/bin/env python3
"""Makes a corpus of Morse as it comes off the air and trains a model on it.

Usage: recipes/morse.py WORK [--tutti build/bin/tutti] [--model DIR] [--share SHARE] [--corpus-only] [-- FLAG...]

Three trainings follow one another: WORK/short on clips of up to 4 s, from which attention learns to listen at all, WORK/train
on clips of up to 28 s of all conditions of the band, WORK/air on what recordings off the air have (--air-share of 'tutti synth
morse'): noise louder than the tone, fading, near stations, narrow filters, hand keys, and contacts in which calls are sent
twice. WORK/air/model is the model; its config says that windows follow keying. With --model only the last training is run,
from that model's weights. WORK/eval.jsonl is what evaluations while training take, and is not learned. --share 0.1 makes a tenth of
the clips. Everything follows from the seed below. A run that was ended goes on behind what it has done.
What stands behind -- goes to every 'tutti train whisper'.
"""
import argparse
import json
import pathlib
import sys

from nano import FIRST, SHORT_MORSE, morse_lines, train_in_turn, write_manifest

SEED, EVALUATED = 20261129, 120
CONTACTS = ["--contact-share", "0.5", "--hand-share", "0.25"]
AIR = ["--air-share", "1", "--contact-share", "0.65", "--hand-share", "0.4", "--wpm-least", "8", "--wpm-most", "45"]
# name: (clips by condition, seconds at most, flags)
SHORT = {"short": (SHORT_MORSE, 4, ["--contact-share", "0.4", "--hand-share", "0.2"])}
TRAIN = {"bands": ({"clean": 3000, "good": 6000, "moderate": 4000, "poor": 2000, "dx": 2000}, 28, CONTACTS)}
LAST = {"air": ({"good": 12000}, 20, AIR),
        "air-long": ({"good": 4000}, 28, AIR),
        "air-narrow": ({"good": 3000}, 20, [*AIR, "--rate", "8000"]),
        "receivers": ({"good": 2000}, 16, [*CONTACTS, "--receiver-share", "1", "--noise-db=-3:15"]),
        "still": ({"clean": 2000, "good": 2000}, 24, CONTACTS)}
# The last training: at small rates, without each letter's place, which only a new network needs.
LATE = ["--learning-rate", "4e-4", "--max-steps", "6000", "--schedule-steps", "0", "--frame-weight", "0", "--noise-share", "0.1"]
KEYED = {"tutti_vad_method": "keying"}  # what src/transcribe reads in the model's config.json


def corpus(work, tutti, parts, share, seed):
    lines = []
    for number, (name, (counts, longest, flags)) in enumerate(parts.items()):
        some = {condition: max(1, round(share * count)) for condition, count in counts.items()}
        lines += morse_lines(work, tutti, name, some, seed + 10 * number, longest, flags)
    return lines


def make_corpus(work, tutti, share, is_new):
    last = corpus(work, tutti, LAST, share, SEED + 200)
    evaluated = last[:: max(1, len(last) // EVALUATED)][:EVALUATED]
    taken = {line["id"] for line in evaluated}
    if is_new:
        write_manifest(work / "short.jsonl", corpus(work, tutti, SHORT, share, SEED))
        write_manifest(work / "train.jsonl", corpus(work, tutti, TRAIN, share, SEED + 100))
    write_manifest(work / "air.jsonl", [line for line in last if line["id"] not in taken])
    write_manifest(work / "eval.jsonl", evaluated)  # last: a corpus that has it is whole


def mark_as_keyed(model):
    """Has the model's config say that its sound is keyed, for transcribing with it."""
    path = model / "config.json"
    config = json.loads(path.read_text())
    if KEYED.items() <= config.items():
        return
    written = path.with_name("config.json.new")
    written.write_text(json.dumps(config | KEYED, indent=1) + "\n")
    written.replace(path)


def main():
    line = sys.argv[1:]
    border = line.index("--") if "--" in line else len(line)
    ours, theirs = line[:border], line[border + 1:]
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--tutti", default=str(here / "../build/bin/tutti"))
    parser.add_argument("--model", type=pathlib.Path, help="begin with its weights, at the last training")
    parser.add_argument("--share", type=float, default=1, help="of the clips that are made")
    parser.add_argument("--corpus-only", action="store_true")
    options = parser.parse_args(ours)
    if not 0 < options.share <= 1:
        parser.error(f"--share: expected above 0 and at most 1, found {options.share}")
    if options.model and not (options.model / "config.json").exists():
        parser.error(f"--model: expected the folder of a model, found no config.json in {options.model}")
    options.work.mkdir(parents=True, exist_ok=True)
    if not (options.work / "eval.jsonl").exists():
        make_corpus(options.work, options.tutti, options.share, not options.model)
    if options.corpus_only:
        return 0
    eval_data = ["--eval-data", str(options.work / "eval.jsonl")]
    trainings = [("short", FIRST), ("train", eval_data), ("air", eval_data + LATE)]
    model = ["--model", str(options.model)] if options.model else []
    status = train_in_turn(options, here / "morse.toml", trainings[-1:] if options.model else trainings, model, theirs)
    if status:
        return status
    mark_as_keyed(options.work / "air" / "model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
