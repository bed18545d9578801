#!/usr/bin/env python3
"""Tests of `tutti worker` with moto's SQS and S3 behind a check of every signature.

Usage: worker_test.py BIN [--long] [TEST...]. BIN is the folder of the programs. --long: what waits for time to pass, instead of the
rest.
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
from aws import SECRET
from cloud_case import CloudTest

sys.path.append(str(aws.ROOT / "tools"))  # shared_data
from shared_data import shared_data

DIGITS = [aws.ROOT / "samples" / name for name in ("george.wav", "jackson.ogg")]
NANO = aws.ROOT / "models/nano"
BUCKET = "talks"
LONG_SECONDS = 900
server = None


def setUpModule():
    global server
    server = cloud_case.start()
    unittest.addModuleCleanup(server.close)


class WorkerTest(CloudTest):
    def setUp(self):
        super().setUp()
        self.s3, self.sqs = server.client("s3"), server.client("sqs")
        self.s3.create_bucket(Bucket=BUCKET)
        self.addCleanup(self.empty_bucket)
        self.queue = self.new_queue("--wait", "1")

    def empty_bucket(self):
        for entry in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
            self.s3.delete_object(Bucket=BUCKET, Key=entry["Key"])

    def upload(self, key, content):
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=content)

    def send_job(self, name, *words, **more):
        """A job of audio/NAME.flac, its message."""
        return self.tutti("send", "-i", f"s3://{BUCKET}/audio/{name}.flac", "-o", f"s3://{BUCKET}/out/{name}.json", "-q", self.queue,
                          "--json", *words, **more).json()

    def send_digits(self, *names):
        for name in names:
            self.upload(f"audio/{name}.flac", DIGITS[0].read_bytes())
            self.send_job(name)

    def words(self, *more):
        return ["worker", "--queue-url", self.queue, "--s3-bucket", BUCKET, "--model", str(NANO), "--cpu-only", "--idle-timeout", "0",
                "--temp-dir", str(self.home / "temporary"), "--state", str(self.home / "state"), *more]

    def work(self, *more, **options):
        return self.tutti(*self.words(*more), **options)

    def start(self, *more, **environment):
        """A worker beside the test."""
        log = self.home / f"{uuid.uuid4().hex}.log"
        with log.open("w") as file:
            process = subprocess.Popen([cloud_case.BIN / "tutti", *self.words(*more)], stderr=file, env=self.environment(**environment))
        process.log = log
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def until(self, happens, seconds=120):
        end = time.monotonic() + seconds
        while not (result := happens()):
            self.assertLess(time.monotonic(), end, "it took too long")
            time.sleep(0.05)
        return result

    def keys(self, prefix=""):
        return [entry["Key"] for entry in self.s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", ())]

    def object(self, key):
        return json.loads(self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    def facts(self):
        return self.tutti("queue", "status", "-q", self.queue, "--json").json()

    def dead_letters(self):
        """Reason by body."""
        letters = {}
        while messages := self.sqs.receive_message(QueueUrl=self.queue + "-dead-letters", MaxNumberOfMessages=10,
                                                   MessageAttributeNames=["All"]).get("Messages"):
            for message in messages:
                letters[message["Body"]] = message["MessageAttributes"]["failure_reason"]["StringValue"]
        return letters

    def assert_queue_is_done(self, dead=0):
        facts = self.facts()
        self.assertEqual((facts["waiting"], facts["in_flight"], facts["dead_letters"]), (0, 0, dead))


class Results(WorkerTest):
    def test_result_has_every_field_of_the_note(self):
        self.send_digits("one")
        message = json.loads(self.sqs.receive_message(QueueUrl=self.queue, VisibilityTimeout=0)["Messages"][0]["Body"])
        ended = self.work("--log-dir", str(self.home / "logs"))
        result = self.object("out/one.json")
        self.assertEqual(list(result), [
            "schema_version", "job_id", "s3_input_path", "s3_output_path", "estimated_duration_seconds",
            "actual_transcription_time_seconds", "priority", "retry_count", "processed_at", "worker_id", "transcript",
            "audio_duration_seconds", "input_etag"])
        self.assertEqual({name: result[name] for name in message if name not in ("submitted_at", "retry_count")},
                         {name: message[name] for name in message if name not in ("submitted_at", "retry_count")})
        self.assertEqual(result["retry_count"], 1)  # the test has received it once
        transcript = result["transcript"]
        self.assertEqual(list(transcript), ["segments", "language", "video_id", "transcribed_at", "transcriber", "model", "batch_size"])
        self.assertEqual((transcript["video_id"], transcript["model"]), (message["job_id"], str(NANO)))
        self.assertGreater(result["actual_transcription_time_seconds"], 0)
        self.assertGreater(transcript["batch_size"], 0)
        for segment in transcript["segments"]:
            self.assertEqual(list(segment), ["start", "end", "text", "words"])
            self.assertEqual("".join(word["word"] for word in segment["words"]).strip(), segment["text"].strip())
            for word in segment["words"]:
                self.assertEqual(list(word), ["word", "start", "end", "score"])
        self.assertTrue(transcript["segments"])
        self.assert_queue_is_done()
        for line in ("CPU batch processing completed", "Transcription completed in ", "credentials of 123456789012"):
            self.assertIn(line, ended.err)
            self.assertIn(line, (self.home / "logs/transcription-worker.log").read_text())
        self.assertNotIn("GPU test PASSED", ended.err)  # there is none
        self.assertEqual((self.home / "logs/gpu-test.log").read_text(), "")

    def test_bucket_shows_job_worker_and_queue(self):
        self.send_digits("one")
        ended = self.work("--idle-timeout", "0.01")
        self.assertIn("Idle timeout: 0.01 minutes", ended.err)
        result = self.object("out/one.json")
        status = self.object(f"progress/{result['job_id']}/status.json")
        self.assertEqual((status["job_id"], status["status"], status["percentage"], status["schema_version"]),
                         (result["job_id"], "COMPLETED", 100, 1))
        for field in ("message", "elapsed_seconds", "timestamp", "last_update"):
            self.assertIn(field, status)
        worker = self.object(f"workers/{result['worker_id']}/status.json")
        self.assertEqual((worker["status"], worker["jobs_processed"], worker["current_jobs"]), ("stopped", 1, []))
        stats = self.object("queue-stats.json")
        self.assertEqual((stats["job_count"], stats["total_minutes_pending"]), (0, 0))
        self.assertEqual(list((self.home / "temporary").iterdir()), [])

    def test_result_that_is_there_is_not_done_again(self):
        self.send_digits("one")
        self.upload("out/one.json", json.dumps({"s3_input_path": f"s3://{BUCKET}/audio/one.flac"}).encode())
        ended = self.work()
        self.assertIn("is there already", ended.err)
        self.assertEqual(len(self.object("out/one.json")), 1)
        self.assertNotIn(f"GET /{BUCKET}/audio/one.flac", server.guard.seen)
        self.assert_queue_is_done()

    def test_what_is_no_result_of_the_recording_stays_and_the_job_is_a_dead_letter(self):
        self.send_digits("one", "two", "raced")
        others = {"one": b"mine", "two": json.dumps({"s3_input_path": f"s3://{BUCKET}/audio/one.flac"}).encode()}
        for name, content in others.items():
            self.upload(f"out/{name}.json", content)
        ended = self.work(code=3)
        for name, content in others.items():
            self.assertEqual(self.s3.get_object(Bucket=BUCKET, Key=f"out/{name}.json")["Body"].read(), content)
        reasons = sorted(self.dead_letters().values())
        self.assertIn(f"out/one.json: it is there already, and is not the result of s3://{BUCKET}/audio/one.flac", reasons[0])
        self.assertIn(f"is not the result of s3://{BUCKET}/audio/two.flac but of s3://{BUCKET}/audio/one.flac", reasons[1])
        self.assertIn("SUCCESS", ended.err)
        self.assert_queue_is_done(dead=2)

    def test_audio_that_is_missing_is_named_in_the_result(self):
        self.upload("audio/short.flac", DIGITS[0].read_bytes()[:-3000])
        self.send_job("short")
        self.work()
        result = self.object("out/short.json")
        self.assertEqual(len(result["losses"]), 1, result)
        self.assertIn(result["losses"][0], self.object(f"progress/{result['job_id']}/status.json")["message"])

    def test_put_that_another_wins_ends_the_job_and_a_race_is_put_again(self):
        self.send_digits("lost", "raced")
        server.guard.faults_of = {f"PUT /{BUCKET}/out/lost.json": [(412, "PreconditionFailed")],
                                  f"PUT /{BUCKET}/out/raced.json": [(409, "ConditionalRequestConflict")]}
        ended = self.work()
        self.assertIn("another worker has published it before", ended.err)
        self.assertEqual(server.guard.seen.count(f"PUT /{BUCKET}/out/raced.json"), 2)
        self.assertEqual(self.keys("out/"), ["out/raced.json"])
        self.assert_queue_is_done()

    def test_engine_of_others_does_the_jobs(self):
        self.send_digits("one")
        engine = f"python3 {aws.ROOT}/tests/system/engines/fake_engine.py"
        self.tutti("worker", "--queue-url", self.queue, "--s3-bucket", BUCKET, "--engine", engine, "--cpu-only", "--idle-timeout", "0",
                   "--state", str(self.home / "state"))
        transcript = self.object("out/one.json")["transcript"]
        self.assertEqual(transcript["model"], "fake 1.0")
        self.assertRegex(transcript["segments"][0]["text"], r"^ [0-9]+ [0-9a-f]{8}$")
        self.assert_queue_is_done()

    def test_urgent_jobs_are_begun_first_and_of_these_long_ones(self):
        for name, priority, seconds in (("late", "4", "9"), ("short", "2", "5"), ("long", "2", "50"), ("first", "1", "1")):
            self.upload(f"audio/{name}.flac", DIGITS[0].read_bytes())
            self.send_job(name, "-p", priority, "-d", seconds)
        ended = self.work("--prefetch", "10")
        begun = [line.split("audio/")[1].split(".")[0] for line in ended.err.splitlines() if "STARTING JOB" in line]
        self.assertEqual(begun, ["first", "long", "short", "late"])


class Faults(WorkerTest):
    def test_what_cannot_be_done_goes_to_the_dead_letters_at_once(self):
        self.send_digits("good")
        self.upload("audio/empty.flac", b"")
        self.upload("audio/noise.flac", b"no audio at all" * 100)
        self.upload("audio/cut.flac", DIGITS[1].read_bytes()[:100])
        for name in ("empty", "noise", "cut", "absent"):
            self.send_job(name)
        bodies = {"no json": "the message is no JSON object",
                  '{"job_id": "x", "s3_input_path": "s3://talks/a"}': "the message has no s3_output_path",
                  '{"job_id": "x", "s3_input_path": "s3://talks/../a", "s3_output_path": "s3://talks/b"}': "'..' in the key",
                  '{"job_id": "../x", "s3_input_path": "s3://talks/a", "s3_output_path": "s3://talks/b"}': "job_id: expected"}
        for body in bodies:
            self.sqs.send_message(QueueUrl=self.queue, MessageBody=body)
        ended = self.work(code=3)
        letters = self.dead_letters()
        for body, reason in bodies.items():
            self.assertIn(reason, letters.pop(body))
        reasons = {json.loads(body)["s3_input_path"].split("/")[-1]: reason for body, reason in letters.items()}
        self.assertEqual(set(reasons), {"empty.flac", "noise.flac", "cut.flac", "absent.flac"})
        self.assertIn("it is empty", reasons["empty.flac"])
        self.assertIn("it is not there", reasons["absent.flac"])
        self.assertNotIn("/proc/", "".join(reasons.values()) + ended.err)
        self.assertEqual(self.keys("out/"), ["out/good.json"])
        facts = self.facts()
        self.assertEqual((facts["waiting"], facts["in_flight"]), (0, 0))
        states = [self.object(key)["status"] for key in self.keys("progress/")]
        self.assertEqual(sorted(states), ["COMPLETED"] + ["ERROR"] * 4)

    def test_bucket_of_a_result_that_is_not_there_is_found_before_the_work(self):
        self.upload("audio/one.flac", DIGITS[0].read_bytes())
        self.tutti("send", "-i", f"s3://{BUCKET}/audio/one.flac", "-o", "s3://nowhere-of-tests/one.json", "-q", self.queue)
        self.work(code=3)
        self.assertIn("bucket nowhere-of-tests: there is no such bucket", "".join(self.dead_letters().values()))
        self.assertNotIn(f"GET /{BUCKET}/audio/one.flac", server.guard.seen)

    def test_denied_object_comes_again_and_then_dies_with_the_reason(self):
        self.queue = self.new_queue("--wait", "1", "--max-receives", "1")
        self.send_digits("theirs")
        server.guard.faults_of = {f"GET /{BUCKET}/audio/theirs.flac": [(403, "AccessDenied")]}
        self.work(code=3)
        self.assertIn("access is denied to the credentials of the environment", "".join(self.dead_letters().values()))

    def test_passing_fault_puts_the_job_back_for_a_while(self):
        self.send_digits("later")
        server.guard.faults_of = {f"GET /{BUCKET}/audio/later.flac": [(503, "SlowDown")] * 5}
        ended = self.work()
        self.assertIn("Tried again in ", ended.err)
        self.assertEqual((self.keys("out/"), self.facts()["in_flight"]), ([], 1))

    def test_windows_that_another_worker_has_removed_are_no_fault(self):
        self.upload("audio/one.flac", DIGITS[0].read_bytes())
        job = self.send_job("one")["job_id"]
        self.sqs.receive_message(QueueUrl=self.queue, VisibilityTimeout=0)  # as by a worker that was killed
        chunk = f"transcripts/{job}/segments/chunk_0000.json"
        self.upload(chunk, b"{}")
        server.guard.faults_of = {f"GET /{BUCKET}/{chunk}": [(404, "NoSuchKey")]}
        self.work()
        self.assertIn(f"GET /{BUCKET}/{chunk}", server.guard.seen)
        self.assertEqual(self.keys("out/"), ["out/one.json"])
        self.assert_queue_is_done()

    def test_cut_download_goes_on_and_a_changed_object_is_not_mixed(self):
        self.send_digits("cut", "changed")
        server.guard.cut_short = {f"/{BUCKET}/audio/cut.flac": lambda: None,
                                  f"/{BUCKET}/audio/changed.flac": lambda: self.upload("audio/changed.flac", DIGITS[1].read_bytes())}
        ended = self.work()
        self.assertEqual(self.keys("out/"), ["out/cut.json"])
        self.assertIn("audio/changed.flac: it was replaced while it was fetched", ended.err)

    def test_what_would_stop_every_job_is_named_before_work(self):
        self.assertIn("no GPU is in sight", self.tutti(*[word for word in self.words() if word != "--cpu-only"], code=4).err)
        self.assertIn("there is no such bucket", self.work("--s3-bucket", "nowhere", code=4).err)
        server.guard.faults_of = {f"GET /{BUCKET}?list-type=2&max-keys=1": [(403, "AccessDenied")]}
        self.assertIn("access is denied", self.work(code=4).err)
        server.guard.faults_of = {f"GET /{BUCKET}?list-type=2&max-keys=1": [(301, "PermanentRedirect", "<Region>eu-west-1</Region>")]}
        self.assertIn("it is in region eu-west-1, and the request was for us-east-1", self.work(code=2).err)
        url = self.sqs.create_queue(QueueName="bare")["QueueUrl"]
        self.assertIn("it has no dead letters", self.work("--queue-url", url, code=4).err)
        self.assertIn("it is not there", self.work("--queue-url", url + "-gone", code=4).err)
        self.assertIn("the queue's URL names us-east-1",
                      self.work("-q", "https://sqs.us-east-1.amazonaws.com/1/jobs", "-r", "us-east-2", code=2).err)
        self.assertIn("expected --s3-bucket", self.work("--s3-bucket", "", code=2).err)
        self.assertIn("--visibility: expected 3 to 43200", self.work("--visibility", "1", code=2).err)


class Devices(WorkerTest):
    def devices(self, failures):
        """A list of one emulated GPU."""
        path = self.home / "devices.toml"
        path.write_text(f'time = 0.01\n[[device]]\nuse = "emulated:30x:12GB"\nfailures = {failures}\n')
        return [word for word in self.words("--devices", str(path)) if word != "--cpu-only"]

    def test_gpu_that_fails_ends_the_worker_before_it_receives(self):
        self.send_digits("one")
        ended = self.tutti(*self.devices('["lost@0"]'), code=4)
        self.assertIn("could not be made ready in 3 starts in a row", ended.err)
        self.assertIn("the device is lost", ended.err)
        self.assertEqual(self.keys("out/"), [])
        message = self.sqs.receive_message(QueueUrl=self.queue, AttributeNames=["All"])["Messages"][0]
        self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], "1")  # the test's own

    def test_gpu_that_fails_becomes_the_cpu_where_that_is_allowed(self):
        self.send_digits("one")
        ended = self.tutti(*self.devices('["lost@0"]'), "--cpu-fallback")
        self.assertIn("The worker runs on the CPU (--cpu-fallback), many times slower", ended.err)
        self.assertIn("CPU batch processing completed", ended.err)
        self.assertEqual(self.keys("out/"), ["out/one.json"])
        self.assert_queue_is_done()

    def test_gpu_passes_its_test_before_the_first_job(self):
        self.send_digits("one")
        ended = self.tutti(*self.devices("[]"), "--log-dir", str(self.home / "logs"))
        lines = (self.home / "logs/transcription-worker.log").read_text()
        self.assertLess(lines.index("GPU test PASSED"), lines.index("Received 1 message(s)"))
        self.assertIn("GPU test PASSED", (self.home / "logs/gpu-test.log").read_text())
        self.assertEqual(self.keys("out/"), ["out/one.json"], ended.err)


class Ends(WorkerTest):

    def test_top_shows_a_running_worker(self):
        runtime = self.home / "runtime"
        runtime.mkdir()
        self.send_digits("one")
        process = self.start("--idle-timeout", "60", XDG_RUNTIME_DIR=str(runtime))
        self.until(lambda: self.keys("out/"))
        run = self.tutti("top", "--once", "--json", XDG_RUNTIME_DIR=str(runtime)).json()
        self.assertIn(self.queue, json.dumps(run))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 130)

    def test_signal_releases_at_once_what_does_not_fit(self):
        self.send_digits(*(f"n{i}" for i in range(12)))
        process = self.start("--drain-seconds", "0", "--threads", "1", "--visibility", "600")
        self.until(lambda: self.keys("progress/"))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 130)
        facts = self.facts()
        self.assertEqual((facts["in_flight"], facts["waiting"] + len(self.keys("out/"))), (0, 12))
        self.work()
        self.assertEqual(len(self.keys("out/")), 12)


class WaitsLong(WorkerTest):
    def test_full_disk_is_waited_for_and_costs_no_attempt(self):
        self.upload("audio/one.flac", (aws.ROOT / "tests/data/shared/speech/ljspeech/wavs/LJ001-0001.wav").read_bytes())
        self.send_job("one")
        temporary = self.home / "temporary"
        temporary.mkdir()
        script = ("mount -t tmpfs -o size=200k none \"$1\" && { (sleep 5; mount -o remount,size=32m \"$1\") & } && shift && "
                  "exec \"$@\"")
        ended = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", temporary,
                                cloud_case.BIN / "tutti", *self.words()], capture_output=True, text=True, timeout=100,
                               env=self.environment())
        if "unshare" in ended.stderr.split("\n")[0]:
            self.skipTest("no mounts of its own here: " + ended.stderr)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("No space left on device", ended.stderr)
        self.assertEqual(self.object("out/one.json")["retry_count"], 0)
        self.assert_queue_is_done()

    def test_expired_credentials_end_the_worker_and_no_job_is_lost(self):
        self.send_digits("one", "two")
        server.add_keys("ASIAENDING0000000000", SECRET, "ending")
        server.guard.cut_short = {f"/{BUCKET}/audio/one.flac": lambda: server.guard.expired_tokens.add("ending")}
        self.addCleanup(server.guard.expired_tokens.clear)
        ended = self.work("--visibility", "3", code=4, AWS_ACCESS_KEY_ID="ASIAENDING0000000000", AWS_SESSION_TOKEN="ending")
        self.assertIn("have expired", ended.err)
        server.guard.expired_tokens.clear()
        time.sleep(4)
        self.work()
        self.assertEqual(self.keys("out/"), ["out/one.json", "out/two.json"])
        self.assert_queue_is_done()

    def test_idle_command_runs_after_an_idle_end_alone(self):
        mark = self.home / "idle"
        self.work("--on-idle", f"touch {mark}")
        self.assertTrue(mark.exists())
        mark.unlink()
        process = self.start("--idle-timeout", "60", "--on-idle", f"touch {mark}")
        self.until(lambda: server.guard.seen.count("POST AmazonSQS.ReceiveMessage") > 4)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 130)
        self.assertFalse(mark.exists())

    def test_heartbeat_keeps_a_message_beyond_its_visibility(self):
        self.send_digits("slow")
        server.guard.faults_of = {f"PUT /{BUCKET}/out/slow.json": [(503, "SlowDown")] * 12}
        self.work("--visibility", "3")
        self.assertGreater(server.guard.seen.count("POST AmazonSQS.ChangeMessageVisibility"), 2)
        self.assertEqual(self.object("out/slow.json")["retry_count"], 0)
        self.assert_queue_is_done()

    def test_worker_that_was_stopped_beyond_its_visibility_publishes_nothing(self):
        self.send_digits("one")
        server.guard.faults_of = {f"PUT /{BUCKET}/out/one.json": [(503, "SlowDown")] * 30}
        first = self.start("--visibility", "3")
        self.until(lambda: f"PUT /{BUCKET}/out/one.json" in server.guard.seen)
        first.send_signal(signal.SIGSTOP)
        self.addCleanup(first.send_signal, signal.SIGCONT)
        server.guard.faults_of = {}
        time.sleep(4)
        self.work()
        result = self.object("out/one.json")
        server.guard.seen.clear()
        first.send_signal(signal.SIGCONT)
        self.assertEqual(first.wait(60), 0, first.log.read_text())
        self.assertNotIn("POST AmazonSQS.ChangeMessageVisibility", server.guard.seen)  # of a message that may be another's
        self.assertEqual(self.object("out/one.json"), result)
        self.assertIn("another worker", first.log.read_text())
        self.assert_queue_is_done()

    def test_finished_windows_of_a_killed_job_are_not_done_again(self):
        with wave.open(str(DIGITS[0])) as file:
            frames, parameters = file.readframes(file.getnframes()), file.getparams()
        long = self.home / "long.wav"
        with wave.open(str(long), "wb") as file:
            file.setparams(parameters)
            for _ in range(LONG_SECONDS * parameters.framerate // parameters.nframes):
                file.writeframes(frames)
        self.upload("audio/long.flac", long.read_bytes())
        self.send_job("long", "-d", str(LONG_SECONDS))
        first = self.start("--visibility", "5")
        self.until(lambda: sum(len(self.object(key)["windows"]) for key in self.keys("transcripts/")) > 10)
        self.assertEqual(self.keys("out/"), [])
        first.kill()
        first.wait()
        time.sleep(6)
        again = self.work("--visibility", "5")
        reused = int(re.search(r"(\d+) answers about windows were taken from an earlier attempt", again.err)[1])
        self.assertGreater(reused, 10)
        self.assertEqual(self.keys("transcripts/"), [], again.err)
        self.assert_queue_is_done()
        self.s3.copy_object(Bucket=BUCKET, Key="out/resumed.json", CopySource=f"{BUCKET}/out/long.json")
        self.s3.delete_object(Bucket=BUCKET, Key="out/long.json")
        self.send_job("long", "-d", str(LONG_SECONDS))
        self.work()
        self.assertEqual(self.object("out/long.json")["transcript"]["segments"], self.object("out/resumed.json")["transcript"]["segments"])

    def test_spot_notice_ends_the_worker_in_good_order(self):
        services = aws.CredentialServices("unused", SECRET, "unused")
        self.addCleanup(services.server.shutdown)
        process = self.start("--idle-timeout", "60", AWS_EC2_METADATA_DISABLED=None, AWS_EC2_METADATA_SERVICE_ENDPOINT=services.url)
        self.until(lambda: "GET /latest/meta-data/spot/instance-action" in services.seen)
        self.assertIsNone(process.poll())
        services.spot_notice = {"action": "terminate", "time": "2026-11-28T18:02:00Z"}
        self.assertEqual(process.wait(60), 130)
        self.assertIn("spot notice: terminate at 2026-11-28T18:02:00Z", process.log.read_text())


class RealEnglishLong(WorkerTest):
    def test_two_workers_one_killed_write_the_texts_of_transcribe(self):
        model = service_model()
        clips = sorted((shared_data() / "speech/lj/wavs").glob("LJ003-*.flac"))[:24]
        for clip in clips:
            self.upload(f"audio/{clip.stem}.flac", clip.read_bytes())
            self.send_job(clip.stem, "-d", "8")
        server.guard.seen.clear()
        words = ("--model", str(model), "--visibility", "5", "--idle-timeout", "0.2", "--threads", "2")
        first = self.start(*words)
        self.until(lambda: self.keys("out/"))
        second = self.start(*words)
        first.kill()
        self.assertEqual(second.wait(500), 0, second.log.read_text())
        out = self.home / "transcripts"
        subprocess.run([cloud_case.BIN / "tutti", "transcribe", *clips, "--model", model, "--device", "cpu", "--batched",
                        "--word-timestamps", "True", "-f", "json", "-o", out], check=True, capture_output=True, env=self.environment())
        workers = set()
        for clip in clips:
            result = self.object(f"out/{clip.stem}.json")
            workers.add(result["worker_id"])
            self.assertEqual("".join(segment["text"] for segment in result["transcript"]["segments"]),
                             "".join(segment["text"] for segment in json.loads((out / f"{clip.stem}.json").read_text())["segments"]),
                             clip.stem)
        self.assertEqual(len(workers), 2)
        self.assertEqual(len(self.keys("out/")), len(clips))
        self.assert_queue_is_done()


def service_model():
    sys.path.append(str(aws.ROOT / "tests/system/serve"))
    import service
    return service.real_model()


if __name__ == "__main__":
    cloud_case.BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    aws.use_packages()
    long = "--long" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--long"]
    unittest.main(verbosity=2, defaultTest=["Ends", "WaitsLong", "RealEnglishLong"] if long else ["Results", "Faults", "Devices"])
