#!/usr/bin/env python3
"""Makes the corpus of the model that ships and trains it: strings of spoken digits and Morse.

Usage: recipes/nano.py WORK [--digits ../shared/data/digits] [--tutti build/bin/tutti] [--corpus-only] [-- FLAG...]

WORK/train.jsonl and WORK/eval.jsonl are what is learned and judged, WORK/held-out.jsonl the 500 strings of recordings (0 to 4
of every speaker and digit) that are neither, WORK/train the training. Everything follows from the seed below.
What stands behind -- goes to 'tutti train whisper'.
"""
import argparse
import array
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import wave

SEED = 20251121
STRINGS, SHORT_STRINGS, JUDGED, HELD_OUT = 8000, 4000, 100, 500
MORSE = {"clean": 2000, "good": 6000, "moderate": 4000, "poor": 2000, "dx": 2000}
SHORT_MORSE = {"clean": 3000, "good": 5000}
RATE = 8000
HELD_OUT_NUMBERS, JUDGED_NUMBERS = range(5), range(5, 8)  # of every speaker and digit; the others are learned
WORDS = "zero one two three four five six seven eight nine".split()


def recordings(folder, wanted):
    """Samples by speaker, of the recordings whose number is wanted: [(digit, array of 16-bit samples)]."""
    speakers = {}
    for path in sorted(folder.glob("*.wav")):
        digit, speaker, number = path.stem.split("_")
        if not wanted(int(number)):
            continue
        with wave.open(str(path)) as file:
            assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2), path
            speakers.setdefault(speaker, []).append((int(digit), array.array("h", file.readframes(file.getnframes()))))
    return speakers


def with_noise(samples, decibels, draw):
    power = sum(s * s for s in samples) / len(samples)
    deviation = math.sqrt(power / 10 ** (decibels / 10))
    return array.array("h", (max(-32768, min(32767, round(s + draw.gauss(0, deviation)))) for s in samples))


def string_of(speakers, draw, digits, noisy):
    """So many recordings of one speaker, 50 to 400 ms apart."""
    voice = speakers[draw.choice(sorted(speakers))]
    gap = lambda: array.array("h", bytes(2 * int(RATE * draw.uniform(0.05, 0.4))))
    samples, words = gap(), []
    for _ in range(draw.randint(*digits)):
        digit, sound = draw.choice(voice)
        samples.extend(sound)
        samples.extend(gap())
        words.append(WORDS[digit])
    return (with_noise(samples, draw.uniform(10, 30), draw) if noisy else samples), " ".join(words)


def write_strings(work, name, count, speakers, seed, digits=(3, 8), noisy=False):
    folder = work / name
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    for number in range(count):
        samples, text = string_of(speakers, draw, digits, noisy)
        path = folder / f"{number:05}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(samples.tobytes())
        yield {"id": f"{name}-{number:05}", "audio": f"{name}/{path.name}", "text": text, "condition": "digits",
               "duration": len(samples) / RATE}


def morse_lines(work, tutti, name, counts, seed, longest):
    for number, (condition, count) in enumerate(counts.items()):
        folder = work / name / condition
        subprocess.run([tutti, "synth", "morse", "--count", str(count), "--seed", str(seed + number), "--condition", condition,
                        "--longest", str(longest), "--plain-share", "0.4", "--noise-share", "0.03", "--format", "flac", "--out", str(folder)], check=True)
        with open(folder / "metadata.csv", newline="") as file:
            for row in csv.DictReader(file):
                yield {"id": f"{name}-{condition}-{row['id']}", "audio": f"{name}/{condition}/audio/{pathlib.Path(row['audio_file']).name}",
                       "text": row["text"], "sample_type": row["sample_type"], "condition": row["condition"],
                       "duration": float(row["duration"])}


def write_manifest(path, lines):
    with open(path, "w") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")


def make_corpus(work, digits, tutti):
    held_out = recordings(digits, lambda number: number in HELD_OUT_NUMBERS)
    judged = recordings(digits, lambda number: number in JUDGED_NUMBERS)
    learned = recordings(digits, lambda number: number not in HELD_OUT_NUMBERS and number not in JUDGED_NUMBERS)
    short = list(write_strings(work, "short-digits", SHORT_STRINGS, learned, SEED + 3, digits=(1, 3)))
    short += morse_lines(work, tutti, "short-morse", SHORT_MORSE, SEED + 10, 4)
    write_manifest(work / "short.jsonl", short)
    strings = list(write_strings(work, "digits", STRINGS, learned, SEED))
    judged_strings = list(write_strings(work, "judged", JUDGED, judged, SEED + 1, noisy=True))
    write_manifest(work / "held-out.jsonl", write_strings(work, "held-out", HELD_OUT, held_out, SEED + 2, noisy=True))
    morse = list(morse_lines(work, tutti, "morse", MORSE, SEED + 20, 28))
    judged_morse = morse[:: len(morse) // JUDGED][:JUDGED]
    taken = {line["id"] for line in judged_morse}
    write_manifest(work / "train.jsonl", strings + [line for line in morse if line["id"] not in taken])
    write_manifest(work / "eval.jsonl", [line for both in zip(judged_strings, judged_morse) for line in both])


def main():
    line = sys.argv[1:]
    border = line.index("--") if "--" in line else len(line)
    ours, theirs = line[:border], line[border + 1:]
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--digits", type=pathlib.Path, default=here / "../../shared/data/digits")
    parser.add_argument("--tutti", default=str(here / "../build/bin/tutti"))
    parser.add_argument("--corpus-only", action="store_true")
    options = parser.parse_args(ours)
    if not (options.work / "train.jsonl").exists():
        make_corpus(options.work, options.digits, options.tutti)
    if options.corpus_only:
        return 0
    return subprocess.run([options.tutti, "train", "whisper", "--config", str(here / "nano.toml"), "--data",
                           str(options.work / "train.jsonl"), "--eval-data", str(options.work / "eval.jsonl"), "--out",
                           str(options.work / "train"), *theirs]).returncode


if __name__ == "__main__":
    sys.exit(main())
