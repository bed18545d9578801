#!/usr/bin/env python3
"""Word error rate of every compute type beside float32's: on the clips of the shared test model, and on the 500 strings of
spoken digits that recipes/nano.py holds out.

Usage: bench/word_errors.py [--tutti build/bin/tutti] [--data ../shared/data] [--model DIR] [--sets clips,digits] [TYPE...]

TYPE: bfloat16 and int8 where none is named; float32 is always measured, first. Each window is decoded greedily at temperature 0
alone, without the text before it, file by file, so that a run says what the last one said. The clips are read --starts times, from
30 ms later each time, because one reading tells little: a near tie that falls the other way may begin a loop, in float32 as well,
and a loop is worth ten points. Prints a line per reading, and of every type the mean and the median of the points by which it is
above float32 in the same reading. Exit status 1 where the median is more than half a point. Eight readings of the clips take
five minutes on two cores, the digits some more.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MOST_POINTS = 0.5
SECONDS_BETWEEN_STARTS = 0.03


def clips(data, _work):
    """[(file, what was said)] of the clips in which something was said."""
    folder = data / "whisper-tiny.en/clips"
    texts = json.loads((folder / "texts.json").read_text())
    return [(folder / name, facts["text"]) for name, facts in texts.items() if facts.get("text")]


def digits(data, work):
    subprocess.run([sys.executable, HERE.parent / "recipes/nano.py", work, "--digits", data / "digits", "--held-out-only"],
                   check=True)
    lines = [json.loads(line) for line in (work / "held-out.jsonl").read_text().splitlines()]
    return [(work / line["audio"], line["text"]) for line in lines]


SETS = {"clips": clips, "digits": digits}


def heard(asked, compute_type, files, start, out):
    """What `tutti transcribe` makes of each file from `start` seconds on, on one line each."""
    subprocess.run([asked.tutti, "transcribe", "--model", asked.model, "--compute-type", compute_type, "--language", "en",
                    "--beam-size", "None", "--temperature", "0", "--temperature-increment-on-fallback", "None",
                    "--condition-on-previous-text", "False", "--clip-timestamps", f"{start:.2f}", "--files-at-once", "1",
                    "--output-format", "txt", "--output-dir", out, "--quiet", *files], check=True)
    return [" ".join((out / f"{file.stem}.txt").read_text().split()) for file in files]


def word_error_rate(asked, compute_type, spoken, start, work):
    """Of all files together, in percent."""
    texts = heard(asked, compute_type, [file for file, _ in spoken], start, work / compute_type)
    said, found = work / "said.txt", work / "heard.txt"
    said.write_text("".join(text + "\n" for _, text in spoken))
    found.write_text("".join(text + "\n" for text in texts))
    told = subprocess.run([asked.tutti, "wer", "--by-line", "--normalizer", "basic", "--json", "--ref", said, "--hyp", found],
                          check=True, capture_output=True, text=True)
    return 100 * json.loads(told.stdout)["wer"]


def compare(asked, name, work):
    """The types whose median reading is more than MOST_POINTS above float32's."""
    spoken = SETS[name](asked.data, work)
    above = {compute_type: [] for compute_type in asked.types}
    for reading in range(asked.starts if name == "clips" else 1):
        start = reading * SECONDS_BETWEEN_STARTS
        exact = word_error_rate(asked, "float32", spoken, start, work)
        line = f"{name}, from {start:.2f} s: float32 {exact:.2f} %"
        for compute_type, points in above.items():
            points.append(word_error_rate(asked, compute_type, spoken, start, work) - exact)
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
    parser.add_argument("--sets", default="clips,digits")
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("types", nargs="*", default=["bfloat16", "int8"])
    asked = parser.parse_args()
    asked.model = asked.model or asked.data / "whisper-tiny.en"
    asked.sets = asked.sets.split(",")
    if asked.starts < 1:
        parser.error(f"--starts: expected 1 or more, found {asked.starts}")
    if unknown := set(asked.sets) - SETS.keys():
        parser.error(f"--sets: expected {' or '.join(SETS)}, found {', '.join(sorted(unknown))}")
    return asked


def main():
    asked, worse = arguments(), []
    for name in asked.sets:
        with tempfile.TemporaryDirectory() as work:
            worse += compare(asked, name, pathlib.Path(work))
    if worse:
        print(f"more than {MOST_POINTS} points above float32: {', '.join(worse)}")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
