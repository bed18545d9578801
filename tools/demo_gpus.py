#!/usr/bin/env python3
"""Shows `tutti batch` on a machine full of GPUs that are not there. Usage: demo_gpus.py BUILD [--keep FOLDER]

Twelve unequal cards of the scripted driver (tests/support/fake_nvml) carry emulated workers; forty recordings of very
unequal length are generated and transcribed. Six seconds in, a card falls off the bus, and six later it is back; a
worker is killed, another hangs. The batch ends with its report. Beside it, in another terminal:

    tutti top           # what the batch is doing
"""
import argparse
import array
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import wave

CARDS = [  # speed in times real time, memory in GB, scripted failures
    (60, 24, []), (60, 24, []), (30, 12, []), (30, 12, ["die@8"]), (30, 12, []), (20, 12, ["hang@10"]),
    (20, 12, []), (12, 8, []), (12, 8, []), (8, 8, []), (8, 8, []), (4, 6, []),
]
LOST = 2  # of CARDS: falls off the bus


def uuid(card):
    return f"GPU-{card:02d}c0ffee-0000-4000-8000-{card:012d}"


def driver_script(path, without=None):
    lines = ["driver 580.65.06", "cuda 13000"]
    for card, (speed, memory, _) in enumerate(CARDS):
        if card != without:
            lines.append(f"gpu uuid={uuid(card)} bus=0000:{card + 1:02x}:00.0 cc=8.9 total={memory}000000000 reserved=400000000 "
                         f"power_limit=300 temp={50 + card} name=Emulated {speed}x")
    fresh = path.with_suffix(".new")
    fresh.write_text("\n".join(lines) + "\n")
    fresh.rename(path)  # no reader sees half of it


def devices_file(path):
    text = ""
    for card, (speed, memory, failures) in enumerate(CARDS):
        text += (f'[[device]]\nuse = "emulated:{speed}x:{memory}GB@{uuid(card)}"\nname = "card-{card:02d}"\n'
                 f"jitter = 0.1\nwarm-up = {0.2 * (card % 4)}\nfailures = {json.dumps(failures)}\n")
    path.write_text(text)


def recording(path, seconds, dice):
    """Stretches of a tone like a voice's, with pauses between."""
    second = [array.array("h", (int(8000 * math.sin(2 * math.pi * pitch * i / 8000)) for i in range(8000)))
              for pitch in (dice.randrange(120, 400), dice.randrange(120, 400))]
    second.append(array.array("h", [0] * 8000))
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        for _ in range(int(seconds)):
            out.writeframes(dice.choices(second, [6, 6, 1])[0].tobytes())


def run(build, place):
    build = pathlib.Path(build).resolve()
    dice = random.Random(5)
    (place / "in").mkdir(exist_ok=True)
    for number in range(40):
        recording(place / "in" / f"lecture-{number:02}.wav", min(900, dice.lognormvariate(math.log(120), 0.7)), dice)
    script, devices = place / "machine.txt", place / "devices.toml"
    driver_script(script)
    devices_file(devices)
    environment = dict(os.environ, TUTTI_NVML=str(build / "fake_nvml" / "libnvidia-ml.so.1"), TUTTI_FAKE_NVML=str(script))
    happenings = [threading.Timer(6, driver_script, (script, LOST)), threading.Timer(12, driver_script, (script,))]
    for happening in happenings:
        happening.start()
    end = subprocess.run(
        [build / "bin" / "tutti", "batch", place / "in", "--output-dir", place / "out", "--state", place / "state",
         "--devices", devices, "--vad-method", "energy", "--report", place / "report.json", "--price", "0.4", "--yes"],
        env=environment)
    for happening in happenings:
        happening.cancel()
    report = json.loads((place / "report.json").read_text())
    print(f"\n{report['successful']} of {report['total']} recordings, {report['audio_seconds'] / 3600:.2f} h of audio in "
          f"{report['duration_seconds']:.1f} s; least possible on these cards: {report['lower_bound_seconds']:.1f} s")
    return end.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--keep", help="folder for recordings, transcripts and report; else they are removed")
    given = parser.parse_args()
    if given.keep:
        place = pathlib.Path(given.keep)
        place.mkdir(parents=True, exist_ok=True)
        return run(given.build, place)
    with tempfile.TemporaryDirectory() as folder:
        return run(given.build, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
