#!/usr/bin/env python3
"""Makes a corpus of Morse as it comes off the air and trains a model on it.

Usage: recipes/morse.py WORK [--tutti build/bin/tutti] [--model DIR] [--speech ../shared/data/speech] [--share SHARE]
                        [--corpus-only] [-- FLAG...]

Seven trainings follow one another: WORK/short on clips of up to 4 s, from which attention learns to listen at all, WORK/train
on clips of up to 28 s of all conditions of the band, WORK/air on what recordings off the air have (--air-share of 'tutti synth
morse'): noise louder than the tone, fading, near stations, narrow filters, hand keys, and contacts in which calls are sent
twice; WORK/finish on the same without what can only be guessed, half of it in noise of the whole band. WORK/tone learns the
keyed tone alone (src/audio/tone_filter.h), which the model's config asks for from then on: noise up to 7 dB over it, slow
keying, single words. WORK/deep goes on with deeper noise, fast keying, narrow filters, and seconds of noise before and behind a
text; WORK/last, at lower rates, adds sounds without any text: noise, carriers, and people who speak (--speech).
WORK/last/model is the model; its config says, too, that windows follow keying. With --model only the last five are run, from
that model's weights, and the last two alone where that model takes the keyed tone already.
WORK/eval.jsonl and, of the last three, WORK/tone-eval.jsonl are what evaluations while training take, and are not learned.
--share 0.1 makes a tenth of the clips. Everything follows from the seed below. A run that was ended goes on behind what it has
done. What stands behind -- goes to every 'tutti train whisper'.
"""
import argparse
import json
import pathlib
import sys

from command_line import add_program, parse_line
from nano import FIRST, SHORT_MORSE, morse_lines, train_in_turn, write_manifest

SEED, EVALUATED, TONE_EVALUATED = 20261129, 120, 100
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
# The keyed tone alone: noise that is louder than all of the above, slow keying, what a short window has.
HANDS = ["--contact-share", "0.65", "--hand-share", "0.4"]
NEAR = [*AIR, "--noise-db=-8:15", "--noise-share", "0.06"]
SPEEDS = [*HANDS, "--wpm-least", "8", "--wpm-most", "45"]
TONE = {"tone-near": ({"good": 4800}, 12, NEAR),
        "tone-deep": ({"clean": 3200, "good": 3200}, 12, [*SPEEDS, "--noise-db=-14:4", "--noise-share", "0.06"]),
        "tone-slow": ({"good": 2400}, 12,
                      ["--air-share", "0.7", *HANDS, "--wpm-least", "7", "--wpm-most", "14", "--noise-db=-8:20"]),
        "tone-calm": ({"clean": 1600, "good": 2400}, 12, SPEEDS),
        "tone-short": ({"good": 2400}, 5, NEAR),
        "tone-air": ({"good": 1600}, 12, AIR)}
# What the keyed tone was found to lack: beside more of the same, waits of seconds, fast keying in noise; and what is no Morse.
WAIT = ["--wait-share", "0.2"]
EMPTY = ["--noise-share", "1", "--carrier-share", "0.5", "--air-share", "0.5", "--noise-db=-10:30"]
END = {"end-near": ({"good": 5000}, 12, [*AIR, *WAIT, "--noise-db=-10:15"]),
       "end-deep": ({"clean": 4000, "good": 2000}, 12, [*SPEEDS, *WAIT, "--noise-db=-17:0"]),
       "end-narrow": ({"good": 2500}, 12, [*AIR, "--noise-db=-13:0"]),
       "end-fast": ({"clean": 1000, "good": 1500}, 12,
                    [*HANDS, "--air-share", "0.4", "--wpm-least", "28", "--wpm-most", "48", "--noise-db=-5:25"]),
       "end-slow": ({"good": 1500}, 12,
                    ["--air-share", "0.7", *HANDS, "--wpm-least", "7", "--wpm-most", "14", "--noise-db=-12:20"]),
       "end-calm": ({"clean": 1500, "good": 2000}, 12, SPEEDS),
       "end-short": ({"good": 2000}, 5, [*AIR, "--noise-db=-10:15"]),
       "end-wait": ({"clean": 1500, "good": 1500}, 12, [*SPEEDS, "--wait-share", "1", "--noise-db=-10:20"])}
