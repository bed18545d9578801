#!/usr/bin/env python3
"""Tests of the scripts that judge the others: the test summary, the layer check, the registration check, the report of make peers, the word error rates,
speed beside other programs."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import wave

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
sys.path.insert(0, str(ROOT / "bench/peers"))
sys.path.insert(0, str(ROOT / "bench"))

import contention
from contract import LINES, Line, faster_whisper, transformers
from measured import Measured
from report import Report
from side_by_side import Bench


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, env={**os.environ, **environment})


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class TestSummary(unittest.TestCase):
    """run_tests.py over a made ctest project without any compiler."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def summary(self, tests, **environment):
        root = pathlib.Path(self.folder.name)
        write(root / "CTestTestfile.cmake", tests)
        return run(TOOLS / "run_tests.py", root, **environment)

    GOOD = 'add_test(good "/bin/true")\n'
    BAD = 'add_test(bad "/bin/false")\n'
    GONE = 'add_test(gone "/nowhere/program")\n'
    SKIPPED = ('add_test(skipped "/bin/echo" "x.cpp:3: Skipped\nneeds the moon\n[  SKIPPED ]")\n'
               'set_tests_properties(skipped PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")\n')

    def test_every_outcome_is_counted_and_named(self):
        done = self.summary(self.GOOD + self.BAD + self.GONE + self.SKIPPED)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 2 failed, 1 skipped")
        self.assertIn("skipped: skipped: needs the moon", done.stdout)
        self.assertIn("failed: bad", done.stdout)
        self.assertIn("failed: gone", done.stdout)

    def test_a_skip_is_a_failure_only_where_it_is_said_to_be(self):
        self.assertEqual(self.summary(self.GOOD + self.SKIPPED, TUTTI_NO_SKIPS="0").returncode, 0)
        self.assertEqual(self.summary(self.GOOD + self.SKIPPED, TUTTI_NO_SKIPS="1").returncode, 1)
        self.assertEqual(self.summary(self.GOOD, TUTTI_NO_SKIPS="1").returncode, 0)
        for reason in ("another program: needs a Python", "another machine: needs tiles"):
            elsewhere = self.SKIPPED.replace("needs the moon", reason)
            done = self.summary(self.GOOD + elsewhere, TUTTI_NO_SKIPS="1")
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"skipped: skipped: {reason}", done.stdout)
            self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed, 1 skipped")

    def test_no_tests_at_all_is_a_failure(self):
        self.assertEqual(self.summary("").returncode, 1)


