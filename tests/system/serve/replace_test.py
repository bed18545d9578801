#!/usr/bin/env python3
"""Tests of `tutti serve --replace`: every answer has the new texts, also the segments of a stream.

Usage: replace_test.py BIN. BIN is the folder of the programs.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import service
from service import Service, form_of

BIN = service.ROOT / "build/bin"
CLIP = (service.ROOT / "samples/george.wav").read_bytes()
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


class Replaced(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        names = pathlib.Path(folder.name) / "digits.tsv"
        names.write_text("".join(f"{digit}\tD{number}\n" for number, digit in enumerate(DIGITS)))
        cls.serving = Service(BIN / "tutti", service.ROOT / "models/nano", folder.name, "--replace", names, "--language", "en")
        cls.addClassCleanup(cls.serving.kill)

    def answer(self, *fields):
        request = urllib.request.Request(
            self.serving.url + "/v1/audio/transcriptions", form_of([("model", "whisper-1"), *fields], CLIP, "george.wav"),
            {"Authorization": f"Bearer {service.TOKEN}", "Content-Type": "multipart/form-data; boundary=XX"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def test_every_format_has_the_new_texts(self):
        for form in ("json", "text", "srt", "vtt", "verbose_json"):
            text = self.answer(("response_format", form))
            self.assertRegex(text, r"\bD\d\b", form)
            self.assertNotRegex(text, rf"\b({'|'.join(DIGITS)})\b", form)

    def test_a_stream_has_them_too(self):
        events = [json.loads(line[6:]) for line in self.answer(("stream", "true")).splitlines() if line.startswith("data: {")]
        whole = events[-1]["text"]
        self.assertTrue(re.search(r"\bD\d\b", whole), whole)
        self.assertEqual("".join(event["delta"] for event in events[:-1]).strip(), whole.strip())

    def test_layouts_that_the_service_lacks_are_refused(self):
        ended = subprocess.run([BIN / "tutti", "serve", "--model", service.ROOT / "models/nano", "--paragraphs", "2"],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--paragraphs", ended.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BIN = pathlib.Path(sys.argv.pop(1))
    unittest.main()