NOTHING = {"end-empty": ({"clean": 600, "good": 600}, 12, EMPTY)}
SPOKEN = 3  # times that each clip of speech is learned
# The last trainings: the first at high rates until the finish, which lowers them and adds noise of the whole band.
LATE = ["--learning-rate", "8e-4", "--max-steps", "2750", "--schedule-steps", "5000", "--noise-share", "0.1",
        "--frame-weight", "0.3", "--timestamps", "0.2"]
FINISHING = ["--learning-rate", "4e-4", "--max-steps", "1900", "--schedule-steps", "0", "--warmup-steps", "50",
             "--noise-share", "0.45", "--noise-least-db=-14", "--noise-most-db", "12",
             "--frame-weight", "0.3", "--timestamps", "0.2"]
# Of the keyed tone alone: what changes audio does so before the tone is looked for.
LEARNING_TONE = ["--learning-rate", "6e-4", "--max-steps", "1700", "--schedule-steps", "0", "--warmup-steps", "50",
                 "--noise-share", "0.25", "--noise-least-db=-10", "--noise-most-db", "15", "--gain-share", "0",
                 "--room-share", "0.05", "--frame-weight", "0.3", "--timestamps", "0.1",
                 "--eval-steps", "1700"]  # of the last step alone: no earlier weights are the model
LEARNING_DEEP = [*LEARNING_TONE, "--learning-rate", "8e-4", "--max-steps", "2140", "--schedule-steps", "3900",
                 "--eval-steps", "2140", "--save-steps", "400"]
LEARNING_END = [*LEARNING_TONE, "--learning-rate", "3.6e-4", "--max-steps", "1250", "--eval-steps", "1250", "--save-steps", "400"]
# What src/transcribe reads in the model's config.json, and training as well.
KEYED, TONE_ALONE = {"tutti_vad_method": "keying"}, {"tutti_audio_filter": "keyed_tone"}


def corpus(work, tutti, parts, share, seed):
    lines = []
    for number, (name, (counts, longest, flags)) in enumerate(parts.items()):
        some = {condition: max(1, round(share * count)) for condition, count in counts.items()}
        lines += morse_lines(work, tutti, name, some, seed + 10 * number, longest, flags)
    return lines


