#!/usr/bin/env python3
"""Makes a corpus of Morse as it comes off the air and trains a model on it.

Usage: recipes/morse.py WORK [--tutti build/bin/tutti] [--model DIR] [--share SHARE] [--corpus-only] [-- FLAG...]

Four trainings follow one another: WORK/short on clips of up to 4 s, from which attention learns to listen at all, WORK/train
on clips of up to 28 s of all conditions of the band, WORK/air on what recordings off the air have (--air-share of 'tutti synth
morse'): noise louder than the tone, fading, near stations, narrow filters, hand keys, and contacts in which calls are sent
twice; WORK/finish on the same without what can only be guessed, half of it in noise of the whole band. WORK/finish/model is
the model; its config says that windows follow keying. With --model only the last two are run, from that model's weights.
WORK/eval.jsonl is what evaluations while training take, and is not learned. --share 0.1 makes a tenth of the clips. Everything
follows from the seed below. A run that was ended goes on behind what it has done.
What stands behind -- goes to every 'tutti train whisper'.
"""
import argparse
import json
import pathlib
import sys

from command_line import add_program, parse_line
from nano import FIRST, SHORT_MORSE, morse_lines, train_in_turn, write_manifest

SEED, EVALUATED = 20261129, 120
CONTACTS = ["--contact-share", "0.5", "--hand-share", "0.25"]
AIR = ["--air-share", "1", "--contact-share", "0.65", "--hand-share", "0.4", "--wpm-least", "8", "--wpm-most", "45"]
# name: (clips by condition, seconds at most, flags)
SHORT = {"short": (SHORT_MORSE, 4, ["--contact-share", "0.4", "--hand-share", "0.2"])}
TRAIN = {"bands": ({"clean": 3000, "good": 6000, "moderate": 4000, "poor": 2000, "dx": 2000}, 28, CONTACTS)}
LAST = {"air": ({"good": 20000}, 12, AIR),  # as long as the windows that follow keying
        "air-mid": ({"good": 3000}, 20, AIR),
        "air-long": ({"good": 1000}, 28, AIR),
        "air-narrow": ({"good": 3000}, 12, [*AIR, "--rate", "8000"]),
        "receivers": ({"good": 2000}, 12, [*CONTACTS, "--receiver-share", "1", "--noise-db=-3:15"]),
        "still": ({"clean": 2000, "good": 2000}, 16, CONTACTS)}
# What is finished with: nothing so deep in noise that only guessing is left, and more clips of noise alone.
FINISH = {"near": ({"good": 9000}, 12, [*AIR, "--noise-db=-8:15", "--noise-share", "0.08"]),
          "near-narrow": ({"good": 1500}, 12, [*AIR, "--noise-db=-8:15", "--noise-share", "0.08", "--rate", "8000"]),
          "calm": ({"clean": 1500, "good": 1500}, 12, CONTACTS)}
# The last trainings: the first at high rates until the finish, which lowers them and adds noise of the whole band.
LATE = ["--learning-rate", "8e-4", "--max-steps", "2750", "--schedule-steps", "5000", "--noise-share", "0.1",
        "--frame-weight", "0.3", "--timestamps", "0.2"]
FINISHING = ["--learning-rate", "4e-4", "--max-steps", "1900", "--schedule-steps", "0", "--warmup-steps", "50",
             "--noise-share", "0.45", "--noise-least-db=-14", "--noise-most-db", "12",
             "--frame-weight", "0.3", "--timestamps", "0.2"]
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
    write_manifest(work / "finish.jsonl", corpus(work, tutti, FINISH, share, SEED + 300))
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
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path)
    add_program(parser)
    parser.add_argument("--model", type=pathlib.Path, help="begin with its weights, at the last training")
    parser.add_argument("--share", type=float, default=1, help="of the clips that are made")
    parser.add_argument("--corpus-only", action="store_true")
    options, theirs = parse_line(parser)
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
    trainings = [("short", FIRST), ("train", eval_data), ("air", LATE), ("finish", eval_data + FINISHING)]
    model = ["--model", str(options.model)] if options.model else []
    status = train_in_turn(options, here / "morse.toml", trainings[-2:] if options.model else trainings, model, theirs)
    if status:
        return status
    mark_as_keyed(options.work / "finish" / "model")
    return 0


if __name__ == "__main__":
    sys.exit(main())
