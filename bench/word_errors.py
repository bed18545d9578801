#!/usr/bin/env python3
"""Word error rate of every compute type beside float32's: on real English, the 74 clips LJ003-* of the shared LJSpeech set with
OpenAI's complete tiny.en, and on the 500 strings of spoken digits that recipes/nano.py holds out.

Usage: bench/word_errors.py [--tutti build/bin/tutti] [--data ../shared/data] [--model DIR] [--sets english,digits] [TYPE...]

TYPE: bfloat16 and int8 where none is named; float32 is always measured, first. Each window is decoded greedily at temperature 0
alone, without the text before it, file by file, so that every run finds the same. The English clips are read --starts
times, from 30 ms later each time, because one reading is not enough: a near tie may fall the other way, in float32 as well. Prints
a line per reading, and of every type the mean and the median of the points by which it is above float32 in the same reading. Exit
status 1 where the median is more than half a point. Without --model English is read by the model of tools/fetch_model.py, digits by
the shared test model. A reading of English takes three minutes on two cores with AVX2.
"""
import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import typing

HERE = pathlib.Path(__file__).resolve().parent
MOST_POINTS = 0.5
SECONDS_BETWEEN_STARTS = 0.03


def english(data, _work):
    """[(file, what was read)] of the clips whose texts are true."""
    folder = data / "speech/lj"
    rows = [line.split("|") for line in (folder / "metadata.csv").read_text().splitlines()]
    return [(folder / "wavs" / f"{row[0]}.flac", row[-1]) for row in rows if row[0].startswith("LJ003-")]


def digits(data, work):
    subprocess.run([sys.executable, HERE.parent / "recipes/nano.py", work, "--digits", data / "digits", "--held-out-only"],
                   check=True)
    lines = [json.loads(line) for line in (work / "held-out.jsonl").read_text().splitlines()]
    return [(work / line["audio"], line["text"]) for line in lines]


def fetched_model(_data):
    printed = subprocess.run([HERE.parent / "tools/fetch_model.py", "--print"], check=True, capture_output=True, text=True)
    return pathlib.Path(printed.stdout.strip())


@dataclasses.dataclass(frozen=True)
class Set:
    spoken: typing.Callable  # of the data folder and a place to work in: [(file, text)]
    model: typing.Callable  # of the data folder
    normalizer: str
    has_starts: bool


SETS = {"english": Set(english, fetched_model, "english", True),
        "digits": Set(digits, lambda data: data / "whisper-tiny.en", "basic", False)}


def transcribed(options, name, compute_type, files, start, out):
    """What `tutti transcribe` makes of each file from `start` seconds on, on one line each."""
    model = options.model or SETS[name].model(options.data)
    subprocess.run([options.tutti, "transcribe", "--model", model, "--compute-type", compute_type, "--language", "en",
                    "--beam-size", "None", "--temperature", "0", "--temperature-increment-on-fallback", "None",
                    "--condition-on-previous-text", "False", "--clip-timestamps", f"{start:.2f}", "--files-at-once", "1",
                    "--output-format", "txt", "--output-dir", out, "--quiet", *files], check=True)
    return [" ".join((out / f"{file.stem}.txt").read_text().split()) for file in files]


def word_error_rate(options, name, compute_type, spoken, start, work):
    """Of all files together, in percent."""
    texts = transcribed(options, name, compute_type, [file for file, _ in spoken], start, work / compute_type)
    references, found = work / "references.txt", work / "found.txt"
    references.write_text("".join(text + "\n" for _, text in spoken))
    found.write_text("".join(text + "\n" for text in texts))
    rates = subprocess.run([options.tutti, "wer", "--by-line", "--normalizer", SETS[name].normalizer, "--json", "--ref", references,
                            "--hyp", found], check=True, capture_output=True, text=True)
    return 100 * json.loads(rates.stdout)["wer"]


def compare(options, name, work):
    """The types whose median reading is more than MOST_POINTS above float32's."""
    spoken = SETS[name].spoken(options.data, work)
    above = {compute_type: [] for compute_type in options.types}
    for reading in range(options.starts if SETS[name].has_starts else 1):
        start = reading * SECONDS_BETWEEN_STARTS
        exact = word_error_rate(options, name, "float32", spoken, start, work)
        line = f"{name}, from {start:.2f} s: float32 {exact:.2f} %"
        for compute_type, points in above.items():
            points.append(word_error_rate(options, name, compute_type, spoken, start, work) - exact)
            line += f", {compute_type} {exact + points[-1]:.2f} %"
        print(line, flush=True)
    for compute_type, points in above.items():
        print(f"{name}: {compute_type} {statistics.mean(points):+.2f} points, the median {statistics.median(points):+.2f}, "
              f"least {min(points):+.2f}, most {max(points):+.2f}", flush=True)
    return [f"{compute_type} on {name}" for compute_type, points in above.items() if statistics.median(points) > MOST_POINTS]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default=HERE.parent / "build/bin/tutti")
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "../shared/data")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--sets", default="english")
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("types", nargs="*", default=["bfloat16", "int8"])
    options = parser.parse_args()
    options.sets = options.sets.split(",")
    if options.starts < 1:
        parser.error(f"--starts: expected 1 or more, found {options.starts}")
    if unknown := set(options.sets) - SETS.keys():
        parser.error(f"--sets: expected {' or '.join(SETS)}, found {', '.join(sorted(unknown))}")
    return options


def main():
    options, worse = arguments(), []
    for name in options.sets:
        with tempfile.TemporaryDirectory() as work:
            worse += compare(options, name, pathlib.Path(work))
    if worse:
        print(f"more than {MOST_POINTS} points above float32: {', '.join(worse)}")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
