#!/usr/bin/env python3
"""Makes the set of spoken digits, trains a classifier of it by digits.toml, and names what was held out.

Usage: recipes/digits.py WORK [--digits ../shared/data/digits] [--tutti build/bin/tutti] [--without SPEAKER] [-- FLAG...]

Recordings 0 to 4 of every speaker and digit are held out for the test, 5 to 9 choose the best network, the others are learned. With
--without SPEAKER everything of that speaker is held out instead, and nothing else is. WORK/list.csv says which is which, WORK/set is
the set, WORK/train/model the classifier. The last line is what 'tutti evaluate' finds of the recordings held out.
What stands behind -- goes to 'tutti train classifier' (--max-minutes 3, --resume).
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

from command_line import add_program, parse_line

HELD_OUT, CHOOSING = range(0, 5), range(5, 10)  # recordings


def part_of(speaker, number, without):
    if (speaker == without) if without else (number in HELD_OUT):
        return "test"
    return "validation" if number in CHOOSING else "train"


def write_list(path, digits, without):
    names = sorted(digits.glob("*_*_*.wav"))
    if not names:
        sys.exit(f"digits: {digits} has no recordings called DIGIT_SPEAKER_NUMBER.wav; name another folder with --digits")
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["path", "label", "split"])
        for name in names:
            digit, speaker, number = name.stem.split("_")
            lines.writerow([name.resolve(), digit, part_of(speaker, int(number), without)])


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--digits", type=pathlib.Path, default=here.parent / "../shared/data/digits")
    add_program(parser)
    parser.add_argument("--without", default="", metavar="SPEAKER")
    options, more = parse_line(parser)
    work, tutti = options.work, options.tutti
    work.mkdir(parents=True, exist_ok=True)
    write_list(work / "list.csv", options.digits, options.without)
    subprocess.run([tutti, "prepare", "classifier", "--data", work / "list.csv", "--out", work / "set"], check=True)
    recipe = [] if "--resume" in more else ["--config", here / "digits.toml", "--data", work / "set"]
    subprocess.run([tutti, "train", "classifier", "--out", work / "train", *recipe, *more], check=True)
    end = subprocess.run([tutti, "evaluate", "--model", work / "train/model", "--data", work / "set", "--json"],
                         check=True, capture_output=True, text=True)
    scores = json.loads(end.stdout)
    held_out = f"speaker {options.without}" if options.without else "recordings 0 to 4 of every speaker"
    print(f"held out: {held_out}: {scores['files']} files, {100 * scores['accuracy']:.2f} % named right")


if __name__ == "__main__":
    main()
