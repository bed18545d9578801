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


# Whether Ctrl-C after 0.2 s ends a call within a second.
INTERRUPTED = """
import os, signal, threading, time
def interrupted(call):
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    try:
        call()
    except KeyboardInterrupt:
        return time.monotonic() - begin < 1.2
    return False
"""


class Package(unittest.TestCase):
    """Runs each script in a process of its own: some of them end badly by intention."""

    def python(self, script, *words, site=None, start="import tutti, numpy as np\nfrom tutti import WhisperModel\n"):
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

    def test_import_is_short(self):
        took = [float(self.python("", start="import time\nbegin = time.process_time()\nfrom tutti import WhisperModel, Feed\n"
                                  "print(time.process_time() - begin)\n")) for _ in range(2)]
        self.assertLess(min(took), 0.15)  # seconds of a processor, whatever else runs

    def test_exceptions_are_of_one_hierarchy(self):
        self.assertEqual(self.python(
            "from tutti import errors\n"
            "for fault in ('usage', 'missing', 'corrupt', 'unsupported', 'full', 'device', 'cancelled', 'internal'):\n"
            "    error = errors.of_fault(fault, 'x: is not there')\n"
            "    names = [base.__name__ for base in type(error).__mro__[:-3] if base is not tutti.TuttiError]\n"
            "    print(fault, isinstance(error, tutti.TuttiError), error.fault == fault, str(error), *names)\n"),
            "usage True True x: is not there UsageError ValueError\n"
            "missing True True x: is not there MissingError FileNotFoundError OSError\n"
            "corrupt True True x: is not there CorruptError ValueError\n"
            "unsupported True True x: is not there UnsupportedError NotImplementedError RuntimeError\n"
            "full True True x: is not there DeviceError RuntimeError\n"
            "device True True x: is not there DeviceError RuntimeError\n"
            "cancelled True True x: is not there CancelledError\n"
            "internal True True x: is not there")

    def test_interrupt_ends_a_long_computation(self):
        self.assertEqual(self.python(
            INTERRUPTED +
            "samples = np.tile(np.random.default_rng(1).uniform(-0.1, 0.1, 16000).astype(np.float32), 3600)\n"
            "print(interrupted(lambda: tutti.vad(samples)))\n"), "True")

    def test_plan_is_that_of_the_command_line(self):
        self.assertEqual(self.python(
            "made = tutti.plan(np.full(40, 90.0), model='tiny', gpus='12GB:30x', ram='64GB')\n"
            "print(made.least <= made.expected <= made.most, 100 < made.expected < 300, made.devices[0]['speed_x'])\n"
            "print(made.recommended.split()[:2], made.cost, tutti.plan(model='tiny', gpus='12GB:30x', ram='64GB').expected)\n"),
            "True True 30.0\n['tutti', 'batch'] None None")
        self.assert_refused({"tutti.plan([1.0], gpus='fast')": "UsageError usage device 'fast': expected MEMORY:SPEED",
                             "tutti.plan([1, -1])": "UsageError usage recordings[1]: expected a length in seconds, found -1.0"})

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

    def test_augmented_samples_are_the_same_for_any_threads(self):
        self.assertEqual(self.run_feed(
            "augment = tutti.Augment(speed_share=1, noise_share=0.5, mask_bands=1)\n"
            "def features(**more): return [batch.input_features for batch in feed(**more)]\n"
            "def same(some, others): return all(a.shape == b.shape and (a == b).all() for a, b in zip(some, others))\n"
            "plain, one, many = features(), features(augment=augment), features(augment=dict(vars(augment)), threads=4)\n"
            "print(same(one, many), same(plain, one))\n"), "True False")

    def test_batch_has_its_state(self):
        self.assertEqual(self.run_feed(
            "every = list(feed())\n"
            "later = feed()\n"
            "later.load_state_dict(every[0].state)\n"
            "print([batch.ids for batch in later] == [batch.ids for batch in every[1:]])\n"
            "print([sorted(inputs) for inputs in feed().inputs()])\n"),
            "True\n[['input_features'], ['input_features'], ['input_features']]")

    def test_arrays_are_shared_by_dlpack(self):
        self.assertEqual(self.run_feed(
            "array = next(iter(feed())).input_features\n"
            "print(np.shares_memory(np.from_dlpack(array), array), array.flags.writeable)\n"), "True True")

    def test_long_recordings_are_cut_as_requested(self):
        self.assertEqual(self.run_feed(
            "import wave\n"
            "with wave.open('long.wav', 'wb') as file:\n"
            "    file.setparams((1, 2, 16000, 0, 'NONE', ''))\n"
            "    file.writeframes((np.sin(np.arange(40 * 16000) / 9) * 9000).astype('<i2').tobytes())\n"
            "words = [{'word': f' w{at}', 'start': at, 'end': at + 1} for at in range(40)]\n"
            "text = ''.join(word['word'] for word in words).strip()\n"
            "pathlib.Path('set.jsonl').write_text(json.dumps({'id': 'a', 'audio': 'long.wav', 'text': text, 'words': words}))\n"
            "def pieces(**more):\n"
            "    return [piece for batch in feed(shuffle=False, **more) for piece in zip(batch.ids, batch.frames)]\n"
            "print([one for one, _ in pieces()], sum(frames for _, frames in pieces()) < 4100)\n"
            "print(sum(frames for _, frames in pieces(chunking='sliding')) > 4500)\n"
            "try: pieces(chunking='refused')\n"
            "except tutti.CorruptError as error: print('are not to be cut' in str(error))\n"), "['a#1', 'a#2'] True\nTrue\nTrue")

    def test_tensors_are_copied_once_each_way(self):
        self.assertEqual(self.run_feed(
            "import types\n"
            "class Tensor:  # torch's, as far as the feed uses it\n"
            "    def __init__(self, array, steps=()): self.array, self.steps = array, steps\n"
            "    def pin_memory(self): return Tensor(self.array, (*self.steps, 'pinned'))\n"
            "    def to(self, device, non_blocking): return Tensor(self.array, (*self.steps, device, non_blocking))\n"
            "sys.modules['torch'] = types.SimpleNamespace(from_numpy=Tensor)\n"
            "for more in ({}, {'device': 'cuda'}, {'pin_memory': True}, {'device': 'cuda', 'pin_memory': True}):\n"
            "    batch = next(iter(tutti.Feed('set.jsonl', tokenizer=lambda text: [1], **more)))\n"
            "    print(batch.input_features.steps, batch.labels.steps == batch.input_features.steps)\n"),
            "() True\n('cuda', False) True\n('pinned',) True\n('pinned', 'cuda', True) True")

    def test_bad_samples_are_listed(self):
        self.assertEqual(self.run_feed(
            "pathlib.Path('bad.wav').write_bytes(b'no audio')\n"
            "with open('set.jsonl', 'a') as file: file.write('{\"id\": \"bad\", \"audio\": \"bad.wav\", \"text\": \"x\"}\\n')\n"
            "some = feed()\n"
            "print(sum(len(batch.ids) for batch in some), [bad.id for bad in some.bad_samples])\n"
            "print('bad.wav' in some.bad_samples[0].reason)\n"
            "print(feed().bad_samples)\n"), "6 ['bad']\nTrue\n[]")

    def test_shards_are_read_where_they_are(self):
        self.assertEqual(self.run_feed(
            "import tarfile\n"
            "with tarfile.open('set-0.tar', 'w') as tar:\n"
            "    for at, path in enumerate(sys.argv[1:3]):\n"
            "        tar.add(path, f'a/{at}.flac')\n"
            "        pathlib.Path('one.txt').write_text(f'text {at}')\n"
            "        tar.add('one.txt', f'a/{at}.txt')\n"
            "one, = tutti.Feed('set-{0..0}.tar', tensors='numpy', shuffle=False)\n"
            "two = next(iter(feed(shuffle=False)))\n"
            "print(one.ids, one.texts == two.texts, (one.input_features == two.input_features).all())\n"),
            "['set-0/a/0', 'set-0/a/1'] True True")

    def test_parquet_becomes_shards_once(self):
        self.assertEqual(self.run_feed(
            "import os, types\n"
            "os.environ['TUTTI_CACHE'] = 'cache'\n"
            "rows = [{'audio': {'bytes': pathlib.Path(path).read_bytes(), 'path': None}, 'sentence': f'text {at}', 'age': 3}\n"
            "        for at, path in enumerate(sys.argv[1:3])] + [{'audio': {'bytes': None, 'path': 'x.wav'}, 'sentence': 'y'}]\n"
            "read = []\n"
            "class ParquetFile:  # pyarrow's, as far as it is used\n"
            "    def __init__(self, path): read.append(path)\n"
            "    def iter_batches(self, batch_size): yield types.SimpleNamespace(to_pylist=lambda: rows)\n"
            "sys.modules['pyarrow'] = types.ModuleType('pyarrow')\n"
            "sys.modules['pyarrow.parquet'] = types.SimpleNamespace(ParquetFile=ParquetFile)\n"
            "pathlib.Path('hub').mkdir()\n"
            "pathlib.Path('hub/train-00.parquet').write_bytes(b'PAR1')\n"
            "for _ in range(2):\n"
            "    some = tutti.Feed('hub', tensors='numpy', shuffle=False)\n"
            "    one, = some\n"
            "    print(one.ids, one.texts, len(some.bad_samples), len(read))\n"),
            "\n".join(["['train-00/00000000', 'train-00/00000001'] ['text 0', 'text 1'] 1 1"] * 2))

    def test_interrupt_ends_opening_and_forked_child_is_refused(self):
        self.assertEqual(self.run_feed(
            INTERRUPTED +
            "print(interrupted(lambda: next(iter(tutti.Feed('pipe:sleep 20', tensors='numpy')))))\n"
            "begun = feed()\n"
            "next(iter(begun))\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    try:\n"
            "        next(iter(begun))\n"
            "    except tutti.UsageError as error:\n"
            "        os._exit(7 if 'forked' in str(error) else 1)\n"
            "    os._exit(2)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(list(begun)))\n"), "True\n7 2")

    def test_bad_arguments_and_sets_are_named(self):
        self.assert_refused({
            "tutti.Feed('x', chunking='odd')": "chunking: expected sequential, sliding, random, refused, found 'odd'",
            "tutti.Feed('x', augment={'sped': 1})": "UsageError usage augment: expected speed_share, ",
            "tutti.Feed('x', augment={'gain_share': 2})": "gain_share: expected 0 to 1, found 2",
            "list(tutti.ClipFeed('/nowhere', tensors='numpy'))": "MissingError missing /nowhere: ",
            "list(tutti.ClipFeed('x', part='some', tensors='numpy'))": "expected training, validation or testing, found 'some'",
            "list(tutti.VoiceFeed('/nowhere', tensors='numpy'))": "MissingError missing /nowhere",
            "list(tutti.VoiceFeed('x', rank=2, tensors='numpy'))": "rank 2: expected 0 to world_size - 1",
            "list(tutti.Feed('/nowhere.jsonl', tensors='numpy'))": "MissingError missing /nowhere.jsonl",
            "tutti.Feed('x', padding='none')": "padding: expected bucket or window, found 'none'",
            "list(tutti.Feed('/tmp', tensors='numpy', batch_size=0))": "expected the batch size from 1",
            "tutti.Feed('x', tensors='numpy', pin_memory=True)": "expected none with tensors='numpy'",
        })


