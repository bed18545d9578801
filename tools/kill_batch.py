#!/usr/bin/env python3
"""Kills `tutti batch` with SIGKILL at random moments, over and over, and looks whether anything was lost.

Usage: kill_batch.py TUTTI [--times 200] [--recordings 60] [--seed 1]

Each life of the batch goes on where the one before was killed, on four emulated cards. Whenever one comes to its end,
and after the last death: every recording has its outputs, each equal to that of an undisturbed run; files of the user's at the
names of some outputs are as they were, with the texts beside them (NAME.new.json); nothing is left in the staging folder; the store is sound (PRAGMA integrity_check), holds every task as done, with one attempt that ended as
done and outputs of the recorded hash.
"""
import argparse
import hashlib
import math
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import wave

DEVICES = """time = 0.02
[[device]]
use = "emulated:30x:12GB"
count = 2
jitter = 0.2
[[device]]
use = "emulated:12x:8GB"
count = 2
jitter = 0.2
"""


def write_recording(path, seconds, seed):
    dice = random.Random(seed)
    tone = 150 + dice.random() * 300
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        # A pause in every three seconds, so that the energy detector takes the rest for speech.
        samples = ((9000 if i % 24000 < 22000 else 0) * math.sin(2 * math.pi * tone * i / 8000)
                   for i in range(int(seconds * 8000)))
        out.writeframes(b"".join(struct.pack("<h", int(sample)) for sample in samples))


def command(tutti, place, name):
    return [tutti, "batch", str(place / "in"), "--output-dir", str(place / name), "--state", str(place / f"{name}.state"),
            "--devices", str(place / "devices.toml"), "--vad-method", "energy", "--output-format", "json", "--yes"]


def write_user_files(place, numbers):
    """Files at the names of outputs that no batch has written."""
    (place / "out").mkdir()
    for number in numbers:
        (place / "out" / f"{number:03}.wav.json").write_text(f"the user's {number}")


def with_user_files(expected, numbers):
    """What an output folder holds in the end that held these before."""
    found = dict(expected)
    for number in numbers:
        found[f"{number:03}.wav.new.json"] = expected[f"{number:03}.wav.json"]
        found[f"{number:03}.wav.json"] = f"the user's {number}".encode()
    return found


def outputs(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if path.is_file()}


def store_complaints(path, jobs):
    """What is wrong with a store in which so many jobs are to be done, each once and with the outputs that were recorded."""
    store = sqlite3.connect(path)
    integrity = store.execute("PRAGMA integrity_check").fetchone()[0]
    if integrity != "ok":
        yield f"the store: {integrity}"
    states = store.execute("SELECT state, count(*) FROM tasks GROUP BY state").fetchall()
    if states != [("done", jobs)]:
        yield f"the store's tasks: {states}"
    ends = store.execute("SELECT task, count(*) FROM attempts WHERE [end] = 'done' GROUP BY task").fetchall()
    yield from (f"task {task}: {times} attempts ended as done" for task, times in ends if times != 1)
    if len(ends) != jobs:
        yield f"{len(ends)} of {jobs} tasks have an attempt that ended as done"
    for path, sha256 in store.execute("SELECT path, sha256 FROM results"):
        if hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() != sha256:
            yield f"{path}: not of the recorded hash"


def complaints(place, expected, recordings):
    found = outputs(place / "out")
    for name, content in expected.items():
        if found.get(name) != content:
            yield f"{name}: " + ("differs" if name in found else "is missing")
    yield from (f"{name}: not part of the expected outputs" for name in found.keys() - expected.keys())
    staging = place / "out" / ".tmp"
    yield from (f"{path}: left over" for path in staging.glob("*"))
    yield from store_complaints(place / "out.state" / "tutti.sqlite", recordings)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tutti")
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--recordings", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        (place / "in").mkdir()
        (place / "devices.toml").write_text(DEVICES)
        for number in range(given.recordings):
            write_recording(place / "in" / f"{number:03}.wav", 2 + dice.random() * 20, number)
        started = time.monotonic()
        subprocess.run(command(given.tutti, place, "undisturbed"), check=True, stderr=subprocess.DEVNULL)
        whole = time.monotonic() - started
        users = range(0, given.recordings, 7)
        expected = with_user_files(outputs(place / "undisturbed"), users)
        write_user_files(place, users)
        killed, rounds, wrong = 0, 0, []
        while killed < given.times and not wrong:
            # Mostly early, so that a batch dies often before it is done.
            life = min(dice.expovariate(8 / whole), whole)
            batch = subprocess.Popen(command(given.tutti, place, "out"), stderr=subprocess.DEVNULL)
            try:
                code = batch.wait(life)
            except subprocess.TimeoutExpired:
                batch.kill()
                batch.wait()
                killed += 1
                continue
            # The run ended before the kill: its outputs are checked, and the next run starts from nothing.
            rounds += 1
            wrong = ([f"a run ended with {code}"] if code != 0 else []) + list(complaints(place, expected, given.recordings))
            shutil.rmtree(place / "out", ignore_errors=True)
            shutil.rmtree(place / "out.state", ignore_errors=True)
            write_user_files(place, users)
        last = subprocess.run(command(given.tutti, place, "out"), stderr=subprocess.PIPE, text=True)
        wrong += list(complaints(place, expected, given.recordings))
        if last.returncode != 0:
            wrong.append(f"the last life ended with {last.returncode}: {last.stderr[-2000:]}")
        print(f"{killed} lives were killed, {rounds + 1} batches of {given.recordings} recordings came to their end; "
              f"an undisturbed one takes {whole:.2f} s")
        print("\n".join(wrong) or "nothing lost, nothing twice, nothing in part")
        return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
