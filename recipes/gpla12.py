#!/usr/bin/env python3
"""Classifies the leaks of GPLA-12 in five folds, beside mel statistics with logistic regression.

Usage: recipes/gpla12.py WORK [--data ../shared/data/leaks/gpla12] [--tutti build/bin/tutti] [--seed N] [--folds N] [-- FLAG...]

GPLA-12 has 684 signals of 1,460 values of twelve kinds of gas leaks, 57 of each (data.csv, label.csv). Each becomes a WAV file of
8 kHz, less its mean. Every fold holds out a fifth of each kind, drawn by the seed; of the rest an eighth chooses the best network.
Both sides learn and name the same files. The last line has the mean over the folds and its standard deviation.
Needs numpy and scikit-learn, which the Python of 'make peers' has. What stands behind -- goes to 'tutti train classifier'.
"""
import argparse
import array
import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import wave

from command_line import add_program, parse_line

RATE, FULL_SCALE = 8000, 1024
# Leaks differ in their level, so it stays as it is.
TRAINING = ["--gain-db", "0", "--shift-share", "0.3", "--least-steps", "40", "--epochs", "30", "--warmup-epochs", "1",
            "--ema", "0.99", "--learning-rate", "2e-3", "--patience", "0"]


def signals(folder):
    """Values and label of each."""
    with (folder / "data.csv").open() as data, (folder / "label.csv").open() as labels:
        values = [[float(value) for value in line] for line in csv.reader(data) if line]
        names = [line.strip() for line in labels if line.strip()]
    if len(values) != len(names):
        sys.exit(f"gpla12: {folder} has {len(values)} signals and {len(names)} labels")
    return values, names


def write_wav(path, values):
    mean = statistics.fmean(values)
    pcm = array.array("h", (round(max(-1, min(1, (value - mean) / FULL_SCALE)) * 32767) for value in values))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pcm.tobytes())


def folds(labels, count, seed):
    """For each fold the part of every signal."""
    draw = random.Random(seed)
    order = {}
    for label in sorted(set(labels)):
        order[label] = [index for index, other in enumerate(labels) if other == label]
        draw.shuffle(order[label])
    for fold in range(count):
        parts = ["train"] * len(labels)
        for indices in order.values():
            rest = [index for place, index in enumerate(indices) if place % count != fold]
            for index in indices[fold::count]:
                parts[index] = "test"
            for index in rest[::8]:
                parts[index] = "validation"
        yield parts


def mel_statistics(values):
    """Mean and deviation over time of 32 mel bands in decibels."""
    import numpy

    size, hop, bands = 256, 128, 32
    signal = numpy.asarray(values) / FULL_SCALE
    signal = signal - signal.mean()
    frames = numpy.lib.stride_tricks.sliding_window_view(signal, size)[::hop] * numpy.hanning(size)
    power = numpy.abs(numpy.fft.rfft(frames)) ** 2
    mel = numpy.linspace(0, 2595 * numpy.log10(1 + RATE / 2 / 700), bands + 2)
    edges = 700 * (10 ** (mel / 2595) - 1)
    bins = numpy.fft.rfftfreq(size, 1 / RATE)
    rise = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    filters = numpy.clip(numpy.minimum(rise, fall), 0, None)
    decibels = 10 * numpy.log10(power @ filters.T + 1e-10)
    return numpy.concatenate([decibels.mean(0), decibels.std(0)])


def regression(features, labels, parts):
    """Accuracy of logistic regression, which learns what the network learns or chooses by."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    known = [index for index, part in enumerate(parts) if part != "test"]
    held = [index for index, part in enumerate(parts) if part == "test"]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit([features[index] for index in known], [labels[index] for index in known])
    return model.score([features[index] for index in held], [labels[index] for index in held])


def network(work, tutti, labels, parts, more):
    """Accuracy of 'tutti train classifier'."""
    work.mkdir(parents=True, exist_ok=True)
    with (work / "list.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["path", "label", "split"])
        lines.writerows([work.parent.resolve() / f"audio/{index:03}.wav", f"{int(label):02}", part]
                        for index, (label, part) in enumerate(zip(labels, parts)))
    subprocess.run([tutti, "prepare", "classifier", "--data", work / "list.csv", "--out", work / "set"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([tutti, "train", "classifier", "--data", work / "set", "--out", work / "train", *TRAINING, *more], check=True,
                   stdout=subprocess.DEVNULL, stderr=(work / "train.log").open("w"))
    end = subprocess.run([tutti, "evaluate", "--model", work / "train/model", "--data", work / "set", "--json"], check=True,
                         capture_output=True, text=True)
    return json.loads(end.stdout)["accuracy"]


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, default=here / "../shared/data/leaks/gpla12")
    add_program(parser)
    parser.add_argument("--seed", type=int, default=20251126)
    parser.add_argument("--folds", type=int, default=5)
    options, more = parse_line(parser)
    values, labels = signals(options.data)
    (options.work / "audio").mkdir(parents=True, exist_ok=True)
    for index, signal in enumerate(values):
        write_wav(options.work / f"audio/{index:03}.wav", signal)
    features = [mel_statistics(signal) for signal in values]
    ours, theirs = [], []
    for fold, parts in enumerate(folds(labels, options.folds, options.seed)):
        theirs.append(regression(features, labels, parts))
        ours.append(network(options.work / f"fold-{fold}", str(options.tutti), labels, parts, more))
        print(f"fold {fold}: tutti {100 * ours[-1]:.2f} %, regression {100 * theirs[-1]:.2f} %", flush=True)
    for name, figures in (("tutti", ours), ("regression", theirs)):
        print(f"{name}: {100 * statistics.fmean(figures):.2f} % named right, deviation {100 * statistics.pstdev(figures):.2f}")


if __name__ == "__main__":
    main()