class PreparedSets(Package):
    """tutti.ClipFeed and tutti.VoiceFeed on sets of this machine."""

    def test_labelled_clips_come_with_their_labels(self):
        self.assertEqual(self.python(
            "import pathlib, subprocess, sys, wave\n"
            "noise = np.random.default_rng(1)\n"
            "for at in range(24):\n"
            "    path = pathlib.Path(f\"sounds/{('hum', 'hiss')[at % 2]}/{at}.wav\")\n"
            "    path.parent.mkdir(parents=True, exist_ok=True)\n"
            "    tone = np.sin(np.arange(8000) / (4 + at)) if at % 2 == 0 else noise.uniform(-1, 1, 8000)\n"
            "    with wave.open(str(path), 'wb') as file:\n"
            "        file.setparams((1, 2, 16000, 0, 'NONE', ''))\n"
            "        file.writeframes((tone * 9000).astype('<i2').tobytes())\n"
            "subprocess.run([sys.executable, '-m', 'tutti', 'prepare', 'classifier', '--data', 'sounds', '--out', 'clips'],\n"
            "               check=True, capture_output=True)\n"
            "def feed(**more): return tutti.ClipFeed('clips', tensors='numpy', **{'batch_size': 4, **more})\n"
            "some = feed()\n"
            "every = list(some)\n"
            "names = [some.labels[label] for batch in every for label in batch.inputs['labels']]\n"
            "ids = [one for batch in every for one in batch.ids]\n"
            "print(len(ids) == some.rows == len(set(ids)), all(name in one for name, one in zip(names, ids)))\n"
            "print(every[0].inputs['input_features'].shape[:2] == (4, some.n_mels), every[0].inputs['input_features'].dtype)\n"
            "later = feed()\n"
            "later.load_state_dict(every[1].state)\n"
            "print([batch.ids for batch in later] == [batch.ids for batch in every[2:]])\n"
            "parts = [[batch.ids for batch in feed(batch_size=2, rank=rank, world_size=2)] for rank in (0, 1)]\n"
            "print([sorted(a + b) for a, b in zip(*parts)] == [sorted(batch.ids) for batch in every])\n"
            "print([batch.ids for batch in some] != [batch.ids for batch in every])\n"),
            "True True\nTrue float32\nTrue\nTrue\nTrue")

    def test_voice_has_symbols_and_spectrograms(self):
        self.assertEqual(self.python(
            "import pathlib, shutil, subprocess, sys\n"
            "pathlib.Path('lj/wavs').mkdir(parents=True)\n"
            "clips = [pathlib.Path(name) for name in sys.argv[1:]]\n"
            "for clip in clips: shutil.copy(clip, 'lj/wavs')\n"
            "lines = ['|'.join([clip.stem, *[clip.with_suffix('.txt').read_text().strip()] * 2]) + '\\n' for clip in clips]\n"
            "pathlib.Path('lj/metadata.csv').write_text(''.join(lines))\n"
            "made = subprocess.run([sys.executable, '-m', 'tutti', 'prepare', 'tts', '--data', 'lj', '--symbols', 'characters',\n"
            "                       '--out', 'voice'], capture_output=True, text=True)\n"
            "assert made.returncode == 0, made.stderr\n"
            "feed = tutti.VoiceFeed('voice', batch_size=2, tensors='numpy')\n"
            "batch = next(iter(feed))\n"
            "inputs = batch.inputs\n"
            "rows, frames, bins = inputs['mel'].shape\n"
            "print(rows == len(batch.ids), bins == feed.n_mels == len(feed.format['mean']))\n"
            "print(inputs['pitch'].shape == (rows, frames))\n"
            "print((inputs['mel_lengths'] <= frames).all(), (inputs['symbol_lengths'] <= inputs['symbols'].shape[1]).all())\n",
            *[CLIP, ROOT / "samples/LJ003-0009.flac", ROOT / "samples/jfk.flac"]), "True True\nTrue\nTrue True")


