#!/usr/bin/env python3
"""Checks of examples/runners, and a list of jobs done by runners that are started as these start them.

Usage: examples_test.py BIN TEST.... BIN is the folder of the programs. TEST: Units, Scripts, Kubernetes or OneList.
"""
import copy
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

import aws
import cloud_case
import python_packages
from cloud_case import CloudTest

RUNNERS = aws.ROOT / "examples/runners"
SCRIPTS = [RUNNERS / name for name in ("tutti-worker.slurm", "spot-user-data.sh")]
UNITS = [RUNNERS / "tutti-worker@.service", aws.ROOT / "examples/tutti-serve.service"]
KUBERNETES = "1.33"
INSTALLED = "/usr/local/bin/tutti"
CHECKERS = {"Units": "systemd-analyze", "Scripts": "shellcheck"}
NANO = aws.ROOT / "models/nano"
server = None


def output_of(*words):
    ended = subprocess.run(words, capture_output=True, text=True)
    return ended.returncode, ended.stdout + ended.stderr


def objects_in(name):
    import yaml
    return list(yaml.safe_load_all((RUNNERS / name).read_text()))


class Units(unittest.TestCase):
    def test_systemd_finds_nothing_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            for unit in UNITS:
                copied = pathlib.Path(folder) / unit.name
                copied.write_text(unit.read_text().replace(INSTALLED, str(cloud_case.BIN / "tutti")))
                self.assertEqual(output_of("systemd-analyze", "verify", "--man=no", copied), (0, ""))


class Scripts(unittest.TestCase):
    def test_shellcheck_finds_nothing_wrong(self):
        self.assertEqual(output_of("shellcheck", *SCRIPTS), (0, ""))


class Kubernetes(unittest.TestCase):
    def assert_refused(self, check, given):
        with self.assertRaises(Exception):
            check(given)

    def test_objects_of_kubernetes_are_valid(self):
        import jsonschema
        import kubernetes_validate
        schema = json.loads(pathlib.Path(__file__).with_name("keda_schema.json").read_text())

        def check_job(job):
            kubernetes_validate.validate(job, KUBERNETES, strict=True)

        def check_keda(scaled):
            jsonschema.validate(scaled, schema)

        job = objects_in("kubernetes-job.yaml")[0]
        check_job(job)
        misspelt = copy.deepcopy(job)
        misspelt["spec"]["template"]["spec"]["containers"][0]["argz"] = []
        self.assert_refused(check_job, misspelt)
        for name in ("keda-sqs.yaml", "keda-postgres.yaml"):
            authentication, scaled = objects_in(name)
            for each in (authentication, scaled):
                check_keda(each)
                self.assert_refused(check_keda, each | {"specs": {}})
            check_job({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, "spec": scaled["spec"]["jobTargetRef"]})
            self.assertEqual(scaled["spec"]["triggers"][0]["authenticationRef"]["name"], authentication["metadata"]["name"])
            number = copy.deepcopy(scaled)  # KEDA takes strings alone there
            number["spec"]["triggers"][0]["metadata"]["queueLength"] = 2
            self.assert_refused(check_keda, number)


