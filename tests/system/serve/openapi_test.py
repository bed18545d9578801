#!/usr/bin/env python3
"""Tries the OpenAPI document of `tutti serve` on the server (schemathesis): each answer must be one that the document names.

Usage: openapi_test.py BIN [--seconds 15]. BIN is the folder of the programs.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import service
from service import TOKEN, Service

BIN = service.ROOT / "build/bin"
SECONDS = 15
# Not tried: that what is wrong by the schema is refused (fields that mean nothing here are named in a header instead), and that
# valid values are taken (a recording of made-up bytes is none).
UNTRIED = "negative_data_rejection,positive_data_acceptance,missing_required_header"


class Document(unittest.TestCase):
    @staticmethod
    def try_document(serving, folder, seconds):
        command = [sys.executable, "-m", "schemathesis.cli", "run", serving.url + "/openapi.json", "--header",
                   f"Authorization: Bearer {TOKEN}", "--exclude-checks", UNTRIED, "--exclude-path-regex", "/events$",
                   "--phases", "coverage,fuzzing", "--max-time", str(seconds), "--max-examples", "1000", "--seed", "1",
                   "--request-timeout", "20", "--suppress-health-check", "all", "--no-color"]
        return subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": sys.path[0]})

    def test_answers_are_those_that_the_document_names(self):
        with tempfile.TemporaryDirectory() as folder:
            serving = Service(BIN / "tutti", service.ROOT / "models/nano", folder, "--devices", "emulated:2000x:12GB")
            self.addCleanup(serving.kill)
            tested = 0
            for seconds in (SECONDS, 8 * SECONDS):  # a busy machine is not through with its first preparations in 15 s
                done = self.try_document(serving, folder, seconds)
                self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
                found = re.search(r"Tested: (\d+)", done.stdout)
                if (tested := int(found[1]) if found else 0) > 10:
                    break
            self.assertGreater(tested, 10, done.stdout[-3000:])
            self.assertEqual(serving.get("/livez", token=None)[0], 200)
            self.assertEqual(serving.stop(), 0)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    if "--seconds" in sys.argv:
        at = sys.argv.index("--seconds")
        SECONDS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    service.use_packages()
    unittest.main()
