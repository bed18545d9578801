#!/usr/bin/env python3
"""Tests of `tutti batch` on recordings that are named by addresses: of a web server, and of S3 (moto's, behind a check of signatures).

Usage: addresses_test.py BIN. BIN is the folder of the programs.
"""
import http.server
import json
import pathlib
import sys
import threading
import unittest

import aws
import cloud_case
from cloud_case import CloudTest

DIGITS = [aws.ROOT / "samples" / name for name in ("george.wav", "jackson.ogg")]
NANO = aws.ROOT / "models/nano"
BUCKET = "talks"
server = None


def setUpModule():
    global server
    server = cloud_case.start()
    unittest.addModuleCleanup(server.close)


class Web(http.server.ThreadingHTTPServer):
    """Answers with `files`, by path; a path that is not there is 404, one in `faults` its next status."""

    def __init__(self, files):
        self.files, self.faults, self.seen = files, {}, []
        super().__init__(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.split("?")[0]
            self.server.seen.append(self.path)
            faults = self.server.faults.get(path)
            content = self.server.files.get(path)
            status = faults.pop(0) if faults else 200 if content is not None else 404
            self.send_response(status)
            self.send_header("Content-Length", str(len(content or b"")) if status == 200 else "0")
            self.end_headers()
            if status == 200:
                self.wfile.write(content)

        def log_message(self, *_):
            pass


class Addresses(CloudTest):
    def setUp(self):
        super().setUp()
        self.web = Web({"/audio/my%20talk.wav": DIGITS[0].read_bytes()})
        self.addCleanup(self.web.server_close)
        self.addCleanup(self.web.shutdown)
        self.out = self.home / "out"

    def batch(self, *inputs, **options):
        return self.tutti("batch", "--model", NANO, "-o", self.out, "--state", self.home / "state", "--device", "cpu", "-y", "-f", "txt", "--name-by", "stem",
                          "--report", self.home / "report.json", *inputs, **options)

    def text(self, name):
        return (self.out / name).read_text()

    def expected(self, recording):
        folder = self.home / "expected"
        self.tutti("batch", "--model", NANO, "-o", folder, "--state", self.home / "state-of-expected", "--device", "cpu", "-y", "-f", "txt",
                   "--name-by", "stem", recording)
        return (folder / recording.with_suffix(".txt").name).read_text()

    def test_recordings_of_a_web_server_have_the_texts_of_files(self):
        address = self.web.url + "/audio/my%20talk.wav?signature=SECRET-OF-IT"
        ended = self.batch(address)
        self.assertEqual(self.text("my talk.txt"), self.expected(DIGITS[0]))
        self.assertNotIn("SECRET-OF-IT", ended.err)
        self.batch(address)
        self.assertEqual(len(self.web.seen), 1, "what is done is not fetched again")

    def test_folder_of_s3_is_listed_and_the_same_content_is_done_once(self):
        s3 = server.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        for key, content in (("a/one.wav", DIGITS[0].read_bytes()), ("a/b/two.ogg", DIGITS[1].read_bytes()),
                             ("a/b/again.wav", DIGITS[0].read_bytes()), ("a/notes.txt", b"no sound"), ("c/other.wav", b"x")):
            s3.put_object(Bucket=BUCKET, Key=key, Body=content)
        self.batch("--name-by", "path", f"s3://{BUCKET}/a/")
        self.assertEqual(sorted(path.relative_to(self.out).as_posix() for path in self.out.rglob("*.txt")),
                         ["b/again.wav.txt", "b/two.ogg.txt", "one.wav.txt"])
        self.assertEqual(self.text("one.wav.txt"), self.expected(DIGITS[0]))
        self.assertEqual(self.text("b/again.wav.txt"), self.text("one.wav.txt"))
        self.assertEqual(self.text("b/two.ogg.txt"), self.expected(DIGITS[1]))

    def test_what_is_not_there_fails_once_and_what_is_away_is_tried_again(self):
        self.web.faults["/audio/my%20talk.wav"] = [503]
        listed = self.home / "list.txt"
        listed.write_text(f"{self.web.url}/audio/my%20talk.wav\n{self.web.url}/audio/gone.wav\nftp://host/a.wav\n")
        ended = self.batch(listed, code=3)
        self.assertIn("/audio/gone.wav: its server answered with status 404", ended.err)
        self.assertIn("list.txt:3: 'ftp://host/a.wav': expected a file, or an address of http, https or s3", ended.err)
        self.assertEqual(self.text("my talk.txt"), self.expected(DIGITS[0]))
        self.assertEqual(self.web.seen.count("/audio/gone.wav"), 1)
        self.assertEqual(self.web.seen.count("/audio/my%20talk.wav"), 2)
        report = json.loads((self.home / "report.json").read_text())
        self.assertEqual(report["counts"]["failed"] if "counts" in report else 1, 1)

    def test_addresses_that_cannot_be_taken_are_named(self):
        for address, why in (("https://user:pass-word@host/a.wav", "expected no user and no password in an address"),
                             ("https://host", "expected the address of a recording"),
                             ("s3://talks/../a.wav", "'..' in the key"),
                             ("ftp://host/a.wav", "expected a file, or an address of http, https or s3")):
            ended = self.batch(address, code=2)
            self.assertIn(why, ended.err)
            self.assertNotIn("pass-word", ended.err)
        self.assertIn("s3://talks/out/a.wav.txt: it is an input",
                      self.batch("s3://talks/out/a.wav", "s3://talks/out/a.wav.txt", "--name-by", "path", "-o", "s3://talks/out", code=2).err)
        self.assertIn("no region is named", self.batch(f"s3://{BUCKET}/a/", code=2, AWS_REGION=None).err)
        self.assertIn("must be local files", self.tutti("transcribe", "--model", NANO, "https://host/a.wav", code=2).err)


if __name__ == "__main__":
    cloud_case.BIN = pathlib.Path(sys.argv.pop(1))
    aws.use_packages()
    unittest.main(verbosity=2)
