#!/usr/bin/env python3
"""Makes the corpus of the model that ships and trains it: strings of spoken digits and Morse.

Usage: recipes/nano.py WORK [--digits ../shared/data/digits] [--tutti build/bin/tutti] [--without SPEAKER]
                       [--digits-only] [--corpus-only|--held-out-only] [-- FLAG...]

WORK/train.jsonl and WORK/eval.jsonl are what is learned and judged, WORK/held-out.jsonl the 500 strings of recordings (0 to 4
of every speaker and digit) that are neither. Three trainings follow one another: WORK/short on clips of up to 4 s, from which
attention learns to listen at all, WORK/train on all, WORK/last also on Morse in louder noise, and at the digits' own rate
(WORK/last.jsonl); WORK/last/model is the model. WORK/recordings.sha256 says which recordings of digits went
into what is learned and judged; it belongs beside the model. Everything follows from the seed below.
With --without SPEAKER nothing of that speaker is learned, and the 500 strings are of that speaker alone. With --digits-only no
Morse is made or learned, which takes a fifth of the steps; there is no third training then, and WORK/train/model is the model.
Each of these wants a WORK of its own: a corpus that is there is not made again.
What stands behind -- goes to 'tutti train whisper'.
"""
import argparse
import array
import csv
import hashlib
import json
import math
import pathlib
import random
import subprocess
import sys
import wave

from command_line import add_program, parse_line

SEED = 20251121
STRINGS, SHORT_STRINGS, JUDGED, HELD_OUT = 8000, 8000, 100, 500
MORSE = {"clean": 2000, "good": 6000, "moderate": 4000, "poor": 2000, "dx": 2000}
SHORT_MORSE = {"clean": 8000, "good": 16000, "moderate": 6000}
# What is learned at last: louder noise than conditions have, recordings of half the rate, as the digits' are, and receivers
# that cut the band anywhere and are driven too far.
LATE_MORSE = {"loud": ({"good": 3000}, ["--noise-db=-3:10"]),
              "narrow": ({"clean": 1500, "good": 1500, "poor": 1500}, ["--rate", "8000"]),
              "loud-narrow": ({"clean": 1500, "good": 3000}, ["--rate", "8000", "--noise-db=-3:10"]),
              "receivers": ({"clean": 1500, "good": 1500, "moderate": 1000}, ["--receiver-share", "1", "--noise-db=-3:15"]),
              "receivers-narrow": ({"clean": 2000, "good": 2000},
                                   ["--receiver-share", "1", "--noise-db=-3:15", "--rate", "8000"])}
# How the short clips are learned: in many small steps, without times in the text, and each letter where it is heard.
FIRST = ["--batch-size", "12", "--batch-seconds", "36", "--window-share", "0.002", "--timestamps", "0",
         "--frame-weight", "1", "--learning-rate", "2e-3", "--schedule", "constant", "--warmup-steps", "100",
         "--max-steps", "8000", "--schedule-steps", "0", "--ema", "0", "--eval-steps", "0", "--export-type", "float32", "--save-steps", "2000"]
# How what all have in common is finished: with noise, at small rates.
LAST = ["--learning-rate", "3e-4", "--max-steps", "4000", "--schedule-steps", "0", "--frame-weight", "0"]
# Of digits alone: enough to tell voices that are known from one that is not (models/nano/README.md).
FEWER = ["--max-steps", "2000", "--schedule-steps", "0"]
RATE = 8000
HELD_OUT_NUMBERS, JUDGED_NUMBERS = range(5), range(5, 8)  # of every speaker and digit; the others are learned
WORDS = "zero one two three four five six seven eight nine".split()


class Parts:
    """Which recordings are learned, judged by while training, and held out: wanted(speaker, number) of each part."""

    def __init__(self, left_out):
        def is_held_out(speaker, number):
            return speaker == left_out if left_out else number in HELD_OUT_NUMBERS

        self.held_out = is_held_out
        self.used = lambda speaker, number: not is_held_out(speaker, number)
        self.judged = lambda speaker, number: self.used(speaker, number) and number in JUDGED_NUMBERS
        self.learned = lambda speaker, number: (self.used(speaker, number) and number not in JUDGED_NUMBERS
                                                and number not in HELD_OUT_NUMBERS)


