#!/usr/bin/env python3
"""Tests of `tutti queue` and `tutti send` with moto's SQS behind a check of every signature.

Usage: queue_test.py BIN. BIN is the folder of the programs.
"""
import datetime
import json
import pathlib
import re
import sys
import unittest
import uuid

import aws
import cloud_case
from aws import KEY, REGION, SECRET, TOKEN
from cloud_case import CloudTest

TEMPORARY_KEY = "ASIATESTOFTUTTI00000"
server = None


def setUpModule():
    global server
    server = cloud_case.start()
    server.add_keys(TEMPORARY_KEY, SECRET, TOKEN)
    unittest.addModuleCleanup(server.close)


class Queues(CloudTest):
    def test_created_queue_is_set_up_as_the_note_has_it(self):
        made = self.tutti("queue", "create", "jobs-of-the-note")
        url, dead = made.out.split()[0], made.out.split()[1]
        self.assertEqual(dead, url + "-dead-letters")
        self.assertIn("credentials of 123456789012 (the environment), do not expire", made.err)
        facts = server.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        self.assertEqual((facts["MessageRetentionPeriod"], facts["VisibilityTimeout"], facts["ReceiveMessageWaitTimeSeconds"]),
                         ("1209600", "1800", "20"))
        policy = json.loads(facts["RedrivePolicy"])
        self.assertEqual(int(policy["maxReceiveCount"]), 3)
        self.assertTrue(policy["deadLetterTargetArn"].endswith(":jobs-of-the-note-dead-letters"))
        dead_facts = server.client("sqs").get_queue_attributes(QueueUrl=dead, AttributeNames=["All"])["Attributes"]
        self.assertEqual(dead_facts["MessageRetentionPeriod"], "1209600")

    def test_every_setting_of_a_new_queue_acts(self):
        made = self.tutti("queue", "create", "own-settings", "--retention", "2", "--visibility", "60", "--wait", "5",
                          "--max-receives", "7", "--json").json()
        facts = server.client("sqs").get_queue_attributes(QueueUrl=made["queue_url"], AttributeNames=["All"])["Attributes"]
        self.assertEqual((facts["MessageRetentionPeriod"], facts["VisibilityTimeout"], facts["ReceiveMessageWaitTimeSeconds"]),
                         ("172800", "60", "5"))
        self.assertEqual(int(json.loads(facts["RedrivePolicy"])["maxReceiveCount"]), 7)

    def test_queue_that_is_there_is_kept_or_refused(self):
        first = self.tutti("queue", "create", "twice").out
        self.assertEqual(self.tutti("queue", "create", "twice").out, first)
        other = self.tutti("queue", "create", "twice", "--visibility", "60", code=4)
        self.assertIn("it is there already, with other settings", other.err)

    def test_settings_that_sqs_does_not_take_are_refused(self):
        for flags, words in ((("--wait", "21"), "--wait: expected 0 to 20, found 21"),
                             (("--retention", "15"), "to 14, found 15"),
                             (("--visibility", "43201"), "--visibility: expected 1 to 43200"),
                             (("--max-receives", "0"), "--max-receives: expected 1 to 1000, found 0")):
            self.assertIn(words, self.tutti("queue", "create", "x", *flags, code=2).err)
        self.assertIn("a queue's name has", self.tutti("queue", "create", "a b", code=2).err)
        self.assertIn("FIFO", self.tutti("queue", "create", "a.fifo", code=2).err)
        self.assertEqual(server.guard.seen, [])

    def test_status_counts_what_waits_is_in_work_and_died(self):
        queue = self.new_queue()
        for _ in range(3):
            self.send(queue)
        sqs = server.client("sqs")
        sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=1)
        sqs.send_message(QueueUrl=queue + "-dead-letters", MessageBody="x")
        facts = self.tutti("queue", "status", "-q", queue, "--json").json()
        self.assertEqual((facts["waiting"], facts["in_flight"], facts["dead_letters"]), (2, 1, 1))
        self.assertEqual((facts["visibility_seconds"], facts["max_receives"]), (1800, 3))
        text = self.tutti("queue", "status", queue.rsplit("/", 1)[1]).out
        self.assertIn("2 waiting, 1 in work, 0 delayed", text)
        self.assertIn("1 dead letters in", text)

    def test_queue_that_is_not_there_is_named(self):
        gone = self.tutti("queue", "status", "nothing-here", code=4)
        self.assertIn("queue nothing-here: it is not there (region us-east-1)", gone.err)


