#!/usr/bin/env python3
"""Measures what a recording costs `tutti features --vad`: pairs of runs with and without one, in changing order.

Usage: profile_overhead.py BUILD [--pairs N]

TUTTI_RECORDING alone switches it on, as `tutti profile` does for the command that it starts. The run without one ends with its
sentence on what limited it, a short diagnosis that the recorded run leaves out, so the recording costs that much more than is printed.
Not measured: `tutti profile` itself, which reads the machine's counters and the GPUs' meanwhile and diagnoses afterwards, and other
commands. Neither run chooses its threads while it runs. Allowed: 1 % of processor seconds, 2 % of time, by the median of the pairs.
Prints the ratio of the two runs, its standard error, and the quartiles and extremes of the pairs. Exit status 1 where a median is
above what is allowed by more than two of its standard errors.
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

ALLOWED = {"processor seconds": 0.01, "time": 0.02}
SAMPLES = ["jfk.flac", "LJ003-0002.flac", "LJ003-0009.flac", "morse-contest.flac"]
FILES = 240


def run(tutti, files, recording):
    environment = {**os.environ, **({"TUTTI_RECORDING": str(recording)} if recording else {})}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([tutti, "features", "--vad", "--no-tune", *files], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    passed, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"processor seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "time": passed}


def pair(tutti, files, recording, is_even):
    order = [None, recording] if is_even else [recording, None]
    runs = {wanted is not None: run(tutti, files, wanted) for wanted in order}
    return {what: runs[True][what] / runs[False][what] - 1 for what in ALLOWED}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=20)
    arguments = parser.parse_args()
    if arguments.pairs < 2:
        parser.error("--pairs: expected 2 or more")
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [str(root / "samples" / SAMPLES[i % len(SAMPLES)]) for i in range(FILES)]
    tutti = str(arguments.build / "bin" / "tutti")
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder) / "recording.json"
        run(tutti, files, None)  # files and program come into memory
        ratios = [pair(tutti, files, recording, i % 2 == 0) for i in range(arguments.pairs)]
    is_too_much = False
    for what, allowed in ALLOWED.items():
        values = [ratio[what] for ratio in ratios]
        median = statistics.median(values)
        # Of a median: 1.25 standard errors of a mean.
        error = 1.25 * statistics.stdev(values) / len(values) ** 0.5
        low, _, high = statistics.quantiles(values, n=4)
        print(
            f"{what}: with a recording {1 + median:.4f} ± {error:.4f} times as much; {len(values)} pairs, half of them from {1 + low:.4f} "
            f"to {1 + high:.4f}, all from {1 + min(values):.4f} to {1 + max(values):.4f}; allowed {1 + allowed:.2f}"
        )
        is_too_much |= median - 2 * error > allowed
    return 1 if is_too_much else 0


if __name__ == "__main__":
    sys.exit(main())