def parted(lines, most):
    """What is learned, and what evaluations take: every so manieth line."""
    count = min(most, max(1, len(lines) // 10))  # of a small corpus a tenth: the most of it is learned
    evaluated = lines[:: max(1, len(lines) // count)][:count]
    taken = {line["id"] for line in evaluated}
    return [line for line in lines if line["id"] not in taken], evaluated


def make_tone_corpus(work, tutti, share):
    learned, evaluated = parted(corpus(work, tutti, TONE, share, SEED + 400), TONE_EVALUATED)
    write_manifest(work / "tone.jsonl", learned)
    write_manifest(work / "tone-eval.jsonl", evaluated)


def spoken_lines(speech):
    """Clips in which nothing is keyed: LJ001 and LJ002 of LJSpeech, and Hi-Fi TTS."""
    clips = sorted(speech.glob("lj/wavs/LJ00[12]-*.flac")) + sorted(speech.glob("hifitts/audio/*.wav"))
    line = {"text": "", "words": [], "sample_type": "noise_only"}
    return [{"id": f"spoken-{clip.stem}-{number}", "audio": str(clip.resolve()), **line}
            for number in range(SPOKEN) for clip in clips]


def make_end_corpus(work, tutti, share, speech):
    keyed, spoken = corpus(work, tutti, END, share, SEED + 500), spoken_lines(speech)
    write_manifest(work / "deep.jsonl", keyed)
    nothing = corpus(work, tutti, NOTHING, share, SEED + 500 + 10 * len(END))
    write_manifest(work / "last.jsonl", [*keyed, *nothing, *spoken[:round(share * len(spoken))]])


def make_corpus(work, tutti, share, is_new):
    learned, evaluated = parted(corpus(work, tutti, LAST, share, SEED + 200), EVALUATED)
    if is_new:
        write_manifest(work / "short.jsonl", corpus(work, tutti, SHORT, share, SEED))
        write_manifest(work / "train.jsonl", corpus(work, tutti, TRAIN, share, SEED + 100))
    write_manifest(work / "air.jsonl", learned)
    write_manifest(work / "finish.jsonl", corpus(work, tutti, FINISH, share, SEED + 300))
    write_manifest(work / "eval.jsonl", evaluated)  # last: a corpus that has it is whole


def config_of(model):
    return json.loads((model / "config.json").read_text())


def declare(model, facts):
    """Has the model's config have these facts."""
    config = config_of(model)
    if facts.items() <= config.items():
        return
    written = model / "config.json.new"
    written.write_text(json.dumps(config | facts, indent=1) + "\n")
    written.replace(model / "config.json")


def train_all(options, recipe, takes_tone, theirs):
    """The trainings of all sound, and then that of the keyed tone alone. Returns the exit status."""
    model = options.model
    if not takes_tone:
        eval_data = ["--eval-data", str(options.work / "eval.jsonl")]
        trainings = [("short", FIRST), ("train", eval_data), ("air", LATE), ("finish", eval_data + FINISHING)]
        status = train_in_turn(options, recipe, trainings[-2:] if model else trainings,
                               ["--model", str(model)] if model else [], theirs)
        if status:
            return status
        model = options.work / "finish" / "model"
        declare(model, KEYED | TONE_ALONE)
    eval_data = ["--eval-data", str(options.work / "tone-eval.jsonl")]
    trainings = [("tone", eval_data + LEARNING_TONE), ("deep", eval_data + LEARNING_DEEP), ("last", eval_data + LEARNING_END)]
    return train_in_turn(options, recipe, trainings[takes_tone:], ["--model", str(model)], theirs)


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path)
    add_program(parser)
    parser.add_argument("--model", type=pathlib.Path, help="begin with its weights, at the trainings that it lacks")
    parser.add_argument("--speech", type=pathlib.Path, default=here / "../../shared/data/speech", help="holds lj/ and hifitts/")
    parser.add_argument("--share", type=float, default=1, help="of the clips that are made")
    parser.add_argument("--corpus-only", action="store_true")
    options, theirs = parse_line(parser)
    if not 0 < options.share <= 1:
        parser.error(f"--share: expected above 0 and at most 1, found {options.share}")
    if options.model and not (options.model / "config.json").exists():
        parser.error(f"--model: expected the folder of a model, found no config.json in {options.model}")
    if not spoken_lines(options.speech):
        parser.error(f"--speech: expected recordings in lj/wavs or hifitts/audio, found none in {options.speech}")
    takes_tone = bool(options.model) and TONE_ALONE.items() <= config_of(options.model).items()
    options.work.mkdir(parents=True, exist_ok=True)
    if not takes_tone and not (options.work / "eval.jsonl").exists():
        make_corpus(options.work, options.tutti, options.share, not options.model)
    if not (options.work / "tone-eval.jsonl").exists():
        make_tone_corpus(options.work, options.tutti, options.share)
    if not (options.work / "last.jsonl").exists():
        make_end_corpus(options.work, options.tutti, options.share, options.speech)
    if options.corpus_only:
        return 0
    return train_all(options, here / "morse.toml", takes_tone, theirs)


if __name__ == "__main__":
    sys.exit(main())
