#!/usr/bin/env python3
"""Tests of `--trace`: what protoc decodes of it, its size, which files it may replace, and what a full disk does to a run.

Usage: export_test.py BIN. BIN is the folder of the programs.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path("build/bin")
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CLIPS = sorted((ROOT / "samples").glob("*.*a*"))[:3]
NANO = ROOT / "models" / "nano"
FEED = """
cores = 4
seconds = 1
[[stage]]
name = "read"
kind = "io"
threads = 2
mean_ms = 5
[[stage]]
name = "decode"
kind = "cpu"
mean_ms = 6
queue = 4
[[stage]]
name = "step"
kind = "device"
mean_ms = 2
"""


def tutti(*words):
    return subprocess.run([BIN / "tutti", *map(str, words)], capture_output=True, text=True, check=False)


def decoded(file):
    """The packets of a trace, each as {field: values}, nested messages likewise."""
    text = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=Trace", HERE / "perfetto.proto"], input=file.read_bytes(),
                          capture_output=True, check=True).stdout.decode()
    stack = [collections.defaultdict(list)]
    for line in text.splitlines():
        if match := re.fullmatch(r"\s*(\w+) \{", line):
            inner = collections.defaultdict(list)
            stack[-1][match[1]].append(inner)
            stack.append(inner)
        elif line.strip() == "}":
            stack.pop()
        else:
            name, value = line.strip().split(": ", 1)
            if name.isdigit():
                raise AssertionError(f"a field that Perfetto does not have: {line}")
            stack[-1][name].append(value.strip('"'))
    return stack[0]["packet"]


def rows_of(packets):
    """{row's name: [(slice's name, start, end)]}, in seconds, as trace_processor reads it."""
    rows, names, clocks, slices, open_slices = {}, {}, {}, collections.defaultdict(list), {}
    for packet in packets:
        sequence = packet["trusted_packet_sequence_id"][0]
        for track in packet["track_descriptor"]:
            if track["parent_uuid"]:
                rows[sequence] = track["name"][0]
        for snapshot in packet["clock_snapshot"]:
            assert packet["sequence_flags"] == ["1"]
            clocks[sequence] = int(next(it["timestamp"][0] for it in snapshot["clocks"] if it["clock_id"] == ["3"]))
        for data in packet["interned_data"]:
            for name in data["event_names"]:
                names[sequence, name["iid"][0]] = name["name"][0]
        for event in packet["track_event"]:
            assert packet["sequence_flags"] == ["2"]
            clocks[sequence] += int(packet["timestamp"][0])
            if event["type"] == ["TYPE_SLICE_BEGIN"]:
                assert sequence not in open_slices
                open_slices[sequence] = (names[sequence, event["name_iid"][0]], clocks[sequence])
            else:
                name, start = open_slices.pop(sequence)
                slices[rows[sequence]].append((name, start / 1e9, clocks[sequence] / 1e9))
    assert not open_slices
    return slices


def stages_of(rows):
    """The rows' names without the numbers of threads: which of a stage's threads has an item is a matter of time."""
    return {re.sub(r" \d+$", "", name) for name in rows}


class ExportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "run.pftrace"
        self.feed = self.folder / "feed.toml"
        self.feed.write_text(FEED)

    def test_trace_of_a_pipeline_has_its_threads_and_items(self):
        end = tutti("profile", "--pipeline", self.feed, "--trace", self.file)
        self.assertEqual(end.returncode, 0, end.stderr)
        packets = decoded(self.file)
        rows = rows_of(packets)
        self.assertLessEqual({"read", "read 2", "decode", "step"}, set(rows))
        items = [it for it in rows["decode"] if it[0] == "decode" and it[2] - it[1] > 0.004]
        self.assertGreater(len(items), 100)
        self.assertAlmostEqual(sorted(end - start for _, start, end in items)[len(items) // 2], 0.006, 2)
        self.assertIn("waits for space", {name for name, _, _ in rows["read"]})
        self.assertLess(max(end for row in rows.values() for _, _, end in row) - min(row[0][1] for row in rows.values()), 60)
        events = sum(len(packet["track_event"]) for packet in packets)
        self.assertGreater(events, 500)
        self.assertLessEqual(self.file.stat().st_size / events, 30)

    def test_trace_of_a_command_is_replaced_but_no_other_file_is(self):
        for words in [("features", "--trace", self.file, *CLIPS),
                      ("profile", "--trace", self.file, "--", "tutti", "features", *CLIPS)]:
            self.file.unlink(missing_ok=True)
            for _ in range(2):
                end = tutti(*words)
                self.assertEqual(end.returncode, 0, end.stderr)
                self.assertLessEqual({"decode", "features"}, stages_of(rows_of(decoded(self.file))))
            self.file.write_text("mine")
            self.assertEqual(tutti(*words).returncode, 2)
            self.assertEqual(self.file.read_text(), "mine")

    def test_commands_write_the_rows_of_all_their_processes(self):
        out = self.folder / "out"
        runs = {("transcribe", "--model", NANO, "-o", out, CLIPS[0]): {"decode", "device"},
                ("batch", "--model", NANO, "-o", out, "--state", self.folder / "state", "--device", "cpu", "-y", CLIPS[0]): {"device"},
                ("evaluate", "--model", NANO, "--data", ROOT / "tests/data/shared/speech/ljspeech", "--samples", 2): {"evaluation"},
                ("classify", "--model", ROOT / "models/leaks", CLIPS[0]): {"phases"}}
        for words, expected in runs.items():
            with self.subTest(words[0]):
                end = tutti(*words, "--trace", self.file)
                self.assertEqual(end.returncode, 0, end.stderr)
                packets = decoded(self.file)
                self.assertLessEqual(expected, stages_of(rows_of(packets)))
                command = next(track["process"][0]["cmdline"][0] for it in packets for track in it["track_descriptor"] if track["process"])
                self.assertTrue(command.startswith(f"tutti-trace: tutti {words[0]} "), command)

    def test_preparing_and_training_write_their_stages_and_steps(self):
        sounds, speech = self.folder / "sounds", ROOT / "tests/data/shared/speech/ljspeech"
        for number, clip in enumerate(sorted((speech / "wavs").iterdir())):
            copy = sounds / "ab"[number % 2] / clip.name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(clip.read_bytes())
        short = ("--max-steps", 2, "--batch-size", 2, "--compute-threads", 1)
        runs = [(("prepare", "classifier", "--data", sounds, "--out", self.folder / "set"), {"make"}),
                (("train", "classifier", "--data", self.folder / "set", "--out", self.folder / "classifier", *short), {"training"}),
                (("prepare", "tts", "--data", speech, "--out", self.folder / "voice-set"), {"make", "write"}),
                (("train", "tts", "--train-data", self.folder / "voice-set", "--out", self.folder / "voice", *short), {"training"}),
                (("train", "whisper", "--config", ROOT / "recipes/smoke.toml", "--data", speech, "--out", self.folder / "out", *short),
                 {"decode", "features", "batch", "training"})]
        for words, expected in runs:
            with self.subTest(words[:2]):
                end = tutti(*words, "--trace", self.file)
                self.assertEqual(end.returncode, 0, end.stderr)
                rows = rows_of(decoded(self.file))
                self.assertLessEqual(expected, stages_of(rows))
                if words[0] == "train":
                    self.assertEqual([name for name, _, _ in rows["training"]], 2 * ["waits for its batch", "step"])

    def test_preparing_for_whisper_writes_its_stages(self):
        for clip in CLIPS:
            (self.folder / f"{clip.stem}.txt").write_text("three three five")
        end = tutti("prepare", "whisper", "--model", NANO, "--device", "emulated:400x:8GB", "--texts", self.folder, "--out",
                    self.folder / "corpus", "--trace", self.file, *CLIPS)
        self.assertEqual(end.returncode, 0, end.stderr)
        rows = rows_of(decoded(self.file))
        self.assertLessEqual({"decode", "align"}, stages_of(rows))
        # The emulated device takes 15 ms for 6 s. A thread that waited for space has a few microseconds of its item after the wait.
        aligned = [it for row in rows.values() for it in row if it[0] == "align" and it[2] - it[1] >= 0.01]
        self.assertEqual(len(aligned), len(CLIPS), rows)

    def test_input_or_output_of_the_command_is_no_trace(self):
        clip = self.folder / "clip.flac"
        clip.write_bytes(CLIPS[0].read_bytes())
        for file in (clip, self.folder / "clip.json"):
            end = tutti("transcribe", "--model", NANO, "-o", self.folder, "--trace", file, clip)
            self.assertEqual(end.returncode, 2)
            self.assertIn(file.name, end.stderr)
        self.assertEqual(clip.read_bytes(), CLIPS[0].read_bytes())
        self.assertFalse((self.folder / "clip.json").exists())

    def test_full_disk_ends_the_trace_and_not_the_run(self):
        without = tutti("features", "--json", "--no-tune", CLIPS[0])
        end = tutti("features", "--json", "--no-tune", "--trace", "/dev/full", CLIPS[0])
        self.assertEqual(end.returncode, 0)
        self.assertEqual(json.loads(end.stdout)["frames"], json.loads(without.stdout)["frames"])
        self.assertIn("/dev/full: could not be written: No space left on device. The trace ends there", end.stderr)

    def test_trace_is_whole_packets_after_a_kill(self):
        with subprocess.Popen([BIN / "tutti", "profile", "--pipeline", self.feed, "--trace", self.file], stdout=subprocess.DEVNULL) as run:
            while not self.file.exists() or self.file.stat().st_size < 10_000 or b"decode" not in self.file.read_bytes():
                time.sleep(0.01)
                self.assertIsNone(run.poll())
            run.kill()
        self.assertIn("decode", {track["name"][0] for packet in decoded(self.file) for track in packet["track_descriptor"] if track["name"]})

    def test_what_cannot_be_traced_is_refused(self):
        for words in [("--pipeline", self.feed, "--simulate"), ("--pipeline", self.feed, "--tune"), ("--", "true")]:
            end = tutti("profile", "--trace", self.file, *words)
            self.assertEqual(end.returncode, 2)
            self.assertIn("--trace: is for", end.stderr)
            self.assertFalse(self.file.exists())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
