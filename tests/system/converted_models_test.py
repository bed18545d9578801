#!/usr/bin/env python3
"""Models that `tutti convert --to` writes, in the programs that they are for: ctranslate2, faster-whisper, pywhispercpp.

Usage: converted_models_test.py BIN. BIN is the folder of the programs.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import python_packages  # noqa: E402

BIN = ROOT / "build/bin"
CLIP = ROOT / "samples/jfk.flac"
WORDS = ["ask", "not", "what", "your", "country", "can", "do", "for", "you"]


def words_of(text):
    return re.findall(r"[a-z']+", text.lower())


class Converted(unittest.TestCase):
    def convert(self, name, *flags):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        into = pathlib.Path(folder.name) / name
        done = subprocess.run([BIN / "tutti", "convert", MODEL, "-o", into, *flags], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return into

    def assert_speech(self, text):
        found = words_of(text)
        self.assertIn(" ".join(WORDS), " ".join(found))

    def test_faster_whisper_transcribes_with_it(self):
        from faster_whisper import WhisperModel
        for kind in ("float16", "float32", "int8"):
            with self.subTest(kind):
                model = WhisperModel(str(self.convert("ct2", "--to", "ctranslate2", "--type", kind)), device="cpu",
                                     compute_type="int8" if kind == "int8" else "float32")
                segments, _ = model.transcribe(str(CLIP), language="en", word_timestamps=True)
                self.assert_speech("".join(segment.text for segment in segments))

    def test_ctranslate2_takes_the_types_that_are_stored(self):
        import ctranslate2
        model = ctranslate2.models.Whisper(str(self.convert("ct2", "--to", "ctranslate2", "--type", "int8")), device="cpu")
        self.assertEqual((model.compute_type, model.is_multilingual), ("int8_float32", False))

    def test_whisper_cpp_transcribes_with_it(self):
        from pywhispercpp.model import Model
        for kind in ("float16", "q8_0"):
            with self.subTest(kind):
                model = Model(str(self.convert("ggml.bin", "--to", "ggml", "--type", kind)), n_threads=2, print_progress=False,
                              redirect_whispercpp_logs_to=None)
                self.assert_speech(" ".join(segment.text for segment in model.transcribe(samples(), language="en")))


def samples():
    """The clip's samples, by faster-whisper's own decoder."""
    from faster_whisper.audio import decode_audio
    return decode_audio(str(CLIP))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    shown = subprocess.run([ROOT / "tools/fetch_model.py", "--print"], capture_output=True, text=True, check=False).stdout.strip()
    MODEL = pathlib.Path(shown)
    if not MODEL.is_dir():
        python_packages.skip("another download: the Whisper model of set-up is not there")
    for requirements, name in ((ROOT / "tests/system/engines/requirements.txt", "engine-tests"),
                               (ROOT / "tests/system/converted_models.txt", "pywhispercpp")):
        python_packages.use(requirements, name)
    unittest.main()
