#!/usr/bin/env python3
"""Runs `tutti batch` on emulated cards and lets `tutti plan --simulate` predict the same run.

Usage: run_against_plan.py TUTTI [--runs 3]. Prints both for each set of cards, and how far they are apart. The cards are as
fast together as leaves the control side (decoding, features) time on two cores.
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from demo_gpus import recording

SETS = [[30, 12], [20, 20, 10, 10], [10] * 8, [40, 4]]


def batch(tutti, place, speeds, number):
    devices = place / "devices.toml"
    devices.write_text("".join(f'[[device]]\nuse = "emulated:{speed}x:24GB"\n' for speed in speeds))
    report = place / "report.json"
    subprocess.run([tutti, "batch", place / "in", "--output-dir", place / f"out{number}", "--state", place / f"state{number}",
                    "--devices", devices, "--vad-method", "energy", "--report", report, "--output-format", "txt", "--yes"],
                   check=True, stderr=subprocess.DEVNULL)
    return json.loads(report.read_text())


def simulated(tutti, place, speeds):
    listed = ",".join(f"emulated:{speed}x:24GB" for speed in speeds)
    out = subprocess.run([tutti, "plan", "--simulate", "--durations", place / "durations.json", "--devices", listed, "--unit",
                          "window", "--error", "0", "--state", place / "no batch yet", "--json"],
                         check=True, capture_output=True, text=True).stdout
    return next(policy["makespan_s"] for policy in json.loads(out)["policies"] if policy["name"] == "tutti")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tutti")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    dice = random.Random(3)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "in").mkdir()
        lengths = [int(min(400, dice.lognormvariate(math.log(60), 0.7))) + 5 for _ in range(16)]
        for number, length in enumerate(lengths):
            recording(place / "in" / f"{number:02}.wav", length, dice)
        for number, speeds in enumerate(SETS):
            reports = [batch(given.tutti, place, speeds, f"{number}.{run}") for run in range(given.runs)]
            # The devices hear the speech alone; how much of each recording that is makes little difference.
            transcribed = sum(device["audio_seconds"] for device in reports[0]["devices"]) / sum(lengths)
            (place / "durations.json").write_text(json.dumps([transcribed * length for length in lengths]))
            expected = simulated(given.tutti, place, speeds)
            times = [report["duration_seconds"] for report in reports]
            ratio = statistics.median(times) / expected
            worst = max(worst, abs(ratio - 1))
            print(f"{'+'.join(f'{speed}x' for speed in speeds)}: simulated {expected:.2f} s, run {statistics.median(times):.2f} s "
                  f"({', '.join(f'{time:.2f}' for time in times)}), ratio {ratio:.3f}")
    print(f"furthest apart: {100 * worst:.1f} %")
    return worst > 0.03


if __name__ == "__main__":
    sys.exit(main())
