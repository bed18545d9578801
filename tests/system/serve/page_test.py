#!/usr/bin/env python3
"""Tests of the page of `tutti serve` in a browser: beside a running batch, over the store after it, and with a model.

Usage: page_test.py BIN [--pictures FOLDER]. BIN is the folder of the programs; the pictures are for people to look at.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import service
from browser import Browser
from service import DATA, TOKEN, Service

BIN = service.ROOT / "build/bin"
PICTURES = None
CLIPS = sorted((DATA / "speech/lj/wavs").glob("LJ003-*.flac"))
SIZES = ((375, 800), (768, 1024), (1440, 900))
CARDS = "emulated:10x:12GB,emulated:4x:8GB,emulated:10x:24GB"  # ten seconds of work: the page must find them at it


class WithBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def unlock(self):
        self.browser.run(f"document.getElementById('token').value = '{TOKEN}';"
                         "document.getElementById('access').requestSubmit()")

    def text(self):
        return self.browser.run("document.body.innerText")

    def check_looks(self, serving, name):
        """At every width, light and dark: nothing is wider than the window."""
        for width, height in SIZES:
            for dark in (False, True):
                self.browser.show(serving.url + "/", width, height, dark)
                self.browser.wait_for("document.readyState === 'complete' && !!document.querySelector('#devices > *')")
                self.browser.wait_for("document.querySelectorAll('#spans button').length === 5")
                self.browser.wait_for("document.getElementById('chart-text').textContent.length > 0")
                wide = self.browser.run("document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, f"{name} is wider than its window")
                paper = self.browser.run("getComputedStyle(document.body).backgroundColor")
                self.assertEqual(paper, "rgb(18, 22, 27)" if dark else "rgb(255, 255, 255)")
                if PICTURES:
                    self.browser.picture(PICTURES / f"{name}-{width}-{'dark' if dark else 'light'}.png")

    def check_requests(self, serving):
        self.assertEqual(self.browser.complaints, [])
        foreign = [url for url in self.browser.requested if not url.startswith((serving.url, "about:", "data:", "blob:"))]
        self.assertEqual(foreign, [])


class PageOfABatch(WithBrowser):
    def test_running_batch_is_shown_and_the_store_after_it(self):
        recordings = self.folder / "recordings"
        recordings.mkdir()
        for clip in CLIPS[:40]:
            (recordings / clip.name).symlink_to(clip)
        (recordings / "broken.wav").write_bytes(b"no audio")
        state = self.folder / "state"
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.folder)}
        log = self.folder / "batch.log"
        with log.open("w") as output:
            batch = subprocess.Popen([BIN / "tutti", "batch", recordings, "--devices", CARDS, "-o", self.folder / "out",
                                      "--state", state, "-y"],
                                     stdout=output, stderr=subprocess.STDOUT, env=environment)
        self.addCleanup(batch.wait)
        self.addCleanup(batch.kill)
        os.environ["XDG_RUNTIME_DIR"] = str(self.folder)
        serving = Service(BIN / "tutti", None, self.folder)
        self.addCleanup(serving.kill)
        self.browser.show(serving.url + "/", 1440, 900, dark=False)
        try:
            self.browser.wait_for("document.querySelectorAll('.card').length === 3")
        except AssertionError as error:
            raise AssertionError(f"{error}; the page: {self.text()}; its errors: {self.browser.complaints}; "
                                 f"the batch: {log.read_text()[-1500:]}") from error
        self.browser.wait_for("document.querySelectorAll('.job').length > 0")
        self.assertNotIn("LJ003", self.text())  # no names without the token
        self.assertIsNone(self.browser.run("document.querySelector('button[data-action]')"))
        self.unlock()
        self.browser.wait_for("document.body.innerText.includes('LJ003')")
        self.browser.wait_for("!!document.querySelector('button[data-action=drain]')")
        self.browser.run("document.querySelector('button[data-action=drain]').click()")
        self.browser.wait_for("document.getElementById('audit').innerText.includes('drain')")
        self.browser.wait_for("document.body.innerText.includes('drain')")
        self.check_looks(serving, "batch")
        self.assertEqual(batch.wait(300), 3)  # one recording is broken
        self.browser.wait_for("document.getElementById('headline').innerText.includes('40 done')")
        self.browser.wait_for("document.getElementById('runs').innerText.includes('40 of 41')")
        self.browser.wait_for("document.getElementById('queue').innerText.includes('failed')", 90)
        self.assertTrue(self.browser.run("!!document.querySelector('button[data-action=retry]')"))
        self.check_looks(serving, "store")
        self.check_requests(serving)
        self.assertEqual(serving.stop(), 0)


class PageOfAService(WithBrowser):
    def test_file_that_is_dropped_becomes_a_transcript(self):
        serving = Service(BIN / "tutti", service.real_model(), self.folder)
        self.addCleanup(serving.kill)
        self.browser.show(serving.url + "/", 1440, 900, dark=False)
        self.browser.wait_for("document.querySelectorAll('.card').length === 1")
        self.assertTrue(self.browser.run("document.getElementById('drop-section').hidden"))
        self.unlock()
        self.browser.wait_for("!document.getElementById('drop-section').hidden")
        content = base64.b64encode(CLIPS[0].read_bytes()).decode()
        self.browser.run(f"transcribe(new File([Uint8Array.from(atob('{content}'), c => c.charCodeAt(0))], 'clip.flac'))")
        self.browser.wait_for("!document.getElementById('downloads').hidden")
        self.assertIn("Arthur Griffiths", self.text())
        self.assertGreater(self.browser.run("document.querySelectorAll('#transcript span').length"), 10)
        self.assertIn("00:00:00,000 -->", self.browser.run("WRITERS.srt()"))
        self.assertEqual(json.loads(self.browser.run("WRITERS.json()"))["name"], "clip.flac")
        if PICTURES:
            self.browser.picture(PICTURES / "transcript.png")
        self.check_looks(serving, "service")
        self.check_requests(serving)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    if "--pictures" in sys.argv:
        at = sys.argv.index("--pictures")
        PICTURES = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if not CLIPS:
        service.skip("the shared recordings are absent: speech/lj/wavs")
    service.use_packages()
    unittest.main()