class Sending(CloudTest):
    def test_message_has_the_fields_of_the_note(self):
        queue = self.new_queue()
        began = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        sent = self.send(queue, "-d", "90.5", "-p", "4", "--json").json()
        received = server.client("sqs").receive_message(QueueUrl=queue)["Messages"][0]
        message = json.loads(received["Body"])
        self.assertEqual(list(message), ["schema_version", "job_id", "s3_input_path", "s3_output_path",
                                         "estimated_duration_seconds", "priority", "retry_count", "submitted_at"])
        self.assertEqual((message["schema_version"], message["s3_input_path"], message["s3_output_path"]),
                         (1, "s3://talks/a b/ä.flac", "s3://talks/out/a.json"))
        self.assertEqual((message["estimated_duration_seconds"], message["priority"], message["retry_count"]), (90.5, 4, 0))
        self.assertEqual(uuid.UUID(message["job_id"]).version, 4)
        at = datetime.datetime.fromisoformat(message["submitted_at"])
        self.assertTrue(began <= at <= datetime.datetime.now(datetime.timezone.utc), at)
        self.assertEqual((sent["job_id"], sent["message_id"]), (message["job_id"], received["MessageId"]))

    def test_defaults_are_the_notes_and_every_job_has_its_own_id(self):
        queue = self.new_queue()
        ids = {re.search("Job ID: (.*)", self.send(queue).out)[1] for _ in range(2)}
        self.assertEqual(len(ids), 2)
        message = json.loads(server.client("sqs").receive_message(QueueUrl=queue)["Messages"][0]["Body"])
        self.assertEqual((message["estimated_duration_seconds"], message["priority"]), (300, 1))

    def test_queue_comes_from_the_environment_as_in_the_note(self):
        queue = self.new_queue()
        self.assertIn(queue, self.tutti("send", "-i", "s3://talks/a.flac", "-o", "s3://talks/a.json", QUEUE_URL=queue).out)
        self.assertIn("no queue is named", self.tutti("send", "-i", "s3://talks/a.flac", "-o", "s3://talks/a.json", code=2).err)

    def test_what_no_worker_could_do_is_refused_before_it_is_sent(self):
        bad = "https://sqs.us-east-1.amazonaws.com/1/jobs"
        for words, why in ((("-i", "talks/a.flac", "-o", "s3://talks/a.json"), "s3_input_path: 'talks/a.flac': expected s3://"),
                           (("-i", "s3://talks/../a.flac", "-o", "s3://talks/a.json"), "'..' in the key"),
                           (("-i", "s3://talks/", "-o", "s3://talks/a.json"), "no key of an object"),
                           (("-i", "s3://talks/a", "-o", "s3://talks/a"), "it is the recording's own"),
                           (("-i", "s3://talks/a", "-o", "s3://talks/b", "-p", "6"), "priority: expected 1 (the highest) to 5"),
                           (("-i", "s3://talks/a", "-o", "s3://talks/b", "-d", "0"), "expected more than 0, found 0"),
                           (("-i", "s3://talks/a"), "expected -o s3://BUCKET/KEY")):
            self.assertIn(why, self.tutti("send", *words, "-q", bad, code=2).err)
        self.assertEqual(server.guard.seen, [])

    def test_region_that_the_url_contradicts_is_refused(self):
        wrong = self.send("https://sqs.us-east-1.amazonaws.com/123456789012/jobs", "-r", "us-east-2", code=2)
        self.assertIn("--region us-east-2: the queue's URL names us-east-1", wrong.err)

    def test_host_that_is_not_amazons_needs_the_endpoint(self):
        ended = self.send("https://queues.example.com/1/jobs", code=2, AWS_ENDPOINT_URL=None)
        self.assertIn("its host is none of Amazon's", ended.err)
        self.assertIn("the queue's URL: expected one such as", self.send("jobs", code=2).err)


class Faults(CloudTest):
    def test_throttled_and_broken_answers_are_tried_again(self):
        queue = self.new_queue()
        server.guard.faults[:] = [(503, "SlowDown"), (400, "RequestThrottled"), (500, "InternalFailure")]
        self.send(queue)
        server.guard.faults[:] = [(400, "RequestThrottled")] * 9
        self.assertIn("the service is throttled (RequestThrottled)", self.send(queue, code=4).err)
        self.assertEqual(len(server.guard.faults), 4)  # five attempts

    def test_wrong_keys_are_named_without_the_secret(self):
        queue = self.new_queue()
        self.assertIn("the access key of the environment is not known there",
                      self.send(queue, code=4, AWS_ACCESS_KEY_ID="AKIANOBODY0000000000").err)
        self.assertIn("the signature does not match", self.send(queue, code=4, AWS_SECRET_ACCESS_KEY="another").err)
        self.assertIn("AWS_SECRET_ACCESS_KEY is not set", self.send(queue, code=2, AWS_SECRET_ACCESS_KEY=None).err)
        self.assertIn("no credentials of AWS were found", self.send(queue, keys=False, code=4).err)

    def test_expired_credentials_and_denied_access_are_named(self):
        queue = self.new_queue()
        server.guard.expired_tokens.add("old")
        self.assertIn("the credentials of the environment have expired", self.send(queue, code=4, AWS_SESSION_TOKEN="old").err)
        server.guard.faults[:] = [(403, "AccessDeniedException")]
        self.assertIn("access is denied to the credentials of the environment (refused by the test)",
                      self.send(queue, code=4).err)

    def test_server_that_is_not_there_is_named(self):
        ended = self.send("http://127.0.0.1:1/1/jobs", "--endpoint-url", "http://127.0.0.1:1", code=4)
        self.assertIn("no whole answer came", ended.err)
        self.assertIn("the endpoint: expected an address", self.send("http://a/1/jobs", "--endpoint-url", "nonsense", code=2).err)


