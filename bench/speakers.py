#!/usr/bin/env python3
"""How well `tutti diarize` finds who speaks: the ten conversations c01 to c10 of the shared data (read speech, turns put
together at random, rooms synthetic: no figures for real meetings).

Usage: bench/speakers.py [--tutti build/bin/tutti] [--data ../shared/data] [--json FILE] [NAME...] [-- FLAG...]

Diarizes each recording by itself and scores it with `tutti der`: DER without a collar and with 0.25 s on either side of each
boundary, overlap counted. Prints a line for each and one for all, whose rates are of all speech together. Times are what the
programs took, their start included: of the clock, and of the processor. FLAG goes to `tutti diarize`, as in
`-- --diarize-quality high`. Exit status 1 where a recording fails.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "recipes"))
from command_line import add_program, parse_line  # noqa: E402

NAMES = [f"c{number:02}" for number in range(1, 11)]


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def diarized(tutti, audio, folder, flags):
    """(RTTM file, seconds, processor seconds) of one recording."""
    began, processor = time.monotonic(), processor_seconds()
    done = subprocess.run([tutti, "diarize", audio, "-o", folder, *flags], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{audio}: tutti diarize ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return folder / f"{audio.stem}.rttm", time.monotonic() - began, processor_seconds() - processor


def scored(tutti, reference, hypothesis, collar):
    done = subprocess.run([tutti, "der", "--ref", reference, "--hyp", hypothesis, "--collar", str(collar), "--json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def added(scores):
    """Of several recordings: seconds add up, and the rate is of all speech."""
    whole = {name: sum(score[name] for score in scores) for name in ("missed", "false_alarm", "confusion", "total")}
    return whole | {"der": (whole["missed"] + whole["false_alarm"] + whole["confusion"]) / whole["total"]}


def line_of(name, rows):
    exact, loose = added([row["exact"] for row in rows]), added([row["loose"] for row in rows])
    audio = sum(row["audio"] for row in rows)
    parts = "  ".join(f"{100 * exact[part] / exact['total']:6.1f}" for part in ("missed", "false_alarm", "confusion"))
    right = sum(row["exact"]["reference_speakers"] == row["exact"]["hypothesis_speakers"] for row in rows)
    speakers = f"{right} of {len(rows)}" if len(rows) > 1 else \
        f"{rows[0]['exact']['hypothesis_speakers']} of {rows[0]['exact']['reference_speakers']}"
    return (f"{name:5} {audio:7.0f}  {100 * exact['der']:6.1f}  {parts}  {100 * loose['der']:9.1f}  {speakers:>8}  "
            f"{sum(row['seconds'] for row in rows) / audio:10.3f}  {sum(row['processor'] for row in rows) / audio:9.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_program(parser)
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "../shared/data")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments, flags = parse_line(parser)
    speakers = arguments.data / "speakers"
    print("name   audio   DER 0    miss   false  confus  DER 0.25  speakers  time/audio  cpu/audio", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.names or NAMES:
            rttm, seconds, processor = diarized(arguments.tutti, speakers / f"{name}.opus", pathlib.Path(work), flags)
            truth = speakers / f"{name}.rttm"
            rows.append({"name": name, "audio": json.loads((speakers / f"{name}.json").read_text())["seconds"],
                         "exact": scored(arguments.tutti, truth, rttm, 0), "loose": scored(arguments.tutti, truth, rttm, 0.25),
                         "seconds": seconds, "processor": processor})
            print(line_of(name, rows[-1:]), flush=True)
    print(line_of("all", rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
