#!/usr/bin/env python3
"""The examples of examples/python: loops of PyTorch, Hugging Face's Trainer and Lightning on tutti.Feed, with tiny random networks.

Usage: trainers_test.py BUILD. torch and transformers are those of the peers' environment (tools/peers.sh), or of
TUTTI_PEERS_PYTHON; what is not installed there is left out.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import installed
from installed import ROOT

BUILD = ROOT / "build"
CLIPS = [ROOT / "samples" / name for name in ("LJ003-0002.flac", "LJ003-0009.flac", "jfk.flac")]


def peers_python():
    """The Python of the peers' environment; the test is left out where none was made."""
    named = os.environ.get("TUTTI_PEERS_PYTHON")
    if named:
        return pathlib.Path(named)
    made = sorted((installed.python_packages.CACHE / "peers").glob("venv-*/complete"))
    if not made:
        installed.python_packages.skip("another download: the peers' environment is not here: run make peers")
    return made[-1].parent / "bin/python"


class Trainers(unittest.TestCase):
    def run_example(self, name, *words):
        done = subprocess.run([PYTHON, ROOT / "examples/python" / name, SET, *map(str, words)], capture_output=True, text=True,
                              cwd=FOLDER, env=installed.environment(SITE), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def needs(self, package):
        found = subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True, check=False)
        if found.returncode != 0:
            self.skipTest(f"{package} is not in {PYTHON}")

    def test_loop_of_torch_goes_on_where_it_ended(self):
        self.needs("torch")
        whole = re.findall(r"batch \d+: .*", self.run_example("torch_loop.py", "--device", "cpu", "--steps", 6))
        checkpoint = FOLDER / "torch.pt"
        halves = [self.run_example("torch_loop.py", "--device", "cpu", "--steps", 3, "--checkpoint", checkpoint) for _ in range(2)]
        self.assertEqual(re.findall(r"batch \d+: .*", "".join(halves)), whole)
        self.assertIn("limit", halves[0])

    def test_trainer_of_hugging_face_goes_on_where_it_ended(self):
        self.needs("transformers, accelerate")
        words = ("--model", "random", "--batch-size", 2, "--save-steps", 2)
        whole = re.findall(r"step \d+ loss .*", self.run_example("huggingface_trainer.py", *words, "--steps", 4, "--out", "whole"))
        self.assertEqual(len(whole), 4)
        later = self.run_example("huggingface_trainer.py", *words, "--steps", 4, "--out", "half",
                                 "--resume", FOLDER / "whole/checkpoint-2")
        self.assertEqual(re.findall(r"step \d+ loss .*", later)[-2:], whole[-2:])

    def test_training_of_lightning_goes_on_where_it_ended(self):
        self.needs("lightning")
        whole = re.findall(r"batch \d+: .*", self.run_example("lightning_training.py", "--steps", 6))
        halves = [self.run_example("lightning_training.py", "--steps", 3, "--checkpoint", "half.ckpt"),
                  self.run_example("lightning_training.py", "--steps", 6, "--resume", "half.ckpt")]
        self.assertEqual(re.findall(r"batch \d+: .*", "".join(halves)), whole)


def write_set():
    rows = [{"id": str(at), "audio": str(clip), "text": f"text {at}"} for at, clip in enumerate(CLIPS * 4)]
    path = FOLDER / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    PYTHON = peers_python()
    with tempfile.TemporaryDirectory() as name:
        FOLDER = pathlib.Path(name)
        SITE, SET = FOLDER / "site", write_set()
        installed.copy_package(BUILD, SITE)
        unittest.main()