def chosen(folder, wanted):
    """The recordings that are wanted: "7_theo_3.wav" is number 3 of Theo's sevens."""
    def facts(path):
        _, speaker, number = path.stem.split("_")
        return speaker, int(number)

    return [path for path in sorted(folder.glob("*.wav")) if wanted(*facts(path))]


def recordings(folder, wanted):
    """Samples by speaker, of the recordings that are wanted: [(digit, array of 16-bit samples)]."""
    speakers = {}
    for path in chosen(folder, wanted):
        digit, speaker, _ = path.stem.split("_")
        with wave.open(str(path)) as file:
            assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2), path
            speakers.setdefault(speaker, []).append((int(digit), array.array("h", file.readframes(file.getnframes()))))
    return speakers


class Noise:
    """Noise of the recordings' own rate, as strong as they are less so many decibels. What is judged gets new noise, what is
    learned pieces of one long noise, in a tenth of the time."""

    def __init__(self, share, least, most, stock=None):
        self.share, self.least, self.most, self.stock = share, least, most, stock

    def add(self, samples, draw):
        if self.share < 1 and draw.random() >= self.share:
            return samples
        power = sum(s * s for s in samples) / len(samples)
        deviation = math.sqrt(power / 10 ** (draw.uniform(self.least, self.most) / 10))
        if self.stock is None:
            noise = (draw.gauss(0, deviation) for _ in samples)
        else:
            start = draw.randrange(len(self.stock) - len(samples))
            noise = (deviation * value for value in self.stock[start : start + len(samples)])
        return array.array("h", (max(-32768, min(32767, round(s + n))) for s, n in zip(samples, noise)))


JUDGED_NOISE = Noise(1, 10, 30)


def string_of(speakers, draw, digits):
    """So many recordings of one speaker, 50 to 400 ms apart."""
    voice = speakers[draw.choice(sorted(speakers))]
    gap = lambda: array.array("h", bytes(2 * int(RATE * draw.uniform(0.05, 0.4))))
    samples, words = gap(), []
    for _ in range(draw.randint(*digits)):
        digit, sound = draw.choice(voice)
        start = len(samples) / RATE
        samples.extend(sound)
        words.append({"word": " " + WORDS[digit], "start": start, "end": len(samples) / RATE})
        samples.extend(gap())
    return samples, words


def write_strings(work, name, count, speakers, seed, noise, digits=(3, 8)):
    folder = work / name
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    for number in range(count):
        samples, words = string_of(speakers, draw, digits)
        samples = noise.add(samples, draw)
        path = folder / f"{number:05}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(samples.tobytes())
        yield {"id": f"{name}-{number:05}", "audio": f"{name}/{path.name}", "condition": "digits",
               "text": "".join(word["word"] for word in words).strip(), "words": words, "duration": len(samples) / RATE}


def morse_lines(work, tutti, name, counts, seed, longest, more=()):
    for number, (condition, count) in enumerate(counts.items()):
        folder = work / name / condition
        if not (folder / "metadata.csv").exists():  # written last: a run that was killed goes on behind it
            subprocess.run([tutti, "synth", "morse", "--count", str(count), "--seed", str(seed + number), "--condition",
                            condition, "--longest", str(longest), "--plain-share", "0.4", "--noise-share", "0.03",
                            "--letter-times", "--format", "flac", *more, "--out", str(folder)], check=True)
        with open(folder / "metadata.csv", newline="") as file:
            for row in csv.DictReader(file):
                times = json.loads((folder / "transcripts" / f"{row['id']}.json").read_text())
                words = [{key: word[key] for key in ("word", "start", "end")}
                         for segment in times["segments"] for word in segment["words"]]
                yield {"id": f"{name}-{condition}-{row['id']}",
                       "audio": f"{name}/{condition}/audio/{pathlib.Path(row['audio_file']).name}", "text": row["text"],
                       "words": words, "sample_type": row["sample_type"], "condition": row["condition"],
                       "duration": float(row["duration"])}


def write_manifest(path, lines):
    written = path.with_name(path.name + ".new")
    with open(written, "w") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
    written.replace(path)  # what is there is whole


def write_used(path, digits, parts):
    """Everything that is learned or judged by, as sha256sum writes it."""
    used = chosen(digits, lambda speaker, number: parts.learned(speaker, number) or parts.judged(speaker, number))
    path.write_text("".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in used))


