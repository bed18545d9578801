"""What the tests of commands for SQS and S3 share: the server, and commands in a clean environment."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import uuid

import aws
from aws import KEY, REGION, SECRET, TOKEN

BIN = aws.ROOT / "build/bin"
server = None


def start():
    global server
    server = aws.Aws()
    return server


class Ended:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.out)


class CloudTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        server.guard.clear()

    def environment(self, keys=True, **environment):
        settings = {"HOME": str(self.home), "PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": server.url, "AWS_REGION": REGION,
                    "AWS_EC2_METADATA_DISABLED": "true"}
        if keys:
            settings |= {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        return {name: value for name, value in (settings | environment).items() if value is not None}

    def tutti(self, *words, keys=True, code=0, **environment):
        """Runs a command in a clean environment; no output of any may have a secret."""
        ended = Ended(subprocess.run([BIN / "tutti", *words], capture_output=True, text=True, timeout=100,
                                     env=self.environment(keys, **environment)))
        for secret in (SECRET, TOKEN, "the-login's", "the-container's"):
            self.assertNotIn(secret, ended.out + ended.err)
        self.assertEqual(ended.code, code, ended.out + ended.err)
        return ended

    def new_queue(self, *words):
        return self.tutti("queue", "create", f"q-{uuid.uuid4().hex[:12]}", *words, "--json").json()["queue_url"]

    def send(self, queue, *words, **more):
        return self.tutti("send", "-i", "s3://talks/a b/ä.flac", "-o", "s3://talks/out/a.json", "-q", queue, *words, **more)
