#!/usr/bin/env python3
"""Tests of `tutti serve --idle-timeout`: when a server ends for want of work, and what it runs then.

Usage: idle_test.py BIN. BIN is the folder of the programs.
"""
import http.client
import pathlib
import sys
import tempfile
import time
import unittest

import service
from service import TOKEN, Client, Service, form_of

BIN = service.ROOT / "build/bin"
NANO = service.ROOT / "models/nano"
DIGITS = (service.ROOT / "samples/george.wav").read_bytes()
MINUTES = 0.025  # 1.5 s


class Idle(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.mark = self.folder / "idle"

    def serve(self, *words):
        serving = Service(BIN / "tutti", NANO, self.folder, "--devices", "cpu", "--idle-timeout", str(MINUTES), "--on-idle",
                          f"touch {self.mark}", *words)
        self.addCleanup(lambda: serving.process.poll() is None and serving.kill())
        return serving

    def end(self, serving):
        """Its exit code, and how long it took."""
        begun = time.monotonic()
        code = serving.process.wait(60)
        serving.process.stdout.close()
        return code, time.monotonic() - begun

    def test_server_ends_after_its_last_request_and_job(self):
        serving = self.serve()
        client = Client(serving)
        ready = time.monotonic()
        while time.monotonic() - ready < 1.5 * 60 * MINUTES:  # a client comes again and again
            self.assertEqual(client.call("GET", "/v1/models")[0], 200)
            time.sleep(0.5)
        status, _, job = client.send(DIGITS, name="one.wav")
        self.assertEqual(status, 202, job)
        client.wait(job["id"])
        code, took = self.end(serving)
        self.assertEqual(code, 0, serving.log.read_text())
        self.assertGreater(took, 60 * MINUTES - 1, "it ended before the time was over")
        self.assertTrue(self.mark.exists())
        self.assertIn(f"no request and no job for {MINUTES} minutes", serving.log.read_text())

    def test_request_in_work_is_waited_for(self):
        serving = self.serve()
        body = form_of([("model", "whisper-1")], DIGITS, "slow.wav")
        connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=60)
        connection.putrequest("POST", "/v1/audio/transcriptions")
        for name, value in (("Authorization", f"Bearer {TOKEN}"), ("Content-Length", str(len(body))),
                            ("Content-Type", "multipart/form-data; boundary=XX")):
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body[:-100])
        time.sleep(1.5 * 60 * MINUTES)  # of the five seconds that a body may take
        connection.send(body[-100:])
        self.assertEqual(connection.getresponse().status, 200, serving.log.read_text())
        connection.close()
        self.assertEqual(self.end(serving)[0], 0)

    def test_who_looks_whether_it_is_up_does_not_keep_it(self):
        serving = self.serve()
        end = time.monotonic() + 20
        while serving.process.poll() is None and time.monotonic() < end:
            try:
                for path in ("/readyz", "/api/status", "/metrics"):
                    serving.get(path, token=None)
            except OSError:
                break  # it ends
            time.sleep(0.2)
        self.assertEqual(self.end(serving)[0], 0)

    def test_signal_runs_no_command(self):
        serving = self.serve()
        self.assertEqual(serving.stop(), 0)
        self.assertFalse(self.mark.exists())


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
