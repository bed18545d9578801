#!/usr/bin/env python3
"""Tests of outputs in buckets: `tutti batch --output-dir s3://…` with a store in a folder and on PostgreSQL, and workers that help.

Usage: bucket_outputs_test.py BIN [--long] [TEST...]. BIN is the folder of the programs. --long: what waits for time to pass, instead of
the rest.
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import uuid
import wave

import aws
import cloud_case
from cloud_case import CloudTest
from postgres import Postgres

DIGITS = [aws.ROOT / "samples" / name for name in ("george.wav", "jackson.ogg")]
NANO = aws.ROOT / "models/nano"
FAKE_ENGINE = f"python3 {aws.ROOT}/tests/system/engines/fake_engine.py"
PLAYED = ("--devices", "emulated:20x:8GB", "--vad-method", "energy")  # a third of a second for each of the recordings
server, postgres = None, None


def setUpModule():
    global server, postgres
    server = cloud_case.start()
    unittest.addModuleCleanup(server.close)
    postgres = Postgres()
    unittest.addModuleCleanup(postgres.close)


class BucketTest(CloudTest):
    def setUp(self):
        super().setUp()
        self.s3 = server.client("s3")
        self.bucket = f"talks-{uuid.uuid4().hex[:12]}"
        self.s3.create_bucket(Bucket=self.bucket)
        self.recordings = self.home / "in"
        self.recordings.mkdir()
        for digit in DIGITS:
            (self.recordings / digit.name).write_bytes(digit.read_bytes())

    def words(self, *more, out=None, device=("--model", NANO, "--devices", "cpu"), state="state"):
        return ["batch", self.recordings, *device, "-y", "-f", "json", "-o", out or f"s3://{self.bucket}/out", "--state",
                self.home / state, *more]

    def batch(self, *more, code=0, **options):
        environment = options.pop("environment", {})
        return self.tutti(*self.words(*more, **options), code=code, **environment)

    def objects(self, prefix="out/"):
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix).get("Contents", ())
        return {entry["Key"].removeprefix(prefix): self.read(entry["Key"]) for entry in listed if "/.tmp/" not in entry["Key"]}

    def staged(self):
        return self.s3.list_objects_v2(Bucket=self.bucket, Prefix="out/.tmp/").get("Contents", [])

    def read(self, key):
        return self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read().decode()

    def put(self, key, text):
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=text.encode())

    def puts(self, name):
        return server.guard.seen.count(f"PUT /{self.bucket}/out/{name}")

    def transcripts(self):
        return {name: json.loads(text)["text"] for name, text in self.objects().items() if name.endswith(".json")}

    def until(self, happens, seconds=100):
        end = time.monotonic() + seconds
        while not (result := happens()):
            self.assertLess(time.monotonic(), end, "it took too long")
            time.sleep(0.05)
        return result


class Alone(BucketTest):
    def test_outputs_are_those_of_a_folder_and_appear_once(self):
        self.batch(out=self.home / "out", state="other")
        expected = {name.name: json.loads(name.read_text())["text"] for name in (self.home / "out").glob("*.json")}
        ended = self.batch("--report", self.home / "report.json")
        self.assertEqual(self.transcripts(), expected)
        self.assertEqual(sorted(self.objects()), sorted([*expected, "review.csv", "review.html"]), "nothing else is left")
        self.assertIn(f"s3://{self.bucket}/out/review.html", ended.err)
        self.assertIn("<html", self.objects()["review.html"])
        server.guard.seen.clear()
        self.assertIn("were done before this run", self.batch().err)
        self.assertEqual([self.puts(name) for name in expected], [0, 0], server.guard.seen)

    def test_what_others_wrote_is_kept_and_what_is_gone_is_done_again(self):
        self.put("out/george.wav.json", "mine")
        self.batch("--review", "False")
        found = self.objects()
        self.assertEqual(found["george.wav.json"], "mine")
        text = json.loads(found["george.wav.new.json"])["text"]
        self.s3.delete_object(Bucket=self.bucket, Key="out/jackson.ogg.json")
        self.batch("--review", "False")
        self.assertEqual(set(self.objects()), {"george.wav.json", "george.wav.new.json", "jackson.ogg.json"})
        edited = json.loads(self.objects()["jackson.ogg.json"]) | {"text": "corrected"}
        self.put("out/jackson.ogg.json", json.dumps(edited))
        self.batch("--review", "False", "--overwrite")
        self.assertEqual(self.transcripts()["george.wav.json"], text)
        self.assertNotEqual(self.transcripts()["jackson.ogg.json"], "corrected")

    def test_what_would_fail_is_named_before_work(self):
        (self.recordings / "broken.wav").write_text("would fail, too")
        listing = f"GET /{self.bucket}?list-type=2&max-keys=1"

        def refused(why, code=4, **options):
            error = self.batch(code=code, **options).err
            self.assertIn(why, error)
            self.assertNotIn("broken", error)

        refused("s3://nowhere-of-tests/out: outputs cannot be written there: bucket nowhere-of-tests: there is no such bucket",
                out="s3://nowhere-of-tests/out")
        server.guard.faults_of = {listing: [(403, "AccessDenied")]}
        refused("access is denied to the credentials of the environment")
        server.guard.faults_of = {listing: [(301, "PermanentRedirect", "<Region>eu-west-1</Region>")]}
        refused("it is in region eu-west-1, and the request was for us-east-1")
        refused("no region is named", environment={"AWS_REGION": None})
        refused("no credentials", environment={"keys": False})
        refused("expected s3://BUCKET/KEY", code=2, out="s3://no bucket/out")
        refused("'..' in the key", code=2, out=f"s3://{self.bucket}/../out")
        refused("expected a folder or s3://BUCKET/FOLDER", code=2, out="https://host/out")
        self.assertEqual(self.objects(""), {})

    def test_results_that_could_not_be_written_are_not_lost(self):
        """S3 is there at the start, refuses every PUT of a result, and the run is stopped: its work is kept on this machine."""
        (self.recordings / "jackson.ogg").unlink()
        key = f"PUT /{self.bucket}/out/george.wav.json"
        server.guard.faults_of = {key: [(403, "AccessDenied")] * 1000}
        process = subprocess.Popen([cloud_case.BIN / "tutti", *map(str, self.words())], env=self.environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.until(lambda: key in server.guard.seen)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        log = process.communicate(timeout=60)[1]
        self.assertIn("What is transcribed is kept", log)
        server.guard.clear()
        ended = self.batch("--review", "False")
        self.assertIn("done before this run", ended.err, "its transcript was there already")
        self.assertEqual(list(self.objects()), ["george.wav.json"])


class SharedTest(BucketTest):
    def setUp(self):
        super().setUp()
        self.database = f"t{uuid.uuid4().hex[:12]}"
        self.url = postgres.new_database(self.database)

    def count(self, condition):
        return int(postgres.sql(f"SELECT count(*) FROM tutti_jobs WHERE {condition}", self.database)[0])

    def start(self, *words):
        log = self.home / f"{uuid.uuid4().hex}.log"
        with log.open("w") as file:
            process = subprocess.Popen([cloud_case.BIN / "tutti", *map(str, words)], stderr=file, env=self.environment())
        process.log = log
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def worker(self, *more, device=PLAYED):
        return ["worker", "--store", self.url, *device, "-f", "json", "--idle-timeout", "0", "--lease", "3", "--state",
                self.home / "worker", *more]

    def add_recordings(self, count):
        """Of george again and again, no two of the same content."""
        with wave.open(str(DIGITS[0])) as file:
            settings, frames = file.getparams(), file.readframes(file.getnframes())
        for number in range(count):
            with wave.open(str(self.recordings / f"{number:03}.wav"), "wb") as file:
                file.setparams(settings)
                file.writeframes(frames + bytes([number, 0] * 8))

    def killed_batch(self, count):
        """A batch that was killed in the middle of its work; the words of the command."""
        self.add_recordings(count)
        words = self.words("--store", self.url, "--lease", "3", "-t", "1", device=PLAYED)
        first = self.start(*words)
        self.until(lambda: self.transcripts())
        first.kill()
        first.wait()
        self.assertGreater(self.count("state <> 'done'"), 0, "it was too fast")
        return words

    def attempts(self):
        return postgres.sql("SELECT sum(attempts) FROM tutti_jobs", self.database)


class Shared(SharedTest):
    def test_worker_without_access_ends_and_costs_no_job_an_attempt(self):
        self.killed_batch(20)
        before = self.attempts()
        server.guard.faults_of = {f"GET /{self.bucket}?list-type=2&max-keys=1": [(403, "AccessDenied")]}
        ended = self.tutti(*self.worker(), code=4)
        self.assertIn(f"s3://{self.bucket}/out: outputs cannot be written there", ended.err)
        self.assertEqual(self.attempts(), before)
        server.guard.faults_of = {}
        self.tutti(*self.worker("--idle-timeout", "0.2"))
        self.assertEqual(self.count("state = 'done'"), 22)

    def test_worker_takes_another_engine_as_the_batch_does(self):
        engine = ("--engine", FAKE_ENGINE, "--devices", "cpu")
        first = self.start(*self.words("--store", self.url, "-t", "1", device=engine))
        self.until(lambda: self.transcripts())
        ended = self.tutti(*self.worker(device=engine))
        self.assertEqual(first.wait(60), 0, first.log.read_text())
        self.assertNotIn("other options", ended.err)
        self.assertEqual(len(self.transcripts()), 2)
        self.assertIn("--engine: emulated devices have no engine",
                      self.tutti(*self.worker("--engine", FAKE_ENGINE), code=2).err)


class KilledLong(SharedTest):
    def test_workers_finish_what_a_killed_batch_has_begun(self):
        words = self.killed_batch(20)
        idle = ("--idle-timeout", "0.2")  # the killed one's leases run out within it
        workers = self.start(*self.worker(*idle)), self.start(*self.worker(*idle, "--state", self.home / "third"))
        for process in workers:
            self.assertEqual(process.wait(100), 0, process.log.read_text())
        self.assertEqual(self.count("state = 'done'"), 22)
        self.tutti(*words)  # puts in place what the killed one had recorded, and removes what it had staged
        self.assertEqual(len(self.transcripts()), 22)
        self.assertEqual(([name for name in self.objects() if ".new" in name], self.staged()), ([], []))
        self.assertEqual(postgres.sql("SELECT max(n) FROM (SELECT count(*) AS n FROM tutti_attempts WHERE ending = 'done' GROUP BY job) AS x",
                                      self.database), ["1"])

    def test_fleet_shows_every_runner_and_one_that_was_killed(self):
        self.add_recordings(240)
        first = self.start(*self.words("--store", self.url, "--lease", "3", "--report", self.home / "report.json", "-t", "1", device=PLAYED))
        self.until(lambda: len(self.transcripts()) > 9)  # the second joins some seconds later, as the report has it
        second = self.start(*self.worker())

        def devices():
            fleet = self.tutti("top", "--json", "--store", self.url).json()["run"]
            return {re.sub(r"^.*\.(\d+) ", r"\1 ", device["id"]): device for device in fleet["devices"]}

        both = {f"{first.pid} emulated:20x:8GB", f"{second.pid} emulated:20x:8GB"}
        self.until(lambda: both <= set(devices()) and all("speed_audio_seconds_per_second" in each for each in devices().values()))
        for name in both:
            self.assertLess(devices()[name]["silent_seconds"], 10)
        second.kill()
        second.wait()
        move = "UPDATE tutti_runs SET seen = seen {} WHERE command LIKE 'tutti worker%'"  # as if it were a minute ago
        postgres.sql(move.format("- 61000"), self.database)
        self.assertEqual(devices()[f"{second.pid} emulated:20x:8GB"]["state"], "lost")
        self.assertRegex(self.tutti("history", "--store", self.url).out, r"(?m)lost .*tutti worker")
        postgres.sql(move.format("+ 61000"), self.database)
        self.assertEqual(first.wait(200), 0, first.log.read_text())
        reported = json.loads((self.home / "report.json").read_text())["other_runners"]
        self.assertEqual([runner["runner"].split(".")[-1] for runner in reported], [str(second.pid)])
        self.assertIn(reported[0]["state"], ("at_work", "lost"))
        self.assertGreater(reported[0]["joined_seconds"], 0)
        self.assertGreater(reported[0]["devices"][0]["audio_seconds"], 0)
        self.assertRegex(first.log.read_text(), r"Runner .*\d+: \d+:\d\d of audio in \d+:\d\d, from .* on")


class WaitsLong(BucketTest):
    def test_s3_that_is_away_for_a_while_is_waited_for(self):
        key = f"PUT /{self.bucket}/out/george.wav.json"
        server.guard.faults_of = {key: [(503, "SlowDown")] * 7}
        ended = self.batch("--review", "False")
        self.assertIn("What is transcribed is kept, and written again", ended.err)
        self.assertEqual(server.guard.seen.count(key), 8)
        self.assertEqual(set(self.objects()), {"george.wav.json", "jackson.ogg.json"})


if __name__ == "__main__":
    cloud_case.BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    aws.use_packages()
    long = "--long" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--long"]
    unittest.main(verbosity=2, defaultTest=["KilledLong", "WaitsLong"] if long else ["Alone", "Shared"])