class Profiles(Package):
    """tutti.profile around loops whose times are known."""
    loop = (
        "import sys, time, types\n"
        "def slow(count, seconds):\n"
        "    for at in range(count):\n"
        "        time.sleep(seconds)\n"
        "        yield at\n")

    def test_slow_loader_is_named_with_its_gain(self):
        self.assertEqual(self.python(
            self.loop +
            "with tutti.profile() as p:\n"
            "    for batch in p.batches(slow(60, 0.006), 'disk'):\n"
            "        with p.phase('forward'): time.sleep(0.002)\n"
            "print(p.limit, 'disk' in p.finding, p.waits['disk'].batches, 0.6 < p.waits['disk'].share < 0.9)\n"
            "print(1.2 < p.predict('disk.speed=2').items_per_s / p.items_per_s < 1.9, p.json()['unit'], 'forward' in p.text())\n"
            "print(any('disk' in gain.change for gain in p.gains))\n"), "disk True 60 True\nTrue batches True\nTrue")

    def test_waits_for_a_dataloader_are_named(self):
        self.assertEqual(self.python(
            self.loop +
            "data = types.ModuleType('torch.utils.data.dataloader')\n"
            "class Iter:\n"
            "    _num_workers = 2\n"
            "    def __init__(self): self.rest = slow(50, 0.005)\n"
            "    def __iter__(self): return self\n"
            "    def __next__(self): return next(self.rest)\n"
            "data._BaseDataLoaderIter = Iter\n"
            "sys.modules['torch.utils.data.dataloader'] = data\n"
            "before = Iter.__next__\n"
            "with tutti.profile() as p:\n"
            "    for batch in Iter(): time.sleep(0.001)\n"
            "print(p.limit, p.waits['DataLoader'].workers, 'Its 2 workers do not keep up' in p.finding, Iter.__next__ is before)\n"
            "print([stage['name'] for stage in p.json()['stages']][:2])\n"), "DataLoader 2 True True\n['DataLoader', 'step']")

    def test_loop_without_a_loader_is_named(self):
        self.assertEqual(self.python(
            "with tutti.profile() as p: pass\n"
            "print(p.finding.startswith('No loader was seen'), p.waits)\n"), "True {}")
        self.assert_refused({"tutti.profile().limit": "UsageError usage profile: expected the end of its `with` block first"})


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
            f"model = WhisperModel({str(ROOT / 'models/nano')!r}, device='emulated:60x:12GB')\n"
            "import time\n"
            "noise = np.random.default_rng(1).uniform(-0.5, 0.5, 16000 * 900)\n"
            "for _ in range(12):\n"
            "    segments, info = model.transcribe(noise)\n"
            "    next(segments)\n"
            "    del segments\n"
            "assert list(model.transcribe(noise[:160000])[0])\n")

    def test_generator_keeps_its_model(self):
        self.assertEqual(self.python(
            f"segments, info = WhisperModel({str(ROOT / 'models/nano')!r}, device={EMULATED!r}).transcribe(np.ones(160000) / 2)\n"
            "import gc\ngc.collect()\n"
            "print(len(list(segments)) > 0)\n"), "True")

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
        self.assert_refused({"model.transcribe(b'x')": "CancelledError cancelled the model, or this transcription, was closed"},
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
            "beam_size='5'": "beam_size: expected a whole number, found '5'",
            "temperature=None": "temperature: expected a number or several, found None",
            "hotwords=3": "hotwords: expected a text, found 3",
            "max_new_tokens=0": "max_new_tokens: expected 1 or more, found 0",
            "max_initial_timestamp=-1": "max_initial_timestamp: expected 0 to 30 seconds, found -1",
            "vad_filter=True, vad_parameters={'threshold': 5}": "threshold: expected more than 0 and at most 1, found 5",
            "vad_filter=True, vad_parameters={'speech_pad_ms': 0.5}": "speech_pad_ms: expected a whole number, found 0.5",
        }.items()} | {
            "model.transcribe(np.full(16000, 3000.0))": "audio: expected samples of -1 to 1, found 3000. Divide by",
            "model.transcribe(np.full(16000, np.inf))": "audio: expected samples of -1 to 1, found inf",
            "tutti.Whisper(model).transcribe(np.ones(16000), task='sing')": "task: expected transcribe or translate",
            "tutti.Whisper(model).transcribe(np.ones(16000), suppress_tokens='a')": "suppress_tokens: expected token ids",
            "WhisperModel('x', compute_type='int16')": "compute_type: int16 is CTranslate2's alone",
            "WhisperModel('x', compute_type='int7')": "compute_type: expected default, auto, float32",
            "WhisperModel('x', compute_type='')": ", found ''",
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