class WhereCredentialsAreFound(CloudTest):
    def setUp(self):
        super().setUp()
        self.services = aws.CredentialServices(TEMPORARY_KEY, SECRET, TOKEN)
        self.addCleanup(self.services.server.shutdown)
        self.queue = self.new_queue()

    def source(self, **more):
        """Where the credentials came from, and how long they are good."""
        printed = self.tutti("queue", "status", "-q", self.queue, *more.pop("words", ()), keys=False, **more).err
        return re.fullmatch(r"credentials of \d+ \((.*)\), (.*)\n", printed).groups()

    def write(self, name, text):
        path = self.home / ".aws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_profiles_of_the_shared_files_are_read(self):
        self.write("credentials", f"[default]\naws_access_key_id = wrong\naws_secret_access_key = {SECRET}\n"
                   f"# a comment\n[work]\naws_access_key_id={TEMPORARY_KEY}\naws_secret_access_key={SECRET}\naws_session_token={TOKEN}\n")
        self.write("config", f"[profile work]\nregion = {REGION}\ns3 =\n  region = nowhere\n")
        self.assertEqual(self.source(AWS_PROFILE="work", AWS_REGION=None), ("profile work", "expire at an unknown time"))
        self.assertEqual(self.source(words=("--profile", "work"), AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="y")[0], "profile work")
        missing = self.tutti("queue", "status", "-q", self.queue, "--profile", "wrok", code=4)
        self.assertIn("profile 'wrok': it is neither in", missing.err)
        self.assertIn("there are: default, work", missing.err)

    def test_instance_role_is_asked_by_imdsv2(self):
        found = self.source(AWS_EC2_METADATA_DISABLED=None, AWS_EC2_METADATA_SERVICE_ENDPOINT=self.services.url)
        self.assertEqual(found, ("the instance's role worker-role", "expire in 42 min"))
        self.assertEqual(self.services.seen[0], "PUT /latest/api/token")

    def test_container_role_is_asked_with_its_token(self):
        found = self.source(AWS_CONTAINER_CREDENTIALS_FULL_URI=self.services.url + "/of-the-container",
                            AWS_CONTAINER_AUTHORIZATION_TOKEN="the-container's")
        self.assertEqual(found, ("the container's role", "expire in 42 min"))
        refused = self.tutti("queue", "status", "-q", self.queue, keys=False, code=4,
                             AWS_CONTAINER_CREDENTIALS_FULL_URI="http://credentials.example.com/x")
        self.assertIn("expected https or this machine", refused.err)

    def test_sso_login_of_the_cache_is_used_or_named_as_over(self):
        self.write("config", "[profile sso]\nsso_session = work\nsso_account_id = 123456789012\nsso_role_name = Reader\n"
                   "[sso-session work]\nsso_region = eu-west-1\nsso_start_url = https://work.awsapps.com/start\n")
        environment = {"AWS_PROFILE": "sso", "AWS_ENDPOINT_URL_SSO": self.services.url}
        self.assertIn("there is no login to https://work.awsapps.com/start",
                      self.tutti("queue", "status", "-q", self.queue, keys=False, code=4, **environment).err)
        for expires, name in (("2020-01-01T00:00:00Z", "old"), ("2099-01-01T00:00:00Z", "new")):
            if name == "new":
                self.assertIn("the login to https://work.awsapps.com/start has expired",
                              self.tutti("queue", "status", "-q", self.queue, keys=False, code=4, **environment).err)
            self.write(f"sso/cache/{name}.json", json.dumps({"startUrl": "https://work.awsapps.com/start", "expiresAt": expires,
                                                             "accessToken": "the-login's", "region": "eu-west-1"}))
        self.assertEqual(self.source(**environment), ("profile sso", "expire in 42 min"))

    def test_web_identity_of_a_pod_takes_its_role(self):
        self.write("token", "the-pod's token\n")
        found = self.source(AWS_WEB_IDENTITY_TOKEN_FILE=str(self.home / ".aws/token"), AWS_ROLE_ARN="arn:aws:iam::1:role/r",
                            AWS_ENDPOINT_URL_STS=self.services.url, words=("--endpoint-url", server.url))
        self.assertEqual(found, ("the role arn:aws:iam::1:role/r", "expire in 42 min"))


if __name__ == "__main__":
    cloud_case.BIN = pathlib.Path(sys.argv.pop(1))
    aws.use_packages()
    unittest.main(verbosity=2)
