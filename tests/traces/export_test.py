#!/usr/bin/env python3
"""Tests of `tutti profile --trace`: what protoc decodes of it, its size, and which files it may replace.

Usage: export_test.py BIN. BIN is the folder of the programs.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path("build/bin")
HERE = pathlib.Path(__file__).resolve().parent
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
        clips = sorted((HERE.parents[1] / "samples").glob("*.*a*"))[:3]
        words = ("profile", "--trace", self.file, "--", "tutti", "features", *clips)
        for _ in range(2):
            end = tutti(*words)
            self.assertEqual(end.returncode, 0, end.stderr)
            self.assertIn("features", "".join(rows_of(decoded(self.file))))
        self.file.write_text("mine")
        self.assertEqual(tutti(*words).returncode, 2)
        self.assertEqual(self.file.read_text(), "mine")

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
