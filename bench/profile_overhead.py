#!/usr/bin/env python3
"""Measures what `tutti profile` costs: pairs of the plain command and of the same one under it, in changing order.

Usage: profile_overhead.py BUILD [--pairs N] [--case WORDS]

Cases, each over 240 files of samples/ that are in memory:

  profile            `tutti features --vad --no-tune` and `tutti profile -- ` the same, start and diagnosis included
  profile, tuned     the same without --no-tune: both runs choose their threads, each pair begins with what is in the cache
  recording          `tutti features --vad --no-tune` without and with TUTTI_RECORDING: what a recording alone costs the run

The plain run ends with its sentence on what limited it, a short diagnosis that the recorded run leaves out.

Allowed: 2 % of processor seconds and of time, by the median of the pairs; of the recording 1 % of processor seconds. Prints the ratio of
the two runs, its standard error, and the quartiles and extremes of the pairs. Exit status 1 where a median is above what is allowed by
more than two of its standard errors.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SAMPLES = ["jfk.flac", "LJ003-0002.flac", "LJ003-0009.flac", "morse-contest.flac"]
FILES = 240


def run(command, settings):
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    passed, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"processor seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "time": passed}


def pair(plain, other, is_even):
    """How much more the other run takes than the plain one, as a share."""
    order = [plain, other] if is_even else [other, plain]
    runs = [run(*one) for one in order]
    first, second = runs if is_even else reversed(runs)
    return {what: second[what] / first[what] - 1 for what in first}


def report(case, ratios, allowed):
    """Prints what the pairs came to; whether a median is too much."""
    is_too_much = False
    for what, most in allowed.items():
        values = [ratio[what] for ratio in ratios]
        median = statistics.median(values)
        # Of a median: 1.25 standard errors of a mean.
        error = 1.25 * statistics.stdev(values) / len(values) ** 0.5
        low, _, high = statistics.quantiles(values, n=4)
        print(
            f"{case}: {1 + median:.4f} ± {error:.4f} times the {what}; {len(values)} pairs, half of them from {1 + low:.4f} "
            f"to {1 + high:.4f}, all from {1 + min(values):.4f} to {1 + max(values):.4f}; allowed {1 + most:.2f}",
            flush=True,
        )
        is_too_much |= median - 2 * error > most
    return is_too_much


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--case", default="", help="cases whose name holds these words")
    arguments = parser.parse_args()
    if arguments.pairs < 2:
        parser.error("--pairs: expected 2 or more")
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [str(root / "samples" / SAMPLES[i % len(SAMPLES)]) for i in range(FILES)]
    tutti = str(arguments.build / "bin" / "tutti")
    is_too_much = False
    with tempfile.TemporaryDirectory() as folder:
        caches = {"TUTTI_CACHE": folder}  # what runs remember is of these pairs alone
        recording = {**caches, "TUTTI_RECORDING": str(pathlib.Path(folder) / "recording.json")}
        plain, tuned = ["features", "--vad", "--no-tune", *files], ["features", "--vad", *files]
        two_percent = {"processor seconds": 0.02, "time": 0.02}
        cases = [
            ("profile", ([tutti, *plain], caches), ([tutti, "profile", "--", "tutti", *plain], caches), two_percent),
            ("profile, tuned", ([tutti, *tuned], caches), ([tutti, "profile", "--", "tutti", *tuned], caches), two_percent),
            ("recording", ([tutti, *plain], caches), ([tutti, *plain], recording), {"processor seconds": 0.01, "time": 0.02}),
        ]
        for name, first, second, allowed in cases:
            if arguments.case not in name:
                continue
            run(*first)  # files and program come into memory, and tuning has settled
            is_too_much |= report(name, [pair(first, second, i % 2 == 0) for i in range(arguments.pairs)], allowed)
    return 1 if is_too_much else 0


if __name__ == "__main__":
    sys.exit(main())
