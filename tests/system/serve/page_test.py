#!/usr/bin/env python3
"""Tests of the page of `tutti serve` in a browser: beside a running batch, over the store after it, and with a model.

Usage: page_test.py BIN [--all] [--pictures FOLDER]. BIN is the folder of the programs. --all: the page at all widths, light and
dark; else the narrowest is light and the widest dark. The pictures are for people to look at.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import service
from browser import Browser
from service import TOKEN, Client, Service
from shared_data import shared_data

BIN = service.ROOT / "build/bin"
PICTURES = None
DATA = shared_data()
CLIPS = sorted((DATA / "speech/lj/wavs").glob("LJ003-*.flac"))
LOOKS = ((360, 800, False), (1280, 900, True))  # width, height, dark
ALL_LOOKS = [(width, height, dark) for width, height in ((360, 800), (768, 1024), (1280, 900), (2560, 1440)) for dark in (False, True)]
RECORDINGS = 28
CARDS = "emulated:10x:12GB,emulated:4x:8GB,emulated:10x:24GB"  # eight seconds of work: the page must find them at it


browser = None  # of all tests


def setUpModule():
    global browser
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    microphone = pathlib.Path(folder.name) / "microphone.wav"
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", CLIPS[0], "-ar", "48000", microphone], check=True)
    browser = Browser(microphone)
    unittest.addModuleCleanup(browser.close)


class WithBrowser(unittest.TestCase):
    def setUp(self):
        self.browser = browser
        browser.leave()
        browser.complaints.clear()
        browser.requested.clear()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def unlock(self, token=TOKEN):
        self.browser.run(f"document.getElementById('token').value = '{token}';"
                         "document.getElementById('access').requestSubmit()")

    def search(self, text):
        self.browser.run(f"document.getElementById('search').value = '{text}';"
                         "document.getElementById('search').dispatchEvent(new Event('input'))")

    def text(self):
        return self.browser.run("document.body.innerText")

    def check_looks(self, serving, name):
        """In every look: nothing is wider than the window."""
        for width, height, dark in LOOKS:
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
        for clip in CLIPS[:RECORDINGS]:
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
        self.browser.wait_for("document.querySelectorAll('#queue .job').length > 0")
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
        self.browser.wait_for("document.getElementById('headline').innerText.includes('%d done')" % RECORDINGS)
        self.browser.wait_for("document.getElementById('runs').innerText.includes('%d of %d')" % (RECORDINGS, RECORDINGS + 1))
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
        self.check_second_drop()
        self.check_microphone()
        self.check_results_of_jobs(serving)
        self.check_looks(serving, "service")
        self.check_requests(serving)

    def check_microphone(self):
        """What is spoken is shown as it is spoken, what may change is marked, and the whole is there to download."""
        self.browser.run("""window.open_texts = 0; new MutationObserver(() => {
            if (document.querySelector('#transcript .open')?.textContent) window.open_texts += 1;
        }).observe(document.getElementById('transcript'), { childList: true, subtree: true });
        document.getElementById('speak').click()""")
        self.browser.wait_for("document.getElementById('transcript').innerText.includes('Griffiths')")
        self.assertGreater(self.browser.run("window.open_texts"), 0)
        if PICTURES:
            self.browser.picture(PICTURES / "microphone.png")
        self.browser.run("document.getElementById('speak').click()")
        self.browser.wait_for("document.getElementById('speak').innerText === 'Speak' && !document.getElementById('downloads').hidden")
        self.assertIn("Arthur Griffiths", self.browser.run("WRITERS.txt()"))
        self.assertIn(" --> ", self.browser.run("WRITERS.srt()"))

    def check_results_of_jobs(self, serving):
        """A done job is read and removed in the list."""
        jobs = Client(serving)
        name = jobs.send(CLIPS[0].read_bytes(), name="minutes.flac")[2]["id"]
        jobs.wait(name)
        self.browser.run("document.querySelector('#states button[data-state=done]').click()")
        self.browser.wait_for("!!document.querySelector('button[data-read]')")
        self.browser.run("document.querySelector('button[data-read]').click()")
        self.browser.wait_for("document.getElementById('queue').innerText.includes('Arthur Griffiths')")
        self.browser.run("window.confirm = () => true; document.querySelector('button[data-remove]').click()")
        self.browser.wait_for("document.querySelectorAll('#queue tr').length === 0")
        self.assertEqual(jobs.call("GET", f"/v1/jobs/{name}")[0], 404)

    def check_second_drop(self):
        """The latest file alone is transcribed, and what is missing of it is named."""
        cut = base64.b64encode((DATA / "speech/jfk.wav").read_bytes()[:100_000]).decode()
        long = base64.b64encode((DATA / "whisper-tiny.en/clips/long-three-minutes.flac").read_bytes()).decode()
        self.browser.run(f"""const file = (content, name) => new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], name);
            Promise.all([transcribe(file('{long}', 'long.flac')), transcribe(file('{cut}', 'cut.wav'))]).then(() => window.both = true)""")
        self.browser.wait_for("window.both")
        self.assertEqual(json.loads(self.browser.run("WRITERS.json()"))["name"], "cut.wav")
        self.assertIn("truncated", self.browser.run("document.getElementById('speech-state').textContent"))


class PageThatSteers(WithBrowser):
    def test_buttons_change_jobs_and_devices_of_the_server(self):
        serving = Service(BIN / "tutti", service.real_model(), self.folder, "--devices", "emulated:0.05x:1GB")
        self.addCleanup(serving.kill)
        jobs = Client(serving)
        content = CLIPS[8].read_bytes()
        broken = jobs.send(b"no audio at all", name="broken.mp3")[2]["id"]
        ids = [jobs.send(content, [("prompt", f"number {number}")], name=f"clip{number}.flac")[2]["id"] for number in range(14)]
        jobs.wait(broken, ("failed",))
        jobs.wait(ids[0], ("running",))
        waiting = ids[-1]
        self.assertEqual(jobs.job(waiting)["status"], "queued", "the device is slow, and has enough with the others")
        self.browser.show(serving.url + "/", 1440, 900, dark=False)
        self.browser.wait_for("document.querySelectorAll('#queue tr').length >= 15")
        self.assertIsNone(self.browser.run("document.querySelector('button[data-action]')"), "read-only without the token")
        self.unlock("guessed")
        self.browser.wait_for("document.getElementById('who').innerText.includes('none of the server')")
        self.unlock()
        self.search("BROKEN")
        self.browser.wait_for("document.querySelectorAll('#queue tr').length === 1")
        self.assertIn("broken.mp3", self.browser.run("document.getElementById('queue').innerText"))
        self.search("")
        self.browser.wait_for("document.querySelectorAll('#queue tr').length >= 15")

        def click(action, name, more=""):
            button = f"document.querySelector(`button[data-action={action}][data-id='{name}']{more}`)"
            self.browser.wait_for(f"!!{button}")
            self.browser.run(f"{button}.click()")
            self.browser.wait_for(f"document.getElementById('audit').innerText.includes('{action} {name}, by root at 127.0.0.1')")

        click("priority", waiting, "[data-priority='1']")
        self.browser.wait_for("document.getElementById('queue').innerText.includes('(priority 1)')")
        self.assertEqual(jobs.job(waiting)["priority"], 1)
        click("cancel", waiting)
        self.assertEqual(jobs.job(waiting)["status"], "cancelled")
        click("cancel", ids[0])
        self.assertEqual(jobs.wait(ids[0])["status"], "cancelled", "it was in work")
        click("retry", broken)
        self.assertEqual(jobs.job(broken)["status"], "queued", "behind those that the slow device has in work")
        click("drain", "emulated:0.05x:1GB")
        self.browser.wait_for("document.getElementById('devices').innerText.includes('drain')")
        click("resume", "emulated:0.05x:1GB")
        self.browser.wait_for("document.getElementById('devices').innerText.includes('healthy')")
        self.check_requests(serving)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    if "--pictures" in sys.argv:
        at = sys.argv.index("--pictures")
        PICTURES = pathlib.Path(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        LOOKS = ALL_LOOKS
    if not CLIPS:
        service.skip("the shared recordings are absent: speech/lj/wavs")
    if not shutil.which("ffmpeg"):
        service.skip("another program: needs ffmpeg, which reads the clip that is spoken; tools/setup.sh installs it")
    service.use_packages()
    unittest.main()
