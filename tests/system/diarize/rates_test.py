#!/usr/bin/env python3
"""Compares `tutti der` with pyannote.metrics and the cpWER of `tutti wer --speakers` with meeteval, on random recordings
and on those of the shared data.

Usage: rates_test.py BIN [--python]. BIN is the folder of the programs. --python: use the packages that this Python has.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tools")]
import python_packages  # noqa: E402
from shared_data import shared_data  # noqa: E402

BIN = ROOT / "build/bin"
SPEAKERS = shared_data() / "speakers"
WORDS = ["one", "two", "three", "four", "five", "six", "seven"]


def tutti(*arguments):
    done = subprocess.run([BIN / "tutti", *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def random_turns(chance, speakers, turns):
    """Of random speakers, of which some overlap; times to the millisecond, some of them equal."""
    out, at = [], 0
    for _ in range(turns):
        at = max(0, at + chance.randint(-700, 1500))
        length = chance.randint(1, 3000)
        out.append((at, length, f"s{chance.randrange(speakers)}"))
        at += length
    return out


def rttm(turns, name="talk"):
    return "".join(f"SPEAKER {name} 1 {start / 1000:.3f} {length / 1000:.3f} <NA> <NA> {speaker} <NA> <NA>\n"
                   for start, length, speaker in turns)


class Rates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare_der(self, reference, hypothesis, collar, skip_overlap):
        from pyannote.database.util import load_rttm
        from pyannote.metrics.diarization import DiarizationErrorRate
        metric = DiarizationErrorRate(collar=2 * collar, skip_overlap=skip_overlap)
        (truth,), (found,) = load_rttm(reference).values(), load_rttm(hypothesis).values()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = metric(truth, found, detailed=True)
        flags = ["--skip-overlap"] if skip_overlap else []
        ours = tutti("der", "--ref", reference, "--hyp", hypothesis, "--collar", str(collar), *flags)
        what = f"{reference} {collar} {skip_overlap}"
        self.assertAlmostEqual(ours["der"], expected["diarization error rate"], places=9, msg=what)
        for name, theirs in (("missed", "missed detection"), ("false_alarm", "false alarm"), ("confusion", "confusion"),
                             ("total", "total")):
            self.assertAlmostEqual(ours[name], expected[theirs], places=6, msg=f"{what} {name}")

    def test_der_of_random_turns_is_that_of_pyannote(self):
        chance = random.Random(11)
        for number in range(60):
            reference, hypothesis = self.folder / f"{number}.ref.rttm", self.folder / f"{number}.hyp.rttm"
            turns = random_turns(chance, chance.randint(1, 5), chance.randint(1, 30))
            reference.write_text(rttm(turns))
            moved = [(max(0, start + chance.randint(-300, 300)), max(1, length + chance.randint(-300, 300)),
                      speaker if chance.random() < 0.8 else f"s{chance.randrange(6)}") for start, length, speaker in turns]
            hypothesis.write_text(rttm(moved))
            self.compare_der(reference, hypothesis, chance.choice([0, 0.1, 0.25]), chance.random() < 0.5)

    def test_der_of_the_shared_recordings_is_that_of_pyannote(self):
        files = sorted(SPEAKERS.glob("*.rttm"))
        if not files:
            self.skipTest(f"another machine: no {SPEAKERS}")
        for number, reference in enumerate(files):
            other = self.folder / reference.name
            name = reference.stem
            other.write_text(files[number - 1].read_text().replace(files[number - 1].stem, name))
            self.compare_der(reference, other, [0, 0.25][number % 2], number % 3 == 0)

    def test_cp_wer_is_that_of_meeteval(self):
        from meeteval.io import SegLST
        from meeteval.wer.wer.cp import cp_word_error_rate
        chance = random.Random(12)
        for number in range(60):
            sides = []
            for _ in range(2):
                speakers, at, turns = chance.randint(1, 5), 0.0, []
                for _ in range(chance.randint(1, 20)):
                    at += chance.random() * 3
                    text = " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 8)))
                    turns.append({"speaker": f"s{chance.randrange(speakers)}", "start": round(at, 2), "end": round(at + 1, 2),
                                  "text": text})
                chance.shuffle(turns)
                sides.append(turns)
            for side, turns in zip(("ref", "hyp"), sides):
                (self.folder / f"{side}.json").write_text(json.dumps({"turns": turns}))
            ours = tutti("wer", "--speakers", "--ref", self.folder / "ref.json", "--hyp", self.folder / "hyp.json")
            theirs = cp_word_error_rate(*(SegLST([
                {"session_id": "x", "speaker": turn["speaker"], "start_time": turn["start"], "end_time": turn["end"],
                 "words": turn["text"]} for turn in sorted(turns, key=lambda turn: turn["start"])]) for turns in sides))
            self.assertEqual((ours["errors"], ours["words"]), (theirs.errors, theirs.length), number)
            self.assertEqual(ours["cpwer"], theirs.error_rate)


if __name__ == "__main__":
    if "--python" in sys.argv:
        sys.argv.remove("--python")
    else:
        python_packages.use(ROOT / "tests/system/diarize/requirements.txt", "diarize-tests")
    if len(sys.argv) > 1:
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main(verbosity=0)
