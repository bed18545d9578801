#!/usr/bin/env python3
"""Tests of `tutti profile --import`: the idle split beside that of Holistic Trace Analysis, and files that are damaged.

Usage: import_test.py BIN. BIN is the folder of the programs.
"""
import json
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from trace_maker import Trace, device_busy, hta_split, random_trace, write_nsight

BIN = pathlib.Path("build/bin")


def tutti(*words):
    return subprocess.run([BIN / "tutti", "profile", "--import", *map(str, words)], capture_output=True, text=True, check=False)


class ImportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ranks(self, *words):
        end = tutti(*words, "--json")
        self.assertEqual(end.returncode, 0, end.stderr)
        return json.loads(end.stdout)

    def test_idle_split_is_that_of_holistic_trace_analysis(self):
        for seed in range(8):
            trace = random_trace(seed, streams=(7,) if seed % 2 else (7, 20, 24))
            rank = self.ranks(trace.write(self.folder / ("t.json.gz" if seed % 3 else "t.json")))["ranks"][0]
            found = {it["stream"]: {key: round(it[key] * 1e6) for key in ("host_wait", "kernel_wait", "other")}
                     for it in rank["streams"]}
            self.assertEqual(found, hta_split(trace))
            self.assertAlmostEqual(rank["device_busy"], device_busy(trace), 9)
            self.assertAlmostEqual(rank["device_busy"] + sum(rank["idle"].values()), 1, 9)
            self.assertEqual(rank["steps"], 6)
            if seed % 2:
                split = hta_split(trace)[7]
                for key, value in rank["idle"].items():
                    self.assertAlmostEqual(value * rank["span_ms"] * 1e6, split[key], 2)

    def test_longer_gaps_are_kernel_waits_where_requested(self):
        trace = random_trace(3)
        rank = self.ranks(trace.write(self.folder / "t.json"), "--kernel-gap", 5000)["ranks"][0]
        found = {it["stream"]: round(it["kernel_wait"] * 1e6) for it in rank["streams"]}
        self.assertEqual(found, {stream: split["kernel_wait"] for stream, split in hta_split(trace, 5000).items()})

    def run_of(self, rank, step, loading=0, syncing=0, collective=0, marks=True, kernels=20, optimizer=False):
        """Five steps of `step` ns, and of them so many in which the host loads, waits for the device or for others."""
        trace, clock = Trace(rank=rank), 0
        for number in range(5):
            begin = clock
            if loading:
                trace.event("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", clock, loading, 1)
            clock += loading
            work = step - loading - syncing - collective
            for i in range(kernels):
                trace.launch(begin + loading + 100 * i, clock, work // kernels, name=f"gemm_{i}")
                clock += work // kernels
            if collective:
                trace.launch(clock - 50, clock, collective, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL", stream=20)
                clock += collective
            if syncing:
                trace.event("cuda_runtime", "cudaStreamSynchronize", begin + 3000, clock + syncing - begin - 3000, 1, correlation=10**6 + number)
                clock += syncing
            if optimizer:
                trace.event("user_annotation", "Optimizer.step#AdamW.step", clock - 40, 30, 1)
            if marks:
                trace.event("user_annotation", f"ProfilerStep#{number}", begin, clock - begin, 1)
        return trace.write(self.folder / f"rank{rank}.pt.trace.json")

    def test_planted_limits_are_named(self):
        for limit, cause, planted in [("host_wait", "data loading", {"loading": 400_000}),
                                      ("host_wait", "synchronisation", {"syncing": 400_000}),
                                      ("communication", "communication", {"collective": 400_000}),
                                      ("device", "device compute", {})]:
            rank = self.ranks(self.run_of(0, 1_000_000, **planted))["ranks"][0]
            self.assertEqual((rank["limit"], rank["cause"], rank["steps"]), (limit, cause, 5))
            self.assertAlmostEqual(rank["step_ms"], 1, 3)

    def test_slowest_rank_is_the_one_that_does_not_wait_for_others(self):
        files = [self.run_of(0, 1_000_000, collective=300_000), self.run_of(1, 1_000_000, collective=20_000),
                 self.run_of(2, 1_000_000, collective=310_000)]
        found = self.ranks(*reversed(files))
        self.assertEqual([it["rank"] for it in found["ranks"]], [0, 1, 2])
        self.assertEqual(found["slowest"]["rank"], 1)
        self.assertAlmostEqual(found["slowest"]["lag"], 0.98 / 0.7 - 1, 2)
        self.assertIn("Rank 1 is the slowest", tutti(*files).stdout)

    def test_steps_without_marks_are_found_by_what_repeats(self):
        for words, by in [({}, "repeated kernels"), ({"optimizer": True}, "Optimizer.step#")]:
            rank = self.ranks(self.run_of(0, 1_000_000, loading=300_000, marks=False, **words))["ranks"][0]
            self.assertEqual((rank["steps"], rank["steps_by"]), (5, by))
            self.assertAlmostEqual(rank["step_ms"], 1, 3)
        rank = self.ranks(self.run_of(0, 1_000_000, loading=300_000, marks=False), "--step", "enumerate(DataLoader)")["ranks"][0]
        self.assertEqual((rank["steps"], rank["steps_by"]), (5, "--step"))

    def test_damaged_files_are_named_with_byte_and_expectation(self):
        text = random_trace(1).text()
        (self.folder / "cut.json").write_text(text[:len(text) // 2])
        (self.folder / "wrong.json").write_text(text.replace('"dur": ', '"dur": x', 1))
        whole = random_trace(1).write(self.folder / "whole.json.gz").read_bytes()
        (self.folder / "cut.json.gz").write_bytes(whole[:len(whole) // 2])
        broken = bytearray(whole)
        broken[len(whole) // 2] ^= 0xff
        (self.folder / "broken.json.gz").write_bytes(broken)
        (self.folder / "none.json").write_text('{"traceEvents": [{"ph": "M", "name": "process_name"}]}')
        at = text.encode().index(b'"dur": ') + len('"dur": ')
        for name, expected in [("cut.json", f"byte {len(text[:len(text) // 2].encode())}: expected the end of an event"),
                               ("wrong.json", f"byte {at}: expected a length in microseconds"),
                               ("cut.json.gz", "of the packed file: expected more of gzip's data, found"),
                               ("broken.json.gz", ": byte "), ("none.json", "no work of a device is in it"),
                               ("absent.json", "cannot be opened: No such file")]:
            end = tutti(self.folder / name)
            self.assertEqual(end.returncode, 4, name)
            self.assertIn(str(self.folder / name) + ":", end.stderr)
            self.assertIn(expected, end.stderr)
            self.assertEqual(end.stdout, "")

    def test_nsights_database_gives_what_the_trace_gives(self):
        traces = [random_trace(4), random_trace(5)]
        ranks = self.ranks(write_nsight(traces, self.folder / "run.sqlite"))["ranks"]
        for number, (trace, rank) in enumerate(zip(traces, ranks, strict=True)):
            alone = self.ranks(trace.write(self.folder / "t.json"))["ranks"][0]
            self.assertEqual((rank["rank"], rank["device"]), (number, number))
            for key in alone.keys() - {"rank", "file", "device"}:
                self.assertEqual(rank[key], alone[key], key)

    def test_database_that_is_damaged_or_anothers_is_refused(self):
        file = write_nsight([random_trace(4)], self.folder / "run.sqlite")
        whole = file.read_bytes()
        other = self.folder / "other.sqlite"
        sqlite3.connect(other).execute("CREATE TABLE jobs (id INTEGER)").connection.commit()
        old = self.folder / "old.sqlite"
        sqlite3.connect(old).executescript("CREATE TABLE StringIds (id, value); CREATE TABLE NVTX_EVENTS (start)").connection.commit()
        cut = self.folder / "cut.sqlite"
        cut.write_bytes(whole[:len(whole) // 2])
        for path, expected in [(other, "expected a table StringIds"), (cut, "expected an intact database"),
                               (old, "table NVTX_EVENTS: expected the columns of Nsight Systems' export, found: no such column")]:
            end = tutti(path)
            self.assertEqual((end.returncode, end.stdout), (4, ""))
            self.assertIn(str(path) + ": ", end.stderr)
            self.assertIn(expected, end.stderr)

    def test_any_byte_that_changes_gives_a_report_or_an_error(self):
        text, rng = random_trace(2, steps=1).text().encode(), random.Random(5)
        for _ in range(60):
            changed = bytearray(text)
            changed[rng.randrange(len(text))] = rng.randrange(256)
            (self.folder / "t.json").write_bytes(changed)
            self.assertIn(tutti(self.folder / "t.json").returncode, (0, 4))

    def test_two_files_of_a_rank_are_refused(self):
        first, second = self.folder / "a.json", self.folder / "b.json"
        for file in (first, second):
            random_trace(0, rank=1).write(file)
        end = tutti(first, second)
        self.assertEqual(end.returncode, 2)
        self.assertIn(f"{first} and {second} are both of rank 1", end.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
