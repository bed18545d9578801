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
        self.assertIn("Rank 1 (rank1.pt.trace.json) is the slowest", tutti(*files).stdout)

    def test_steps_without_marks_are_found_by_what_repeats(self):
        for words, by in [({}, "repeated kernels"), ({"optimizer": True}, "Optimizer.step#")]:
            rank = self.ranks(self.run_of(0, 1_000_000, loading=300_000, marks=False, **words))["ranks"][0]
            self.assertEqual((rank["steps"], rank["steps_by"]), (5, by))
            self.assertAlmostEqual(rank["step_ms"], 1, 3)
        rank = self.ranks(self.run_of(0, 1_000_000, loading=300_000, marks=False), "--step", "enumerate(DataLoader)")["ranks"][0]
        self.assertEqual((rank["steps"], rank["steps_by"]), (5, "--step"))

    def write(self, name, text):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.folder / name

    def report(self, file, *words):
        """The ranks without their files, and what was left out."""
        found = self.ranks(file, *words)["ranks"]
        for rank in found:
            del rank["file"]
        return found

    def with_event(self, text, event):
        """The trace with one more event, in its middle."""
        raw, end = text.encode(), b"\n  },\n"
        at = raw.index(end, len(raw) // 2) + len(end)
        return raw[:at] + (event if isinstance(event, bytes) else event.encode()) + b",\n" + raw[at:]

    def test_events_without_a_time_are_left_out_and_counted(self):
        text = random_trace(6).text()
        good = self.report(self.write("good.json", text))
        self.assertEqual(good[0]["left_out"], 0)
        far = 5_741_930_461_325
        for cat, times in [("kernel", '"ts": 0, "dur": 0'), ("kernel", '"ts": 0, "dur": %d.125' % far), ("kernel", '"ts": -1, "dur": 4'),
                           ("kernel", '"ts": 1e300, "dur": 4'), ("kernel", '"ts": 99999999999999999999999, "dur": 4'),
                           ("kernel", '"ts": %d, "dur": 4' % (1000 * far)), ("kernel", '"ts": %d, "dur": 1' % (far + 86_400_000_000)),
                           ("kernel", '"ts": NaN, "dur": 4'), ("kernel", '"ts": null, "dur": 4'), ("kernel", '"ts": -Infinity, "dur": 4'),
                           ("kernel", '"ts": "", "dur": 4'), ("kernel", '"dur": 4'), ("kernel", '"ts": %d.500' % far),
                           ("kernel", '"ts": %d.500, "dur": -%d' % (far, far)), ("gpu_memcpy", '"ts": %d.500, "dur": 1e15' % far),
                           ("gpu_memset", '"ts": 0, "dur": 0'), ("cuda_runtime", '"ts": 0, "dur": 0'), ("cuda_runtime", '"ts": nan, "dur": 5')]:
            event = '{"ph": "X", "cat": "%s", "name": "cudaDeviceSynchronize", "pid": 0, "tid": 7, %s, "args": {"stream": 7, "device": 0, "correlation": 999999}}' % (cat, times)
            file = self.write("lost.json", self.with_event(text, event))
            self.assertEqual(self.report(file), [{**good[0], "left_out": 1}], event)
            self.assertIn(f"{file}: 1 event without a time was left out", tutti(file).stderr)

    def test_steps_and_loading_without_a_time_are_left_out(self):
        text = self.run_of(0, 1_000_000, loading=400_000).read_text()
        good = self.report(self.write("good.json", text))
        for name in ("ProfilerStep#9", "enumerate(DataLoader)#x.__next__"):
            for times in ('"ts": 0, "dur": 10', '"ts": 5741930461325, "dur": 9e14'):
                event = '{"ph": "X", "cat": "user_annotation", "name": "%s", "pid": 0, "tid": 1, %s}' % (name, times)
                found = self.report(self.write("lost.json", self.with_event(text, event)))
                self.assertEqual(found, [{**good[0], "left_out": 1}], event)

    def test_trace_whose_times_begin_at_zero_is_whole(self):
        trace = random_trace(2)
        good = self.report(trace.write(self.folder / "good.json"))
        trace.base = -min(e["start"] for e in trace.events if e["cat"] == "kernel")
        self.assertEqual(self.report(trace.write(self.folder / "zero.json")), good)

    def test_times_since_1970_with_decimals_are_exact(self):
        trace = random_trace(8)
        good = self.report(trace.write(self.folder / "good.json"))
        trace.base = 1_699_236_267_071_000_123
        self.assertEqual(self.report(trace.write(self.folder / "epoch.json")), good)

    def test_trace_without_any_time_is_refused(self):
        event = '{"ph": "X", "cat": "kernel", "name": "k", "ts": 0, "dur": 0}'
        end = tutti(self.write("none.json", '{"traceEvents": [%s, %s]}' % (event, event)))
        self.assertEqual(end.returncode, 4)
        self.assertIn("no work of a device is in it", end.stderr)

    def test_names_that_were_written_as_they_are_are_read(self):
        text = random_trace(7).text()
        good = self.report(self.write("good.json", text))
        names = [b'_t = Library("_test", "IMPL")\n(1): <module>', b'"', b'x["a"], {"b": "]"}(1): f', b'{"pid": 1, "ts": 2}(1): <m>', b"a\x01\x00\x1fb",
                 b"config.py(0): \xff\xfe", b"\xed\xa0\x80", b"\\ud800", b'f("""\r\n\ttext\r\n""")(3): <module>', b"C:\\new\\", b'lambda: d["}"]', "größer \u20ac".encode()]
        for name in names:
            for layout in (b'{"ph": "X", "cat": "python_function", "name": "%s", "pid": 1, "tid": 1, "ts": 0, "dur": 3, "args": {"Python id": 1}}',
                           b'{"args": {"Call stack": "%s", "n": 1}, "cat": "python_function", "dur": 3, "ph": "X", "pid": 1, "tid": 1, "ts": 0}',
                           b'{"cat": "cpu_op", "dur": 3, "ph": "X", "ts": 0, "name": "%s"}'):
                if name.endswith(b"\\") and b'"name": "%s", "pid"' not in layout:
                    continue  # nothing distinguishes that quote from one in the text
                found = self.report(self.write("name.json", self.with_event(text, layout % name)))
                self.assertEqual(found, good, layout % name)

    def test_rank_is_in_the_files_name_where_the_trace_has_none(self):
        texts = {rank: self.run_of(rank, 1_500_000 if rank == 10 else 1_000_000).read_text() for rank in (0, 1, 2, 10)}
        files = [self.write(f"rank{rank}.pt.trace.json", text.replace("distributedInfo", "other")) for rank, text in texts.items()]
        found = self.ranks(*files)
        self.assertEqual([it["rank"] for it in found["ranks"]], [0, 1, 2, 10])
        self.assertEqual((found["slowest"]["rank"], found["slowest"]["file"]), (10, str(files[3])))
        text = tutti(*files).stdout
        for file in files:
            self.assertIn(file.name, text)
        self.assertIn("Rank 10 (rank10.pt.trace.json) is the slowest", text)
        named = self.write("rank3.json", texts[1])
        self.assertEqual(self.ranks(named)["ranks"][0]["rank"], 1)  # the trace knows better
        (self.folder / "node_rank_4").mkdir()
        plain = files[0].read_text()
        for name, rank in [("node_rank_4/trace.json", 4), ("Run-Rank=07.json", 7), ("ranks.json", 0), ("worker.json", 0)]:
            self.assertEqual(self.ranks(self.write(name, plain))["ranks"][0]["rank"], rank, name)
        same = [self.write(f"node{node}.rank0.json", plain) for node in range(2)]
        self.assertEqual([it["rank"] for it in self.ranks(*same)["ranks"]], [0, 1])
        mixed = self.ranks(self.write("worker.json", plain), files[0])["ranks"]
        self.assertEqual([(it["rank"], pathlib.Path(it["file"]).name) for it in mixed], [(0, "rank0.pt.trace.json"), (1, "worker.json")])

    def test_streams_of_amds_cards_are_texts(self):
        text = random_trace(9).text()
        good = self.report(self.write("good.json", text))
        for streams in ({7: "0x0", 20: "0x7f3c2a10"}, {7: "0x0", 20: "0xFFFFFFFFFFFFFFFF"}, {7: "7", 20: "20"}, {7: "", 20: "default"}):
            changed = text.replace("cuda_runtime", "hip_runtime").replace("cudaLaunchKernel", "hipLaunchKernel").replace('"device": 0', '"device": "0"')
            for number, name in streams.items():
                changed = changed.replace(f'"stream": {number},', f'"stream": {json.dumps(name)},')
            found = self.report(self.write("amd.json", changed))
            self.assertEqual({**found[0], "streams": 0}, {**good[0], "streams": 0})
            self.assertEqual([{**it, "stream": 0} for it in sorted(found[0]["streams"], key=lambda it: it["host_wait"])],
                             [{**it, "stream": 0} for it in sorted(good[0]["streams"], key=lambda it: it["host_wait"])])

    def test_gap_before_work_without_a_launch_is_other(self):
        trace = Trace()
        for start, known in [(0, True), (10_010, False), (20_020, False), (30_030, True)]:
            trace.launch(start - 5_000, start, 10_000, known=known)
        rank = self.ranks(trace.write(self.folder / "t.json"))["ranks"][0]
        self.assertEqual([round(rank["streams"][0][key] * 1e6) for key in ("host_wait", "kernel_wait", "other")], [0, 10, 20])

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

    def test_nsights_rows_without_a_time_are_left_out(self):
        file = write_nsight([random_trace(4)], self.folder / "run.sqlite")
        good = self.report(file)
        with sqlite3.connect(file) as database:
            for start, end in ((0, 0), (0, 10**15 + 9), (10**15 + 9, 0), (10**15 + 9, 10**18), (-5, 6)):
                database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT ?, ?, deviceId, contextId, streamId, 987654321, globalPid, "
                                 "demangledName, shortName, mangledName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1", (start, end))
        self.assertEqual(self.report(file), [{**good[0], "left_out": 5}])
        self.assertIn("5 events without a time were left out", tutti(file).stderr)

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
