#!/usr/bin/env python3
"""Word error rate of every compute type beside float32's: on the clips of the shared test model, and on the 500 strings of
spoken digits that recipes/nano.py holds out.

Usage: bench/word_errors.py [--tutti build/bin/tutti] [--data ../shared/data] [--model DIR] [--sets clips,digits] [TYPE...]

Prints a line per set and type: words, word error rate, and by how many points it is above float32's. Exit status 1 where that is
more than half a point. TYPE: bfloat16 and int8 where none is named; float32 is always measured, first. Each window is decoded
greedily at temperature 0 alone, file by file, so that a run says what the last one said. Both sets of all three take some ten
minutes on two cores, the clips alone one.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MOST_POINTS = 0.5


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


def heard(asked, compute_type, files, out):
    """What `tutti transcribe` makes of each file, on one line each."""
    subprocess.run([asked.tutti, "transcribe", "--model", asked.model, "--compute-type", compute_type, "--language", "en",
                    "--beam-size", "None", "--temperature", "0", "--temperature-increment-on-fallback", "None",
                    "--files-at-once", "1", "--output-format", "txt", "--output-dir", out, "--quiet", *files], check=True)
    return [" ".join((out / f"{file.stem}.txt").read_text().split()) for file in files]


def word_errors(asked, compute_type, spoken, work):
    """{"wer", "words"} over all files together."""
    texts = heard(asked, compute_type, [file for file, _ in spoken], work / compute_type)
    said, found = work / "said.txt", work / "heard.txt"
    said.write_text("".join(text + "\n" for _, text in spoken))
    found.write_text("".join(text + "\n" for text in texts))
    told = subprocess.run([asked.tutti, "wer", "--by-line", "--normalizer", "basic", "--json", "--ref", said, "--hyp", found],
                          check=True, capture_output=True, text=True)
    return json.loads(told.stdout)


def compare(asked, name, work):
    """The types that are more than MOST_POINTS above float32."""
    spoken = SETS[name](asked.data, work)
    exact = word_errors(asked, "float32", spoken, work)
    print(f"{name}: float32 {100 * exact['wer']:.2f} % of {exact['words']} words", flush=True)
    worse = []
    for compute_type in asked.types:
        above = 100 * (word_errors(asked, compute_type, spoken, work)["wer"] - exact["wer"])
        print(f"{name}: {compute_type} {100 * exact['wer'] + above:.2f} %, {above:+.2f} points", flush=True)
        if above > MOST_POINTS:
            worse.append(f"{compute_type} on {name}")
    return worse


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutti", default=HERE.parent / "build/bin/tutti")
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "../shared/data")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--sets", default="clips,digits")
    parser.add_argument("types", nargs="*", default=["bfloat16", "int8"])
    asked = parser.parse_args()
    asked.model = asked.model or asked.data / "whisper-tiny.en"
    asked.sets = asked.sets.split(",")
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