class TestHouse(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def test_an_include_up_the_house_is_found(self):
        write(self.root / "src/base/a.h", '#include "flow/b.h"\n')
        done = run(TOOLS / "check_layers.py", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'base' may not include 'flow'", done.stdout)

    def test_torch_above_the_line_is_found(self):
        write(self.root / "src/audio/a.cpp", "#include <ATen/ATen.h>\n")
        self.assertEqual(run(TOOLS / "check_layers.py", self.root).returncode, 1)

    def test_a_tree_that_keeps_the_rules_passes(self):
        write(self.root / "src/flow/a.cpp", '#include "base/b.h"\n')
        write(self.root / "src/model/a.cpp", "#include <ATen/ATen.h>\n")
        self.assertEqual(run(TOOLS / "check_layers.py", self.root).returncode, 0)

    def test_a_test_file_that_nothing_compiles_is_found(self):
        for name in ("a_test.cpp", "b_test.cpp"):
            write(self.root / "tests/base" / name, "")
        commands = [{"directory": str(self.root), "file": "tests/base/a_test.cpp"}]
        write(self.root / "build/compile_commands.json", json.dumps(commands))
        done = run(TOOLS / "check_tests.py", self.root, self.root / "build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tests/base/b_test.cpp", done.stdout)
        self.assertNotIn("a_test.cpp", done.stdout)


class TestPeers(unittest.TestCase):
    """What makes `make peers` fail; the programs that it measures are not needed."""

    NAMES = [line.name for line in LINES]

    def closed(self, measured, failed=()):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            report = Report(io.StringIO())
            for name in measured:
                report.add(name, "x real time", 2.0, "a peer", 1.0, 2.0)
                report.add(f"{name}/cpu", "cpu seconds", 1.0, "a peer", 2.0, 2.0)
            for name in failed:
                report.fail(name, "no peer could run")
            return report.close(self.NAMES), said.getvalue()

    def test_the_contract_has_every_mode_size_and_search(self):
        self.assertEqual(set(self.NAMES), {f"transcribe/{mode}/{size}/{search}" for mode in ("sequential", "batched", "short40")
                                           for size in ("tiny", "base", "small") for search in ("greedy", "beam5")})

    def test_all_lines_there_is_success(self):
        code, said = self.closed(self.NAMES)
        self.assertEqual(code, 0)
        self.assertIn("18 comparisons, all there", said)

    def test_a_line_that_is_missing_fails_whether_it_said_why_or_not(self):
        for failed in ([], self.NAMES[3:4]):
            code, said = self.closed(self.NAMES[:3] + self.NAMES[4:], failed)
            self.assertEqual(code, 1)
            self.assertIn(f"1 of 18 comparisons failed: {self.NAMES[3]}", said)


class TestPeakMemory(unittest.TestCase):
    """Whose memory stands beside ours in make peers; nothing is run."""

    def names(self, mode, fastest, whisper_cpp=None, quick=False):
        bench = Bench.__new__(Bench)
        bench.options = types.SimpleNamespace(whisper_cpp=whisper_cpp, quick=quick)
        bench.files = lambda line: []
        bench.run_peer = lambda line, setting, files, folder: (Measured(1.0, 1.0, 200.0, ""), {})
        lines = list(bench.memory_lines(Line(mode, "base", "greedy"), fastest, [Measured(1.0, 1.0, 100.0, "")], None))
        for line in lines:
            self.assertEqual((line["tutti"], line["peer_value"], line["ratio"]), (100.0, 200.0, 2.0))
        return [(line["what"], line["peer"]) for line in lines]

    def test_faster_whisper_at_our_batch_where_another_was_the_fastest(self):
        self.assertEqual(self.names("batched", transformers("batched:8")),
                         [("transcribe/batched/base/greedy/peak-memory/faster-whisper", "faster-whisper int8 batched:8")])
        self.assertEqual(self.names("batched", faster_whisper("batched:8")), [])
        self.assertEqual(len(self.names("batched", faster_whisper("batched:4"))), 1)

    def test_whisper_cpp_where_its_sources_are(self):
        found = self.names("sequential", faster_whisper("sequential"), whisper_cpp="sources")
        self.assertEqual(found, [("transcribe/sequential/base/greedy/peak-memory/whisper.cpp", "whisper.cpp q8_0 sequential")])

    def test_a_trial_runs_nothing_more(self):
        self.assertEqual(self.names("batched", transformers("batched:8"), quick=True), [])


FAKE_TUTTI = """#!/usr/bin/env python3
import json, pathlib, sys
words = sys.argv[1:]
value = lambda flag: words[words.index(flag) + 1]
if words[0] == "wer":
    print(json.dumps({"wer": float(pathlib.Path(value("--hyp")).read_text().split()[0]), "words": 1000}))
else:
    out = pathlib.Path(value("--output-dir"))
    out.mkdir(exist_ok=True)
    loop = 0.2 if (value("--compute-type"), value("--clip-timestamps")) == ("bfloat16", "0.03") else 0
    for file in words[words.index("--quiet") + 1:]:
        rate = {"float32": 0.14, "bfloat16": 0.1449, "int8": 0.1451}[value("--compute-type")] + loop
        (out / (pathlib.Path(file).stem + ".txt")).write_text(f"{rate}\\n{rate}\\n")
"""


class TestWordErrors(unittest.TestCase):
    """bench/word_errors.py with a program in tutti's place whose transcripts are error rates: bfloat16's second reading has a loop."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        write(self.root / "tutti", FAKE_TUTTI)
        (self.root / "tutti").chmod(0o755)
        write(self.root / "data/whisper-tiny.en/clips/texts.json",
              json.dumps({"a.wav": {"text": "one two"}, "quiet.wav": {"text": ""}, "b.flac": {"text": "three"}}))

    def compared(self, *types):
        return run(ROOT / "bench/word_errors.py", "--tutti", self.root / "tutti", "--data", self.root / "data", "--sets", "clips",
                   *types)

    def test_a_type_half_a_point_above_float32_passes_whatever_one_reading_says(self):
        done = self.compared("--starts", "3", "bfloat16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(),
                         ["clips, from 0.00 s: float32 14.00 %, bfloat16 14.49 %",
                          "clips, from 0.03 s: float32 14.00 %, bfloat16 34.49 %",
                          "clips, from 0.06 s: float32 14.00 %, bfloat16 14.49 %",
                          "clips: bfloat16 +7.16 points, the median +0.49, least +0.49, most +20.49"])

    def test_one_further_above_fails_and_is_named(self):
        done = self.compared()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("more than 0.5 points above float32: int8 on clips", done.stdout)

    def test_an_unknown_set_is_refused(self):
        done = run(ROOT / "bench/word_errors.py", "--sets", "clips,songs")
        self.assertEqual(done.returncode, 2)
        self.assertIn("found songs", done.stderr)


class TestContention(unittest.TestCase):
    """bench/contention.py: what is fair, which targets a load misses, and a whole run with a program in tutti's place."""

    def setUp(self):
        cores, contention.CORES = contention.CORES, 2
        self.addCleanup(setattr, contention, "CORES", cores)
        self.work = types.SimpleNamespace(name="decode", threads=2)

    def line(self, seconds, cpu, single=()):
        runs = [contention.Run(s, c) for s, c in zip(seconds, cpu)]
        return contention.summary(self.work, contention.Load(loops=2), runs, [contention.Run(10, 18)] * 3,
                                  [contention.Run(s, s) for s in single])

    def test_two_threads_beside_loops_keep_their_part_of_two_cores(self):
        self.assertEqual([round(contention.Load(loops=k).fair(2), 3) for k in (0, 1, 2, 4)], [1, 0.667, 0.5, 0.333])

    def test_one_thread_has_a_core_while_there_is_one(self):
        self.assertEqual([contention.Load(loops=k).fair(1) for k in (0, 1, 4)], [1, 1, 0.4])

    def test_a_quota_is_fair_by_itself(self):
        self.assertEqual((contention.Load(quota=1.5).fair(2), contention.Load(quota=1.5).fair(1)), (0.75, 1))

    def test_speed_and_cost_within_the_targets_miss_none(self):
        line = self.line([20, 21, 23], [18, 19, 22], single=[23, 23, 24])
        self.assertEqual((line["fair"], line["missed"]), (0.5, []))

    def test_each_missed_target_is_named(self):
        line = self.line([24, 25, 40], [26, 27, 30], single=[20, 20, 20])
        self.assertEqual(line["missed"], ["speed_median", "speed_worst", "cpu_median", "cpu_worst", "single"])

    def test_a_run_prints_a_line_for_each_load_and_fails_where_one_is_missed(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "speech").mkdir()
            with wave.open(str(root / "speech/gb0.wav"), "wb") as audio:
                audio.setnchannels(1), audio.setsampwidth(2), audio.setframerate(16000)
                audio.writeframes(bytes(32000))
            # The first call finds out how long the work takes, the second is alone, the third beside the loop.
            write(root / "tutti", "#!/bin/sh\necho >> $0.calls\nsleep 0.05\n[ $(wc -l < $0.calls) -lt 3 ] || sleep 0.5\n")
            (root / "tutti").chmod(0o755)
            done = run(ROOT / "bench/contention.py", "--tutti", root / "tutti", "--data", root, "--work", "features", "--loads", "1",
                       "--runs", "1", "--seconds", "0.05")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["load"] for line in lines], ["0 loops", "1 loops", "1 loops"], done.stderr)
        self.assertIn("speed_median", lines[-1]["missed"])
        self.assertEqual(done.returncode, 1)

    def test_unknown_work_is_refused(self):
        done = run(ROOT / "bench/contention.py", "--work", "decode,dance")
        self.assertEqual(done.returncode, 2)
        self.assertIn("found dance", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