class OneList(CloudTest):
    """One list of jobs on the queue."""

    @classmethod
    def setUpClass(cls):
        global server
        aws.use_packages()
        server = cloud_case.start()
        cls.addClassCleanup(server.close)

    def setUp(self):
        super().setUp()
        self.s3, self.sqs = server.client("s3"), server.client("sqs")
        self.bucket = f"talks-{uuid.uuid4().hex[:12]}"
        self.s3.create_bucket(Bucket=self.bucket)
        self.queue = self.new_queue("--wait", "1")
        self.s3.put_object(Bucket=self.bucket, Key="audio/george.wav", Body=(aws.ROOT / "samples/george.wav").read_bytes())

    def start(self, name, words, **more):
        state = self.home / name
        state.mkdir()
        path = f"{self.home}:{cloud_case.BIN}:{self.environment()['PATH']}"
        environment = self.environment(PATH=path, TUTTI_DEVICES="cpu", STATE_DIRECTORY=str(state), TMPDIR=str(state), **more)
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.addCleanup(process.stderr.close)
        return process

    def settings(self):
        return {"TUTTI_QUEUE_URL": self.queue, "TUTTI_S3_BUCKET": self.bucket, "TUTTI_MODEL": str(NANO)}

    def before_start(self, model, program):
        """What the unit's ExecStartPre prints with a program in place of tutti."""
        line = re.search("^ExecStartPre=(.*)$", UNITS[0].read_text(), re.MULTILINE)[1]
        words = shlex.split(line.replace("$$", "$").replace(INSTALLED, program).replace("${TUTTI_MODEL}", model))
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def test_unit_fetches_a_model_that_is_no_path(self):
        self.assertEqual(self.before_start("tiny.en", "echo"), "pull tiny.en\n")
        self.assertEqual(self.before_start(str(NANO), "echo"), "")

    def as_systemd_does(self):
        line = re.search("^ExecStart=(.*)$", UNITS[0].read_text(), re.MULTILINE)[1]
        words = shlex.split(line.replace("${STATE_DIRECTORY}", str(self.home / "systemd")))
        self.assertEqual(words[0], INSTALLED)
        return self.start("systemd", [cloud_case.BIN / "tutti", *words[1:]], **self.settings())

    def as_slurm_does(self):
        return self.start("slurm", ["bash", SCRIPTS[0]], SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID="0", **self.settings())

    def as_kubernetes_does(self):
        container = objects_in("kubernetes-job.yaml")[0]["spec"]["template"]["spec"]["containers"][0]
        words = [word.replace("/scratch", str(self.home / "scratch")) for word in container["command"] + container["args"]]
        self.assertLessEqual({each["name"] for each in container["env"]}, set(self.settings()))
        return self.start("kubernetes", words, **self.settings())

    def until(self, happens):
        end = time.monotonic() + 120
        while not (result := happens()):
            self.assertLess(time.monotonic(), end, "it took too long")
            time.sleep(0.2)
        return result

    def keys(self, prefix):
        return [entry["Key"] for entry in self.s3.list_objects_v2(Bucket=self.bucket, Prefix=prefix).get("Contents", ())]

    def object(self, key):
        return json.loads(self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read())

    def send(self, count):
        for number in range(count):
            message = {"schema_version": 1, "job_id": f"00000000-0000-4000-8000-{number:012}", "priority": 3, "retry_count": 0,
                       "s3_input_path": f"s3://{self.bucket}/audio/george.wav", "s3_output_path": f"s3://{self.bucket}/out/{number}.json",
                       "estimated_duration_seconds": 5, "submitted_at": "2026-11-29T03:00:00Z"}
            self.sqs.send_message(QueueUrl=self.queue, MessageBody=json.dumps(message))

    def waiting(self):
        facts = self.tutti("queue", "status", "-q", self.queue, "--json").json()
        return facts["waiting"] + facts["in_flight"] + facts["dead_letters"]

    def test_three_runners_do_one_list_and_end_on_a_signal(self):
        runners = [self.as_systemd_does(), self.as_slurm_does(), self.as_kubernetes_does()]
        self.until(lambda: len(self.keys("workers/")) == len(runners))
        self.send(18)
        self.until(lambda: len(self.keys("out/")) == 18)
        self.until(lambda: self.waiting() == 0)
        results = [self.object(key) for key in self.keys("out/")]
        self.assertEqual(len({result["job_id"] for result in results}), 18)
        self.assertGreater(len({result["worker_id"] for result in results}), 1)
        for runner in runners:
            runner.send_signal(signal.SIGTERM)
        logs = [runner.communicate(timeout=60)[1] for runner in runners]
        self.assertEqual([runner.returncode for runner in runners], [130] * len(runners), logs)
        done = [int(re.search(r"Total jobs processed: (\d+)", log)[1]) for log in logs]
        self.assertEqual(sum(done), 18, logs)

    def test_spot_machine_ends_after_its_last_job(self):
        self.send(2)
        shutdown = self.home / "shutdown"
        shutdown.write_text('#!/bin/sh\necho "$@" >>"$HOME/ends"\ntouch "$SCHEDULED"\n')
        shutdown.chmod(0o755)
        paths = {name: str(self.home / name) for name in ("LOGS", "STATE", "SCHEDULED")}
        machine = self.start("spot", ["bash", SCRIPTS[1]], IDLE_MINUTES="0", **paths, **self.settings())
        log = machine.communicate(timeout=100)[1]
        self.assertEqual(machine.returncode, 0, log)
        self.assertEqual(len(self.keys("out/")), 2, log)
        self.assertEqual((self.home / "ends").read_text(), "-h +1\n", log)
        # One that cannot start ends, too.
        (self.home / "SCHEDULED").unlink()
        machine = self.start("again", ["bash", SCRIPTS[1]], **paths, **self.settings() | {"TUTTI_S3_BUCKET": "none-of-ours"})
        log = machine.communicate(timeout=100)[1]
        self.assertEqual(machine.returncode, 4, log)
        self.assertEqual((self.home / "ends").read_text(), "-h +1\n-h +15\n", log)


if __name__ == "__main__":
    cloud_case.BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    for name in sys.argv[1:]:
        if not shutil.which(CHECKERS.get(name, "bash")):
            python_packages.skip(f"another program: {CHECKERS[name]} is not here")
    if not set(sys.argv[1:]) <= set(CHECKERS):
        python_packages.use(pathlib.Path(__file__).with_name("kubernetes_requirements.txt"), "kubernetes-tests")
    unittest.main()
