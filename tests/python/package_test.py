#!/usr/bin/env python3
"""The installed Python package: what needs no torch, WhisperModel on an emulated GPU and on this machine's CPU.

Usage: package_test.py BUILD TEST... With InTheWheel the wheel is built and installed, else what it has is copied.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import installed
from installed import ROOT

BUILD = ROOT / "build"
LARGEST = 25_000_000  # bytes of the wheel
EMULATED = "emulated:2000x:12GB"
CLIP = ROOT / "samples/LJ003-0002.flac"
TEXT = "The squalor and uncleanness of the dead turf site was intensified by constant overcrowding."


class Package(unittest.TestCase):
    """Runs each script in a process of its own: some of them end badly by intention."""

    def python(self, script, *words, site=None):
        start = "import tutti, numpy as np\nfrom tutti import WhisperModel\n"
        done = subprocess.run([PYTHON, "-c", start + script, *map(str, words)], capture_output=True, text=True, timeout=120,
                              cwd=FOLDER, env=installed.environment(site or SITE), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def refusals(self, *scripts, before="", site=None):
        """Of each script the class and text of this package's exception that it raises; all run in one process."""
        every = json.loads(self.python(before + "import json, sys\nfound = []\nfor script in sys.argv[1:]:\n    try:\n"
                                       "        found.append(exec(script) or 'nothing')\n    except tutti.TuttiError as error:\n"
                                       "        found.append(f'{type(error).__name__} {error.fault} {error}')\n"
                                       "print(json.dumps(found))\n", *scripts, site=site))
        return every

    def assert_refused(self, words, before=""):
        for (script, expected), found in zip(words.items(), self.refusals(*words, before=before), strict=True):
            self.assertIn(expected, found, script)