def write_held_out(work, digits, parts):
    strings = write_strings(work, "held-out", HELD_OUT, recordings(digits, parts.held_out), SEED + 2, JUDGED_NOISE)
    write_manifest(work / "held-out.jsonl", strings)


def make_corpus(work, digits, tutti, parts, digits_only):
    judged, learned = recordings(digits, parts.judged), recordings(digits, parts.learned)
    draw = random.Random(SEED + 4)
    noise = Noise(0.75, 8, 33, [draw.gauss(0, 1) for _ in range(1 << 20)])
    short = list(write_strings(work, "short-digits", SHORT_STRINGS, learned, SEED + 3, noise, digits=(1, 3)))
    strings = list(write_strings(work, "digits", STRINGS, learned, SEED, noise))
    judged_strings = list(write_strings(work, "judged", JUDGED, judged, SEED + 1, JUDGED_NOISE))
    if digits_only:
        for name, lines in (("short", short), ("train", strings), ("eval", judged_strings)):
            write_manifest(work / f"{name}.jsonl", lines)
        return
    short += morse_lines(work, tutti, "short-morse", SHORT_MORSE, SEED + 10, 4)
    write_manifest(work / "short.jsonl", short)
    morse = list(morse_lines(work, tutti, "morse", MORSE, SEED + 20, 28))
    judged_morse = morse[:: len(morse) // JUDGED][:JUDGED]
    taken = {line["id"] for line in judged_morse}
    learned_morse = [line for line in morse if line["id"] not in taken]
    late = []
    for number, (name, (counts, more)) in enumerate(LATE_MORSE.items()):
        late += morse_lines(work, tutti, f"{name}-morse", counts, SEED + 30 + 10 * number, 16, more)
    write_manifest(work / "train.jsonl", strings + learned_morse)
    write_manifest(work / "last.jsonl", strings + learned_morse[::2] + late)
    write_manifest(work / "eval.jsonl", [line for both in zip(judged_strings, judged_morse) for line in both])


def train_in_turn(options, recipe, trainings, model, more):
    """Runs trainings, (name, flags) each, from WORK/NAME.jsonl into WORK/NAME; each begins with the model of the one before, the
    first with what the flags `model` name. Those that are done stay, one that was ended goes on. Returns the exit status."""
    for name, flags in trainings:
        out = options.work / name
        if not (out / "done").exists():
            resumed = ["--resume"] if (out / "checkpoints").exists() else []
            status = subprocess.run([options.tutti, "train", "whisper", "--config", str(recipe), *flags, *model,
                                     "--data", str(options.work / f"{name}.jsonl"), "--out", str(out), *resumed,
                                     *more]).returncode
            if status:
                return status
            (out / "done").touch()
        model = ["--model", str(out / "model")]
    return 0


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--digits", type=pathlib.Path, default=here / "../../shared/data/digits")
    add_program(parser)
    parser.add_argument("--without", metavar="SPEAKER", help="learn nothing of this speaker, and hold out nobody else")
    parser.add_argument("--digits-only", action="store_true", help="without Morse, in a fifth of the steps")
    parser.add_argument("--corpus-only", action="store_true")
    parser.add_argument("--held-out-only", action="store_true", help="make WORK/held-out.jsonl and nothing else")
    options, theirs = parse_line(parser)
    options.work.mkdir(parents=True, exist_ok=True)
    parts = Parts(options.without)
    if not chosen(options.digits, parts.held_out):
        parser.error(f"{options.digits}: holds no recordings" + (f" of {options.without}" if options.without else ""))
    write_held_out(options.work, options.digits, parts)
    if options.held_out_only:
        return 0
    write_used(options.work / "recordings.sha256", options.digits, parts)
    if not (options.work / "eval.jsonl").exists():
        make_corpus(options.work, options.digits, options.tutti, parts, options.digits_only)
    if options.corpus_only:
        return 0
    eval_data = ["--eval-data", str(options.work / "eval.jsonl")]
    trainings = [("short", FIRST), ("train", eval_data), ("last", eval_data + LAST)]
    if options.digits_only:
        trainings = [(name, flags + FEWER) for name, flags in trainings[:2]]
    return train_in_turn(options, here / "nano.toml", trainings, [], theirs)


if __name__ == "__main__":
    sys.exit(main())
