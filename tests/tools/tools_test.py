#!/usr/bin/env python3
"""Tests of the scripts that judge the others: the test summary, the layer check, the registration check, the check of console blocks, the report of make peers, the word error rates."""
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
sys.path.insert(0, str(ROOT / "bench/peers"))

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


class TestConsole(unittest.TestCase):
    """check_console.py over a page and a program of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        write(self.root / "bin/tutti", '#!/bin/sh\necho "$@" in $TUTTI_MODEL 3.14 s\necho "  12 MB   rest"\n[ "$1" != fail ]\n')
        (self.root / "bin/tutti").chmod(0o755)

    def check(self, *lines):
        write(self.root / "README.md", "\n".join(("# Page", "", *lines, "")))
        return run(TOOLS / "check_console.py", self.root, self.root / "bin", TUTTI_TEST_DATA=str(self.root / "nowhere"))

    def test_what_a_command_prints_is_compared_with_its_block(self):
        good = self.check("```console", "$ tutti a b", "a b in 3.14 s", "  12 MB   rest", "```")
        self.assertEqual((good.returncode, good.stdout), (0, "1 blocks run, 0 commands print something else\n"))
        bad = self.check("```console", "$ tutti a b", "a b in 3.14 s", "  13 MB   rest", "```")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("README.md:4: $ tutti a b", bad.stdout)
        self.assertIn("    -  13 MB   rest\n    +  12 MB   rest", bad.stdout)

    def test_ellipses_marked_numbers_and_spaces_leave_room(self):
        for shown in (("…",), ("a in ~9.99 s", "12 MB rest"), ("a … s", "…"), ("…", "   ~7 MB  rest")):
            self.assertEqual(self.check("```console", "$ tutti a", *shown, "```").returncode, 0, shown)
        for shown in ((), ("a in ~9.99 s",), ("a in 9.99 s", "…"), ("~1 in 3.14 s", "…"), ("…", "12 MB re")):
            self.assertEqual(self.check("```console", "$ tutti a", *shown, "```").returncode, 1, shown)

    def test_an_exit_code_that_is_not_shown_is_a_failure(self):
        self.assertIn("exit code 1", self.check("```console", "$ tutti fail", "…", "```").stdout)
        told = self.check("```console", "$ tutti fail", "…", "$ echo $?", "1", "```")
        self.assertEqual(told.returncode, 0, told.stdout)

    def test_blocks_of_a_page_share_a_folder_and_an_ellipsis_is_not_run(self):
        done = self.check("```console", "$ tutti x > out.txt", "$ export TUTTI_MODEL=…/tiny", "```", "", "```console", "$ cat out.txt",
                          "x in 3.14 s", "…", "```")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_block_whose_needs_are_missing_is_skipped_by_name(self):
        done = self.check("```console", "$ tutti a", "…", "```", "", "```console needs=model,amx", "$ tutti b", "wrong", "```")
        self.assertEqual(done.returncode, 0)
        self.assertIn("skipped: README.md:8: needs model, amx", done.stdout)

    def test_commands_in_another_fence_and_pages_without_any_are_refused(self):
        self.assertIn("README.md:3: commands with what they print are a ```console block", self.check("```", "$ tutti a", "```").stdout)
        self.assertEqual(self.check("no block").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
