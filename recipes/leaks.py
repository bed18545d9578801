#!/usr/bin/env python3
"""Makes a corpus of synthetic pipes, trains a classifier of it by leaks.toml, and names the clips of another corpus.

Usage: recipes/leaks.py WORK [--tutti build/bin/tutti] [--threads N] [--held-out-only MODEL] [-- FLAG...]

WORK/learn has 2,400 clips at 48 sensors, WORK/held 600 clips of another seed at 24 other sensors, none of which is learned or chooses
the network. WORK/train/model is the classifier. It knows `tutti synth leaks` and nothing else. The last lines are how many of the clips
held out it names right, and how well it finds LEAK, by how far the labelled sound is above all others.
--held-out-only does no more than that, with the classifier MODEL. What stands behind -- goes to 'tutti train classifier'.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

from command_line import add_program, parse_line

HERE = pathlib.Path(__file__).resolve().parent
CORPORA = {"learn": (2400, 29, 48), "held": (600, 1029, 24)}  # clips, seed, sensors
CONDITIONS = ["clean", "good", "moderate", "poor", "dx"]
OUT_OF_WATER = "1"  # gain in dB: the preparation leaves these out, too


def make(options, name):
    count, seed, sensors = CORPORA[name]
    if (options.work / name / "metadata.csv").exists():
        return
    subprocess.run([options.tutti, "synth", "leaks", "--count", str(count), "--seed", str(seed), "--sensors", str(sensors),
                    "--threads", str(options.threads), "--out", options.work / name], check=True)


def answers(options, model):
    """(row of metadata.csv, answer) of every clip held out that was recorded in water."""
    with (options.work / "held/metadata.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["gain_db"] != OUT_OF_WATER]
    files = [options.work / "held" / row["audio_file"] for row in rows]
    end = subprocess.run([options.tutti, "classify", "--model", model, "--threads", str(options.threads), "--json", "-"], check=True,
                         input="".join(f"{file}\n" for file in files), capture_output=True, text=True)
    return list(zip(rows, map(json.loads, end.stdout.splitlines()), strict=True))


def show(name, pairs):
    right = sum(row["label"] == answer["label"] for row, answer in pairs)
    leaks = [row["label"] == "LEAK" for row, _ in pairs]
    named = [answer["label"] == "LEAK" for _, answer in pairs]
    found = sum(map(lambda leak, name: leak and name, leaks, named))
    print(f"{name:10}{len(pairs):5} clips   named right {100 * right / len(pairs):5.1f} %   "
          f"LEAK: found {found} of {sum(leaks)}, {sum(named) - found} others taken for it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    add_program(parser)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--held-out-only", type=pathlib.Path, metavar="MODEL")
    options, more = parse_line(parser)
    options.work.mkdir(parents=True, exist_ok=True)
    make(options, "held")
    model = options.held_out_only
    if not model:
        make(options, "learn")
        if not (options.work / "set/TRAINING_DATASET.H5").exists():
            subprocess.run([options.tutti, "prepare", "classifier", "--data", options.work / "learn", "--out", options.work / "set",
                            "--threads", str(options.threads)], check=True)
        recipe = [] if "--resume" in more else ["--config", HERE / "leaks.toml", "--data", options.work / "set"]
        subprocess.run([options.tutti, "train", "classifier", "--out", options.work / "train", "--compute-threads", str(options.threads),
                        *recipe, *more], check=True)
        model = options.work / "train/model"
    pairs = answers(options, model)
    for condition in CONDITIONS:
        show(condition, [pair for pair in pairs if pair[0]["condition"] == condition])
    show("all", pairs)


if __name__ == "__main__":
    main()
