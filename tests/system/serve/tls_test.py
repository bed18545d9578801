#!/usr/bin/env python3
"""Tests of `tutti serve` over HTTPS: the page, the API and streams of events; and certificates that are none.

Usage: tls_test.py BIN. BIN is the folder of the programs.
"""
import json
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import service
from service import TOKEN, Service
from shared_data import shared_data

BIN = service.ROOT / "build/bin"
CLIP = shared_data() / "speech/lj/wavs/LJ003-0001.flac"


def certificate_in(folder, name):
    """A certificate for 127.0.0.1 and its key, as files."""
    cert, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "1",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return cert, key


class Https(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.cert, cls.key = certificate_in(cls.folder, "own")
        cls.trust = ssl.create_default_context(cafile=cls.cert)
        cls.serving = Service(BIN / "tutti", service.real_model(), cls.folder, "--devices", "emulated:2000x:12GB", "--tls-cert",
                              cls.cert, "--tls-key", cls.key, trust=cls.trust)
        cls.addClassCleanup(cls.serving.kill)

    def test_page_and_figures_come_encrypted(self):
        self.assertTrue(self.serving.url.startswith("https://"))
        self.assertIn(b"<!doctype html>", self.serving.get("/", token=None)[1].lower())
        self.assertEqual(len(json.loads(self.serving.get("/api/devices")[1])["devices"]), 1)

    def test_openai_client_transcribes_and_streams(self):
        import openai
        with openai.DefaultHttpxClient(verify=self.trust) as web:
            client = openai.OpenAI(api_key=TOKEN, base_url=self.serving.url + "/v1", max_retries=0, http_client=web)
            whole = client.audio.transcriptions.create(model="whisper-1", file=CLIP)
            events = list(client.audio.transcriptions.create(model="whisper-1", file=CLIP, stream=True))
        self.assertTrue(whole.text)
        self.assertEqual(events[-1].type, "transcript.text.done")
        self.assertEqual(events[-1].text, whole.text)

    def test_events_of_the_page_come_while_other_clients_stall(self):
        stalled = [socket.create_connection(("127.0.0.1", self.serving.port)) for _ in range(200)]
        for connection in stalled:
            self.addCleanup(connection.close)
            connection.send(b"\x16\x03\x01")
        begun = time.monotonic()
        with urllib.request.urlopen(self.serving.url + "/api/events", context=self.trust, timeout=20) as stream:
            events = [line for line in (stream.readline() for _ in range(12)) if line.startswith(b"data: ")]
        self.assertGreaterEqual(len(events), 2)
        self.assertLess(time.monotonic() - begun, 10)

    def test_client_in_the_clear_is_sent_to_https(self):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(self.serving.url.replace("https", "http") + "/livez", timeout=20)
        self.assertEqual(refused.exception.code, 400)
        self.assertIn("https://", json.loads(refused.exception.read())["error"]["message"])

    def test_certificate_of_another_key_ends_with_exit_code_2(self):
        _, other = certificate_in(self.folder, "other")

        def refused(*flags):
            done = subprocess.run([BIN / "tutti", "serve", "--state", self.folder / "state2", "--listen", "127.0.0.1:0", *flags],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            return done.stderr
        self.assertIn("it is not the key of", refused("--tls-cert", self.cert, "--tls-key", other))
        self.assertIn("--tls-key is missing", refused("--tls-cert", self.cert))
        self.assertIn("none.pem", refused("--tls-cert", self.folder / "none.pem", "--tls-key", other))


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    service.real_model()
    if not CLIP.exists():
        service.skip("the shared recordings are absent: speech/lj/wavs")
    service.use_packages()
    unittest.main()
