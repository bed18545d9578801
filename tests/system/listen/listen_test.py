#!/usr/bin/env python3
"""Tests of `tutti listen`: real speech through a pipe, beside the same file transcribed; bad input; a stop in the middle.

Usage: listen_test.py BIN [--long]. BIN is the folder of the programs. --long: the tests that take minutes, and no others.
"""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import live_audio
from live_audio import Events, errors_between, samples_of, wav_of

sys.path.append(str(live_audio.ROOT / "tests/system/serve"))
from python_packages import SKIPPED, skip
from service import real_model

BIN = live_audio.ROOT / "build/bin"
CLIPS = live_audio.lj003_clips()
SHORT = [clip for clip in CLIPS if clip.stem in ("LJ003-0003", "LJ003-0019")]  # nine seconds in all


def command(*words):
    return [BIN / "tutti", "listen", "--model", MODEL, *words]


def listen(data, *words, wait=120):
    return subprocess.run(command(*words), input=data, capture_output=True, timeout=wait)


class Listen(unittest.TestCase):
    def test_words_are_shown_while_they_are_spoken(self):
        samples = samples_of(SHORT)
        process = subprocess.Popen(command("--json", "--rate", "16000", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        events = Events()
        reader = threading.Thread(target=lambda: [events.add(line) for line in process.stdout])
        reader.start()
        time.sleep(2)  # the model is loaded
        step = 3200
        begun = time.monotonic()
        for at in range(0, len(samples), step):
            time.sleep(max(0, begun + at / 2 / live_audio.RATE - time.monotonic()))
            process.stdin.write(samples[at:at + step])
            process.stdin.flush()
        fed = time.monotonic()
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)
        reader.join()
        early = [event for at, event in events.times if at < fed - 1]
        self.assertTrue(any(event["type"] == "partial" for event in early), events.times)
        self.assertTrue(any(event["type"] == "final" for event in early), events.times)
        errors, words = errors_between(live_audio.texts_of(SHORT), events.text())
        self.assertLess(errors / words, 0.2, events.text())

    def test_samples_of_other_rates_are_taken(self):
        samples = samples_of(SHORT[1:])
        doubled = b"".join(samples[i:i + 2] * 3 for i in range(0, len(samples), 2))
        for words, data in [(["--rate", "48000"], doubled), ([], wav_of(doubled, 48000))]:
            done = listen(data, *words, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertIn(b"final", done.stdout)

    def test_what_is_no_audio_is_refused_by_name(self):
        cases = [
            (b"", [], 4, b"standard input: expected a WAV, found nothing"),
            (b"RIFF\x00\x00", [], 4, b"standard input: expected a WAV"),
            (bytes(64000), [], 4, b"--rate"),
            (b"ID3" + bytes(64000), [], 4, b"expected a WAV, found other bytes"),
            (wav_of(bytes(3200)).replace(b"\x10\x00data", b"\x0c\x00data"), [], 4, b"12 bits"),
            (bytes(10), ["--rate", "7"], 2, b"--rate: expected 4000 to 384000 Hz"),
            (bytes(10), ["--rate", "16000", "--batched"], 2, b"--batched"),
            (bytes(10), ["--rate", "16000", "--vad-method", "energy"], 2, b"energy"),
            (bytes(10), ["x", "y"], 2, b"one source"),
            (b"", ["/no/such/pipe"], 4, b"/no/such/pipe"),
        ]
        for data, words, code, text in cases:
            done = listen(data, *words, *([] if len(words) in (1, 2) and words[0][0] in "x/" else ["-"]))
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, b"")

    def test_silence_has_no_text_and_a_short_wav_is_reported(self):
        done = listen(wav_of(bytes(160000), size=320000), "--json", "-")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertIn(b"5", done.stderr)
        self.assertIn(b"before the end that its header claims", done.stderr)

    def test_outputs_are_whole_after_a_stop(self):
        samples = samples_of(SHORT)
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(command("--rate", "16000", "-o", folder, "--quiet", "-"), stdin=subprocess.PIPE)
            process.stdin.write(samples + bytes(2 * live_audio.RATE))  # a second of silence fixes the text
            process.stdin.flush()
            outputs = pathlib.Path(folder)
            for _ in range(600):
                if list(outputs.glob("*.srt")):
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(30), 130)
            self.assertEqual(sorted(file.suffix for file in outputs.iterdir()), [".json", ".srt", ".tsv", ".txt", ".vtt"])
            whole = json.loads((outputs / "stdin.json").read_text())
            errors, words = errors_between(live_audio.texts_of(SHORT), whole["text"])
            self.assertLess(errors / words, 0.2, whole["text"])
            self.assertIn("-->", (outputs / "stdin.srt").read_text())


class ListenLong(unittest.TestCase):
    def test_text_of_a_pipe_is_that_of_the_file(self):
        clips = CLIPS[:16]
        samples = samples_of(clips)
        done = listen(wav_of(samples, size=0xFFFFFFFF), "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        events = Events()
        for line in done.stdout.decode().splitlines():
            events.add(line)
        expected = live_audio.texts_of(clips)
        live, words = errors_between(expected, events.text())
        file, _ = errors_between(expected, live_audio.transcript_of(BIN / "tutti", MODEL, samples)["text"])
        print(f"{words} words: {live} errors live, {file} of the file")
        self.assertLessEqual((live - file) / words, 0.02, events.text())
        self.assertLess(events.finals[-1]["end"], len(samples) / 2 / live_audio.RATE + 0.01)

    def test_two_hours_from_a_pipe_take_no_more_memory_and_less_time(self):
        hour = samples_of(CLIPS, pause=0.8)
        while len(hour) < 2 * 3600 * live_audio.RATE:
            hour += hour[:2 * 3600 * live_audio.RATE - len(hour)]
        process = subprocess.Popen(command("--rate", "16000", "--json", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        events = Events()
        reader = threading.Thread(target=lambda: [events.add(line) for line in process.stdout])
        reader.start()
        begun, memory = time.monotonic(), []

        def resident():
            fields = pathlib.Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()
            return int(fields[0]) / 1024

        step = 2 * live_audio.RATE * 60
        for _ in range(2):
            for at in range(0, len(hour), step):
                process.stdin.write(hour[at:at + step])
                memory.append(resident())
        process.stdin.close()
        self.assertEqual(process.wait(600), 0)
        reader.join()
        took = time.monotonic() - begun
        print(f"two hours in {took:.0f} s; memory after ten minutes {memory[10]:.0f} MiB, at the end {memory[-1]:.0f} MiB, "
              f"{len(events.finals)} final captions")
        self.assertLess(took, 7200)
        self.assertLess(memory[-1], memory[10] + 30)
        self.assertGreater(events.finals[-1]["end"], 7100)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).absolute()
    MODEL = real_model()
    if not CLIPS:
        skip("needs shared test data: speech/lj (set TUTTI_TEST_DATA)")
    if not shutil.which("ffmpeg"):
        skip("needs the ffmpeg program, which reads the clips")
    unittest.main(argv=sys.argv[:1] + [ListenLong.__name__ if "--long" in sys.argv else Listen.__name__])