class WithoutTorch(Package):
    def test_import_needs_neither_torch_nor_numpy(self):
        loaded = subprocess.run([PYTHON, "-c", "import sys, tutti; print('torch' in sys.modules, 'numpy' in sys.modules)"],
                                capture_output=True, text=True, env=installed.environment(SITE), check=True).stdout
        self.assertEqual(loaded.split(), ["False", "False"])

    def test_types_are_checked(self):
        done = subprocess.run([PYTHON, "-m", "mypy", "--cache-dir", FOLDER / "mypy"], capture_output=True, text=True,
                              cwd=ROOT / "python", check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_command_line_is_that_of_the_wheel(self):
        shown = subprocess.run([PYTHON, "-m", "tutti", "--version"], capture_output=True, text=True,
                               env=installed.environment(SITE), check=False).stdout
        self.assertIn("tutti " + self.python("print(tutti._tutti.build_id())"), shown)

    def test_audio_is_that_of_the_command_line(self):
        self.assertEqual(self.python(
            "import sys\n"
            "by_path, by_file = tutti.load_audio(sys.argv[1]), tutti.load_audio(open(sys.argv[1], 'rb'))\n"
            "print(by_path.dtype, by_path.ndim, (by_path == by_file).all(), len(by_path) > 16000)\n"
            "mel = tutti.log_mel(by_path)\n"
            "padded = tutti.log_mel(by_path, padding=480000)\n"
            "print(mel.shape == (80, len(by_path) // 160), mel.dtype, padded.shape[1] - mel.shape[1])\n",
            CLIP), "float32 1 True True\nTrue float32 3000")

    def test_speech_is_found_and_silence_is_not(self):
        self.assertEqual(self.python(
            "import sys\n"
            "found = tutti.vad(sys.argv[1])\n"
            "print(len(found), 0 <= found[0]['start'] < found[0]['end'])\n"
            "print(tutti.vad(np.zeros(32000, np.float32)), tutti.vad(sys.argv[1], threshold=0.5) == found)\n", CLIP),
            "1 True\n[] True")

    def test_word_errors_are_counted(self):
        self.assertEqual(self.python(
            "print(tutti.wer('a b c d', 'a x c'))\n"
            "print(tutti.wer(['Two dogs.', 'x'], ['2 dogs', 'y'], normalizer='english').wer)\n"),
            "WordErrors(wer=0.5, cer=0.42857142857142855, words=4, substitutions=1, insertions=0, deletions=1)\n"
            "0.3333333333333333")

    def test_bad_input_is_named(self):
        self.assert_refused({
            "tutti.log_mel(np.zeros(9, np.int16))": "UsageError usage audio: expected floating-point samples",
            "tutti.log_mel(np.zeros((2, 9)))": "UsageError usage audio: expected one channel, [samples], found the shape (2, 9)",
            "tutti.log_mel(np.array([]))": "UsageError usage audio: expected one sample or more, found none",
            "tutti.log_mel(np.array([0.1, np.nan]))": "found sample 1 that is not a number",
            "tutti.load_audio('/nowhere.wav')": "MissingError missing /nowhere.wav: cannot be opened",
            "tutti.load_audio(sys.executable)": "CorruptError corrupt",
            "tutti.load_audio(b'')": "UsageError usage the file: expected the bytes of an audio file, found none",
            "tutti.load_audio('x', sr=8000)": "UsageError usage sr: expected 16000 Hz",
            "tutti.vad(np.zeros(9), treshold=1)": "found 'treshold'",
            "tutti.wer(['a'], [])": "UsageError usage",
            "tutti.wer('a', 'b', 'french')": "normalizer: expected none, english, basic, found 'french'",
        })

    def test_float64_is_the_same_audio(self):
        self.assertEqual(self.python(
            "tone = np.sin(np.arange(16000) / 9) / 2\n"
            "print((tutti.log_mel(tone) == tutti.log_mel(tone.astype(np.float32))).all())\n"), "True")

    def test_missing_and_other_torch_are_named(self):
        load = f"WhisperModel({str(ROOT / 'models/nano')!r}, device='cpu')"
        self.assertIn("torch: expected torch 2.11 beside the package tutti, found none. Install it: pip install 'torch==2.11.*'",
                      self.refusals(load, site=bare_site())[0])
        other = bare_site("other")
        installed.put_torch(other, "2.9.1")
        self.assertIn(f"UnsupportedError unsupported {other}/torch: expected torch 2.11, found 2.9.1",
                      self.refusals(load, site=other)[0])


class Batches(Package):
    """tutti.Feed, with arrays of NumPy."""
    feed = (
        "import json, pathlib, sys\n"
        "rows = [{'id': str(at), 'audio': path, 'text': f'text {at}'} for at, path in enumerate(sys.argv[1:])]\n"
        "pathlib.Path('set.jsonl').write_text(''.join(json.dumps(row) + '\\n' for row in rows))\n"
        "def feed(**more):\n"
        "    return tutti.Feed('set.jsonl', tensors='numpy', seed=3, look_ahead=1, **{'batch_size': 2, **more})\n")

    def run_feed(self, script):
        return self.python(self.feed + script, *([CLIP, ROOT / "samples/LJ003-0009.flac"] * 3))

    def test_batches_have_features_and_labels(self):
        self.assertEqual(self.run_feed(
            "every = list(feed(tokenizer=lambda text: [5] * len(text.split())))\n"
            "first = every[0]\n"
            "print(len(every), sorted(one for batch in every for one in batch.ids), first.input_features.shape[:2])\n"
            "print(0 <= first.input_features.shape[2] - max(first.frames) < 2, first.labels.tolist())\n"
            "print(sorted(first.model_inputs()))\n"),
            "3 ['0', '1', '2', '3', '4', '5'] (2, 80)\nTrue [[5, 5], [5, 5]]\n['input_features', 'labels']")

    def test_features_are_those_of_log_mel(self):
        self.assertEqual(self.run_feed(
            "batch = next(iter(feed(batch_size=1, shuffle=False)))\n"
            "frames = batch.frames[0] - 8\n"
            "print(np.allclose(batch.input_features[0][:, :frames], tutti.log_mel(sys.argv[1])[:, :frames], atol=1e-4))\n"), "True")

    def test_order_is_the_same_for_any_threads_and_behind_a_state(self):
        self.assertEqual(self.run_feed(
            "def ids(of): return [batch.ids for batch in of]\n"
            "one, many = ids(feed(threads=1)), ids(feed(threads=4))\n"
            "begun = feed()\n"
            "first = next(iter(begun))\n"
            "later = feed()\n"
            "later.load_state_dict(begun.state_dict())\n"
            "print(one == many, [first.ids] + ids(later) == one, ids(begun) == one[1:])\n"
            "print(sorted(sum(ids(begun), [])) == sorted(sum(one, [])), ids(later) != one)\n"), "True True True\nTrue True")

    def test_ranks_share_the_samples(self):
        self.assertEqual(self.run_feed(
            "parts = [[one for batch in feed(rank=rank, world_size=2) for one in batch.ids] for rank in (0, 1)]\n"
            "print([len(part) for part in parts], sorted(parts[0] + parts[1]))\n"), "[3, 3] ['0', '1', '2', '3', '4', '5']")

    def test_bad_arguments_and_sets_are_named(self):
        self.assert_refused({
            "list(tutti.Feed('/nowhere.jsonl', tensors='numpy'))": "MissingError missing /nowhere.jsonl",
            "tutti.Feed('x', padding='none')": "padding: expected bucket or window, found 'none'",
            "list(tutti.Feed('/tmp', tensors='numpy', batch_size=0))": "expected the batch size from 1",
            "tutti.Feed('x', tensors='numpy', pin_memory=True)": "expected none with tensors='numpy'",
        })


class OnAnEmulatedGpu(Package):
    """models/nano on a GPU that is played: its text is made up."""
    load = f"model = WhisperModel({str(ROOT / 'models/nano')!r}, device={EMULATED!r})\n"

    def test_segments_have_faster_whispers_fields(self):
        self.assertEqual(self.python(
            self.load +
            "segments, info = model.transcribe(np.sin(np.arange(960000) / 9), language='en', word_timestamps=True)\n"
            "print(type(segments).__name__, info.language, info.language_probability, info.duration, info.duration_after_vad)\n"
            "every = list(segments)\n"
            "print([one.id for one in every] == list(range(1, len(every) + 1)), len(every) > 1, every[0].words is not None)\n"
            "print(info.transcription_options.beam_size, info.vad_options)\n"),
            "generator en 1.0 60.0 60.0\nTrue True True\n5 None")

    def test_dropped_generator_frees_its_work(self):
        self.python(
            f"model = WhisperModel({str(ROOT / 'models/nano')!r}, device='emulated:20x:12GB')\n"
            "import time\n"
            "noise = np.random.default_rng(1).uniform(-0.5, 0.5, 16000 * 300)\n"
            "for _ in range(12):\n"
            "    segments, info = model.transcribe(noise)\n"
            "    next(segments)\n"
            "    del segments\n"
            "assert list(model.transcribe(noise[:160000])[0])\n")

    def test_threads_share_a_model(self):
        self.assertEqual(self.python(
            self.load +
            "from concurrent.futures import ThreadPoolExecutor\n"
            "noise = np.random.default_rng(1).uniform(-0.5, 0.5, 16000 * 60)\n"
            "with ThreadPoolExecutor(8) as pool:\n"
            "    texts = list(pool.map(lambda _: ''.join(s.text for s in model.transcribe(noise)[0]), range(8)))\n"
            "print(len(set(texts)))\n"), "1")

    def test_interrupt_ends_a_wait(self):
        self.assertEqual(self.python(
            "model = WhisperModel(%r, device='emulated:1x:12GB')\n" % str(ROOT / "models/nano") +
            "import os, signal, threading\n"
            "segments, info = model.transcribe(np.random.default_rng(1).uniform(-0.5, 0.5, 16000 * 600))\n"
            "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "try:\n"
            "    list(segments)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"), "interrupted")

    def test_forked_child_is_refused_and_its_end_harms_nothing(self):
        self.assertEqual(self.python(
            self.load +
            "import os\n"
            "noise = np.random.default_rng(1).uniform(-0.5, 0.5, 160000)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    try:\n"
            "        model.transcribe(noise)\n"
            "    except tutti.UsageError as error:\n"
            "        os._exit(7 if 'forked' in str(error) else 1)\n"
            "    os._exit(2)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    raise SystemExit(5)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(list(model.transcribe(noise)[0])) > 0)\n"), "7\n5 True")

    def test_closed_model_is_named(self):
        self.assert_refused({"model.transcribe(b'x')": "CancelledError cancelled it is closed"},
                            before=self.load + "model.close()\n")

    def test_what_tutti_has_not_is_refused_by_name(self):
        self.assert_refused({f"model.transcribe(np.ones(16000), {argument})": words for argument, words in {
            "repetition_penalty=2": "repetition_penalty: expected 1, found 2",
            "no_repeat_ngram_size=3": "no_repeat_ngram_size: expected 0, found 3",
            "length_penalty=0.5": "length_penalty: expected 1 or 0, found 0.5",
            "initial_prompt=[1, 2]": "initial_prompt: expected a text, found token ids",
            "chunk_length=10": "chunk_length: expected None or 30, found 10",
            "clip_timestamps='a'": "clip_timestamps: expected seconds",
            "language_detection_segments=2": "language_detection_segments: expected 1, found 2",
            "task='sing'": "task: expected transcribe or translate, found 'sing'",
        }.items()} | {
            "WhisperModel('x', download_root='y')": "download_root: expected None",
            "WhisperModel('x', device_index=[0, 1])": "device_index: expected 0 with device 'auto'",
            "WhisperModel('x', sing=True)": "expected no argument 'sing'",
        }, before=self.load)

    def test_openai_whispers_result_is_a_dict(self):
        self.assertEqual(self.python(
            f"model = tutti.load_model({str(ROOT / 'models/nano')!r}, device={EMULATED!r})\n"
            "result = model.transcribe(np.random.default_rng(1).uniform(-0.5, 0.5, 160000), language='en', fp16=False)\n"
            "print(sorted(result), sorted(result['segments'][0]))\n"),
            "['language', 'segments', 'text'] ['avg_logprob', 'compression_ratio', 'end', 'id', 'no_speech_prob', 'seek', 'start', "
            "'temperature', 'text', 'tokens']")

    def test_chunks_of_speech_are_decoded_side_by_side(self):
        self.assertEqual(self.python(
            self.load +
            "import sys\n"
            "segments, info = tutti.BatchedInferencePipeline(model).transcribe(sys.argv[1], batch_size=4)\n"
            "print(len(list(segments)) > 0, info.duration_after_vad <= info.duration, info.vad_options.min_silence_duration_ms)\n",
            CLIP), "True True 160")


class InTheWheel(Package):
    """The wheel, and tiny.en in it on this machine's CPU."""

    def test_wheel_is_small_and_has_no_libtorch(self):
        self.assertLess(WHEEL.stat().st_size, LARGEST)
        names = zipfile.ZipFile(WHEEL).namelist()
        for name in ("tutti/bin/tutti", "tutti/bin/tutti-engine", "tutti/py.typed", "tutti/_tutti.pyi"):
            self.assertIn(name, names)
        self.assertEqual([name for name in names if "libtorch" in name or "libc10" in name], [])

    def test_clip_has_its_words(self):
        self.assertEqual(self.python(
            "import sys\n"
            "model = WhisperModel(sys.argv[1], device='cpu', compute_type='float32')\n"
            "segments, info = model.transcribe(sys.argv[2], language='en', beam_size=5)\n"
            "print(''.join(segment.text for segment in segments).strip())\n"
            "samples = tutti.load_audio(sys.argv[2])\n"
            "print(model.detect_language(samples), model.supported_languages, round(info.duration, 1))\n"
            "print(''.join(segment.text for segment in model.transcribe(samples)[0]).strip())\n", tiny_en(), CLIP),
            f"{TEXT}\n('en', 1.0, []) ['en'] 7.3\n{TEXT}")

    def test_model_of_another_kind_is_named(self):
        folders = (ROOT / "models/leaks", ROOT / "samples")
        scripts = [f"WhisperModel({str(folder)!r}, device='cpu')" for folder in folders]
        for folder, found in zip(folders, self.refusals(*scripts), strict=True):
            self.assertRegex(found, f"^(Usage|Missing|Corrupt|Unsupported)Error.*{folder}")


def tiny_en():
    """The real tiny.en that set-up has fetched."""
    model = installed.python_packages.CACHE / "fetched/openai--whisper-tiny.en"
    return model if (model / "model.bin").exists() else installed.python_packages.skip("another download: tiny.en is not here")


def bare_site(name="bare"):
    """The package where there is no torch, or another one."""
    site = FOLDER / name
    site.mkdir(exist_ok=True)
    if not (site / "tutti").exists():
        shutil.copytree(SITE / "tutti", site / "tutti")
    return site


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    is_wheel = "InTheWheel" in sys.argv
    if is_wheel:
        tiny_en()  # or this test is left out
    with tempfile.TemporaryDirectory() as name:
        FOLDER = pathlib.Path(name)
        SITE = FOLDER / "site"
        PYTHON = installed.python_of_build()
        WHEEL = installed.install_wheel(BUILD, FOLDER) if is_wheel else installed.copy_package(BUILD, SITE)
        installed.put_torch(SITE)
        unittest.main()
