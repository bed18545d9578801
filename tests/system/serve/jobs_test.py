#!/usr/bin/env python3
"""Tests of /v1/jobs of `tutti serve`: acceptance, idempotency, events, results, steering, and a server that is killed.

Usage: jobs_test.py BIN. BIN is the folder of the programs.
"""
import http.server
import json
import pathlib
import queue
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest

import service
from service import TOKEN, Client, Service, form_of
from shared_data import shared_data

BIN = service.ROOT / "build/bin"
DATA = shared_data()
CLIPS = sorted((DATA / "speech/lj/wavs").glob("LJ003-*.flac"))
WORDS = "Arthur Griffiths"  # in the first of them


def web_server(case, may_answer=None):
    """The address of a server with /clip.flac, and with /moved, which leads there; it answers once that event is set."""
    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if may_answer:
                may_answer.wait(60)
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", "/clip.flac?secret=1")
                return self.end_headers()
            found = self.path.startswith("/clip.flac")
            self.send_response(200 if found else 404)
            self.end_headers()
            if found:
                self.wfile.write(CLIPS[0].read_bytes())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    case.addCleanup(server.shutdown)
    return f"http://localhost:{server.server_port}"


def alert_server(case):
    """The address of a webhook that refuses the first call, and the queue of what it has taken."""
    taken = queue.Queue()
    calls = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            alert = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls.append(alert)
            if len(calls) > 1:
                taken.put(alert)
            self.send_response(204 if len(calls) > 1 else 503)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    case.addCleanup(server.shutdown)
    return f"http://127.0.0.1:{server.server_port}/hook", taken


CARDS = "emulated:2000x:12GB"  # it writes down nothing that was spoken, fast


class WithService(unittest.TestCase):
    FLAGS = ("--devices", CARDS)

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.allowed = cls.folder / "allowed"
        cls.allowed.mkdir()
        (cls.allowed / "clip.flac").write_bytes(CLIPS[0].read_bytes())
        cls.serving = Service(BIN / "tutti", service.real_model(), folder.name, "--allow-root", cls.allowed, "--url-hosts",
                              "localhost", "--max-hours", "0.1", "--cors-origin", "https://app.example.org", *cls.FLAGS)
        cls.addClassCleanup(cls.serving.kill)
        cls.client = Client(cls.serving)

    def accept(self, *arguments, **more):
        status, headers, job = self.client.send(*arguments, **more)
        self.assertEqual(status, 202, job)
        self.assertEqual(headers["Location"], f"/v1/jobs/{job['id']}")
        return job["id"]

class RealJobs(WithService):
    FLAGS = ()

    def test_upload_becomes_a_transcript_in_every_format(self):
        words = [("response_format", "verbose_json"), ("timestamp_granularities[]", "word"),
                 ("timestamp_granularities[]", "segment")]
        job = self.client.wait(self.accept(CLIPS[0].read_bytes(), words))
        self.assertEqual((job["status"], job["progress"], job["name"], job["error"]), ("done", 1, "clip.flac", None))
        self.assertGreater(job["duration"], 1)
        whole = self.client.result(job["id"])[2]
        self.assertEqual({"text", "language", "duration", "segments", "words"} - set(whole), set())
        self.assertIn(WORDS, whole["text"])
        import openai
        client = openai.OpenAI(api_key=TOKEN, base_url=self.serving.url + "/v1", max_retries=0)
        direct = client.audio.transcriptions.create(model="whisper-1", file=CLIPS[0], response_format="verbose_json",
                                                    timestamp_granularities=["word", "segment"])
        self.assertEqual(whole["segments"], [segment.to_dict() for segment in direct.segments])
        self.assertEqual(whole["words"], [word.to_dict() for word in direct.words])
        self.assertEqual(self.client.result(job["id"], "json")[2]["text"], whole["text"])
        self.assertEqual(self.client.result(job["id"], "text")[2].strip(), whole["text"])
        self.assertTrue(self.client.result(job["id"], "srt")[2].startswith("1\n00:00:00,000 -->"))
        self.assertTrue(self.client.result(job["id"], "vtt")[2].startswith("WEBVTT\n"))
        self.assertEqual(self.client.result(job["id"], "docx")[0], 400)


class Jobs(WithService):
    def test_same_body_and_same_key_are_the_same_job(self):
        content = CLIPS[1].read_bytes()
        first = self.accept(content)
        status, headers, again = self.client.send(content, [("priority", "5")])
        self.assertEqual((status, headers["Idempotent-Replayed"], again["id"]), (200, "true", first))
        self.assertNotEqual(self.accept(content, [("language", "en")]), first)
        keyed = self.accept(content, **{"Idempotency-Key": "one"})
        self.assertNotEqual(keyed, first)
        self.assertEqual(self.client.send(content, **{"Idempotency-Key": "one"})[2]["id"], keyed)
        status, _, error = self.client.send(CLIPS[2].read_bytes(), **{"Idempotency-Key": "one"})
        self.assertEqual((status, error["error"]["code"]), (422, "idempotency_key_reused"))

    def test_same_body_sent_at_once_is_one_job(self):
        content = CLIPS[3].read_bytes()
        found = []
        threads = [threading.Thread(target=lambda: found.append(self.client.send(content)[2]["id"])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 8)
        self.assertEqual(len(set(found)), 1)

    def test_events_are_phases_and_segments_until_the_end(self):
        followed = threading.Event()  # its recording comes once the client follows it, which then misses nothing
        job = self.client.send_json(url=web_server(self, followed) + "/clip.flac")[2]["id"]
        stream = self.client.events(job)
        events = [next(stream)]
        followed.set()
        events += stream
        self.assertEqual({event["type"] for event in events} - {"job.state", "job.progress", "job.segments"}, set())
        self.assertEqual(events[-1]["type"], "job.state")
        self.assertEqual(events[-1]["job"]["status"], "done")
        phases = list(dict.fromkeys(event["phase"] for event in events if "phase" in event))
        self.assertEqual([phase for phase in phases if phase != "starting"], ["fetching", "decoding", "transcribing"])
        text = "".join(segment["text"] for event in events if event["type"] == "job.segments" for segment in event["segments"])
        self.assertTrue(text.strip())
        self.assertEqual(text.strip(), self.client.result(job, "json")[2]["text"])
        self.assertEqual([event["job"]["status"] for event in self.client.events(job)], ["done"], "it has ended")

    def test_unreadable_recording_fails_with_its_reason(self):
        job = self.client.wait(self.accept(b"no audio at all " * 100, name="broken.mp3"))
        self.assertEqual(job["status"], "failed")
        self.assertIn("broken.mp3", job["error"]["message"])
        self.assertEqual((job["attempts"], job["result"]), (1, None))
        status, _, error = self.client.result(job["id"])
        self.assertEqual((status, error["error"]["code"]), (404, "job_failed"))
        self.assertEqual(self.client.call("POST", f"/v1/jobs/{job['id']}/retry")[0], 200)
        self.assertEqual(self.client.wait(job["id"])["attempts"], 2)
        self.assertEqual(self.client.send(b"no audio at all " * 100, name="broken.mp3")[0], 202, "sent again, tried again")

    def test_recording_longer_than_the_limit_fails_with_its_reason(self):
        silence = b"RIFF\0\0\0\x7fWAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\x7f" + b"\x80" * (8000 * 400)
        job = self.client.wait(self.accept(silence, name="long.wav"))
        self.assertEqual(job["status"], "failed")
        self.assertIn("longer", job["error"]["message"])

    def test_list_comes_in_parts_of_the_own_jobs(self):
        other = Client(self.serving, "another-one")
        for number in range(3):
            self.assertEqual(other.send(CLIPS[5 + number].read_bytes())[0], 202)
        first = other.call("GET", "/v1/jobs?limit=2")[2]
        self.assertEqual((len(first["data"]), first["has_more"]), (2, True))
        rest = other.call("GET", f"/v1/jobs?limit=2&after={first['last_id']}")[2]
        self.assertEqual((len(rest["data"]), rest["has_more"]), (1, False))
        self.assertEqual(self.client.call("GET", f"/v1/jobs/{first['first_id']}")[0], 404, "it is another client's")
        self.assertEqual(self.client.call("DELETE", f"/v1/jobs/{first['first_id']}")[0], 404)
        for job in [*first["data"], *rest["data"]]:
            other.wait(job["id"])
        self.assertEqual(len(other.call("GET", "/v1/jobs?status=done")[2]["data"]), 3)
        self.assertEqual(other.call("GET", "/v1/jobs?status=queued,failed")[2]["data"], [])
        for query in ("limit=0", "limit=x", "after=-1", "status=waiting"):
            self.assertEqual(other.call("GET", f"/v1/jobs?{query}")[0], 400, query)

    def test_tokens_see_and_steer_their_own_work(self):
        other = Client(self.serving, "another-one")
        theirs = other.send(CLIPS[9].read_bytes(), name="interview.flac")[2]["id"]
        own = self.accept(CLIPS[9].read_bytes(), name="minutes.flac")

        def names(client):
            return {str(job["id"]): job["name"] for job in client.call("GET", "/api/queue?limit=200")[2]["jobs"]}
        self.assertEqual((names(other)[theirs], names(other)[own]), ("interview.flac", f"recording {own}"))
        self.assertEqual((names(self.client)[theirs], names(self.client)[own]), ("interview.flac", "minutes.flac"))
        for action in ("cancel", "retry", "priority"):
            status, _, refused = other.call("POST", f"/api/{action}?id={own}&priority=1", b"")
            self.assertEqual((status, "none of it" in refused["error"]["message"]), (403, True), action)
        self.assertEqual(other.call("POST", f"/api/drain?id={CARDS}", b"")[0], 403)
        self.assertEqual(other.wait(theirs)["status"], "done")
        self.assertEqual(other.call("POST", f"/api/cancel?id={theirs}", b"")[0], 404, "it may, but the job has ended")
        entries = other.call("GET", "/api/audit")[2]["entries"]
        self.assertEqual({entry["client"] for entry in entries}, {other.call("GET", "/api/status")[2]["client"]["name"]})
        self.assertGreaterEqual(len(self.client.call("GET", "/api/audit")[2]["entries"]), len(entries))
        self.assertIsNone(Client(self.serving, "guessed").call("GET", "/api/status")[2]["client"])
        log = self.serving.log.read_text()
        self.assertRegex(log, r"request req_\d+ of root at 127.0.0.1: POST /v1/jobs: status 202, \d+ bytes in, \d+ bytes out")

    def test_store_is_closed_to_other_users_and_has_no_secrets_of_addresses(self):
        job = self.client.wait(self.client.send_json(url=web_server(self) + "/clip.flac?signature=open-sesame")[2]["id"])
        self.assertEqual(job["status"], "done", job)
        state = self.folder / "state"
        for path in (state, *state.rglob("*")):
            self.assertEqual(path.stat().st_mode & 0o077, 0, f"{path} is open to others")
            if path.is_file():
                self.assertNotIn(b"open-sesame", path.read_bytes(), path)
        self.assertNotIn("open-sesame", self.serving.log.read_text())

    def test_page_of_an_allowed_origin_may_call(self):
        preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-mine"}
        guest = Client(self.serving, "")
        status, headers, _ = guest.call("OPTIONS", "/v1/jobs", Origin="https://app.example.org", **preflight)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, "https://app.example.org"))
        self.assertEqual(headers["Access-Control-Allow-Headers"], "authorization,x-mine")
        status, headers, _ = guest.call("GET", "/v1/jobs", Origin="https://app.example.org")
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (401, "https://app.example.org"))
        status, headers, _ = guest.call("OPTIONS", "/v1/jobs", Origin="https://evil.example.org", **preflight)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, None))

    def test_address_on_the_web_is_fetched(self):
        url = web_server(self)
        job = self.client.wait(self.client.send_json(url=url + "/moved")[2]["id"])
        self.assertEqual(job["status"], "done", job)
        self.assertGreater(job["duration"], 5)
        missing = self.client.wait(self.client.send_json(url=url + "/none")[2]["id"])
        self.assertEqual(missing["status"], "failed")
        self.assertIn("404", missing["error"]["message"])
        inside = self.client.wait(self.client.send_json(url=url.replace("localhost", "127.0.0.1"))[2]["id"])
        self.assertIn("public internet", inside["error"]["message"])
        self.assertEqual(self.client.send_json(url="file:///etc/passwd")[0], 400)

    def test_path_of_the_server_is_read_in_the_allowed_folder(self):
        job = self.client.wait(self.client.send_json(path=str(self.allowed / "clip.flac"))[2]["id"])
        self.assertEqual(job["status"], "done", job)
        for path in ("/etc/passwd", "../tokens", str(self.folder / "tokens")):
            status, _, error = self.client.send_json(path=path)
            self.assertEqual((status, error["error"]["code"]), (403, "path_not_allowed"), path)

    def test_wrong_submissions_are_refused_by_field(self):
        def check(answer, status, param):
            self.assertEqual((answer[0], answer[2]["error"]["param"]), (status, param), answer)
        check(self.client.send(None), 400, "file")
        check(self.client.send(b""), 400, "file")
        check(self.client.send(b"x", [("class", "soon")]), 400, "class")
        check(self.client.send(b"x", [("stream", "true")]), 400, "stream")
        check(self.client.send_json(model="gpt-9", url="http://a.example"), 404, "model")
        check(self.client.send_json(), 400, "file")
        self.assertEqual(self.client.call("POST", "/v1/jobs", b"x", **{"Content-Type": "text/plain"})[0], 400)
        self.assertEqual(self.client.call("PUT", "/v1/jobs")[0], 405)
        status, _, answer = self.client.call("POST", "/v1/audio/speech", b"{}", **{"Content-Type": "application/json"})
        self.assertEqual((status, "--voice" in answer["error"]["message"]), (404, True), "it has no voice")
        self.assertEqual(self.client.call("PUT", "/v1/audio/speech")[0], 405)
        self.assertEqual(self.client.call("GET", "/v1/jobs/0")[0], 404)
        self.assertEqual(Client(self.serving, "guessed").call("GET", "/v1/jobs")[0], 401)


class OtherServices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, *words):
        serving = Service(BIN / "tutti", service.real_model(), self.folder, *(() if "--devices" in words else ("--devices", CARDS)), *words)
        self.addCleanup(serving.kill)
        return serving

    def test_jobs_that_wait_outlast_a_stop_in_good_order(self):
        serving = self.serve("--drain-seconds", "60")
        client = Client(serving)
        jobs = [client.send(CLIPS[10].read_bytes(), [("prompt", f"number {number}")])[2]["id"] for number in range(20)]
        serving.process.send_signal(signal.SIGTERM)
        self.assertEqual(serving.process.wait(120), 0)
        client = Client(self.serve())
        self.assertEqual({client.wait(job)["status"] for job in jobs}, {"done"})
        self.assertEqual({client.job(job)["attempts"] for job in jobs}, {1}, "none was begun twice")

    def test_drained_server_sends_requests_away_until_it_is_resumed(self):
        serving = self.serve()
        client = Client(serving)

        def transcribe():
            return client.call("POST", "/v1/audio/transcriptions", form_of([("model", "whisper-1")], CLIPS[8].read_bytes()),
                               **{"Content-Type": "multipart/form-data; boundary=XX"})
        self.assertEqual(client.call("POST", f"/api/drain?id={CARDS}", b"")[0], 200)
        status, headers, refused = transcribe()
        self.assertEqual((status, refused["error"]["code"], headers["Retry-After"]), (503, "devices_drained", "30"))
        status, headers, state = client.call("GET", "/readyz")
        self.assertEqual((status, state["status"], headers["Retry-After"]), (503, "drained", "30"))
        self.assertEqual(client.send(CLIPS[8].read_bytes())[0], 202, "a job waits")
        self.assertEqual(client.call("POST", f"/api/resume?id={CARDS}", b"")[0], 200)
        self.assertEqual(transcribe()[0], 200)

    def test_request_that_an_operator_cancels_is_not_to_be_sent_again(self):
        client = Client(self.serve("--devices", "emulated:0.05x:12GB"))
        answers = queue.Queue()
        threading.Thread(target=lambda: answers.put(client.call(
            "POST", "/v1/audio/transcriptions", form_of([("model", "whisper-1")], CLIPS[8].read_bytes()),
            **{"Content-Type": "multipart/form-data; boundary=XX"}))).start()
        end = time.monotonic() + 60
        while not (work := client.call("GET", "/api/status")[2]["fleet"]["in_work"]) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(client.call("POST", f"/api/cancel?id={work[0]['id']}", b"")[0], 200)
        status, headers, refused = answers.get(timeout=60)
        self.assertEqual((status, refused["error"]["code"], headers["x-should-retry"], headers["Retry-After"]),
                         (503, "request_cancelled", "false", None))

    def test_end_of_a_job_is_posted_to_its_callback(self):
        url, calls = alert_server(self)  # refuses the first call
        serving = self.serve("--url-hosts", "127.0.0.1")
        client = Client(serving)
        job = client.send(CLIPS[8].read_bytes(), [("callback", url + "?key=open-sesame")])[2]["id"]
        posted = calls.get(timeout=60)
        self.assertEqual((posted["id"], posted["status"]), (job, "done"))
        self.assertEqual(client.send(CLIPS[9].read_bytes(), [("callback", "ftp://a.example")])[2]["error"]["param"], "callback")
        self.assertEqual(serving.stop(), 0)
        inside = Client(self.serve("--url-hosts", "elsewhere.example"))
        inside.wait(inside.send(CLIPS[9].read_bytes(), [("callback", url)])[2]["id"])
        end = time.monotonic() + 20
        while "a job's callback is given up" not in (self.folder / "log").read_text() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertIn("not on the public internet", (self.folder / "log").read_text())
        self.assertTrue(calls.empty())

    def test_jobs_are_removed_when_their_time_is_over(self):
        client = Client(self.serve("--keep-jobs", "0.00005"))  # four seconds
        job = client.send(CLIPS[8].read_bytes())[2]["id"]
        self.assertEqual(client.wait(job)["status"], "done")
        end = time.monotonic() + 60
        while client.call("GET", f"/v1/jobs/{job}")[0] != 404 and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(client.call("GET", f"/v1/jobs/{job}")[0], 404)
        self.assertEqual(list((self.folder / "state/jobs").glob("*.json")), [])

    def test_job_is_cancelled_then_removed(self):
        client = Client(self.serve("--devices", "emulated:0.05x:12GB"))  # four minutes for the clip
        job = client.send(CLIPS[8].read_bytes())[2]["id"]
        client.wait(job, ("running",))
        self.assertEqual(client.call("DELETE", f"/v1/jobs/{job}")[0], 200)
        self.assertEqual(client.wait(job)["status"], "cancelled")
        self.assertEqual(list(client.events(job))[-1]["job"]["status"], "cancelled")
        self.assertEqual(client.call("DELETE", f"/v1/jobs/{job}")[2], {"id": job, "object": "job.deleted", "deleted": True})
        self.assertEqual(client.call("DELETE", f"/v1/jobs/{job}")[0], 404)
        self.assertEqual(list((self.folder / "state/jobs").glob("*.*o*")), [], "its files are gone")

    def test_alerts_reach_a_webhook_that_fails_at_first(self):
        url, alerts = alert_server(self)
        client = Client(self.serve("--devices", "emulated:0.05x:12GB", "--alert-webhook", url, "--alert-stuck", "0.02"))
        job = client.send(CLIPS[8].read_bytes())[2]["id"]
        stuck = alerts.get(timeout=60)
        self.assertEqual((stuck["alert"], stuck["state"], stuck["jobs"]), ("job_stuck", "firing", [job]))
        self.assertIn("without progress", stuck["text"])
        client.call("DELETE", f"/v1/jobs/{job}")
        over = alerts.get(timeout=60)
        self.assertEqual((over["alert"], over["state"]), ("job_stuck", "resolved"))
        for number in range(5):
            client.wait(client.send(b"no audio at all %d" % number, name=f"{number}.mp3")[2]["id"])
        self.assertEqual(alerts.get(timeout=60)["alert"], "failures")

    def test_jobs_that_fail_right_after_the_start_raise_an_alert(self):
        url, alerts = alert_server(self)
        client = Client(self.serve("--alert-webhook", url))
        for number in range(5):
            client.send(b"no audio at all %d" % number, name=f"{number}.mp3")
        self.assertEqual(alerts.get(timeout=60)["alert"], "failures")

    def test_webhook_that_never_answers_holds_nothing_up(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        serving = self.serve("--devices", "emulated:0.05x:12GB", "--alert-webhook", f"http://127.0.0.1:{silent.getsockname()[1]}/",
                             "--alert-stuck", "0.02", "--drain-seconds", "0")
        client = Client(serving)
        client.send(CLIPS[8].read_bytes())
        connection = silent.accept()[0]  # the alert comes
        self.addCleanup(connection.close)
        begun = time.monotonic()
        self.assertEqual(serving.get("/livez")[0], 200)
        self.assertEqual(client.call("GET", "/v1/jobs")[0], 200)
        serving.stop()
        self.assertLess(time.monotonic() - begun, 8, "neither the server nor its end waits for the answer")

    def test_client_with_too_many_jobs_is_sent_away(self):
        client = Client(self.serve("--jobs-per-client", "2"))
        answers = [client.send(CLIPS[11].read_bytes(), [("prompt", f"number {number}")]) for number in range(12)]
        refused = [answer for answer in answers if answer[0] != 202]
        self.assertTrue(refused)
        self.assertEqual((refused[0][0], refused[0][2]["error"]["code"]), (429, "too_many_jobs"))
        self.assertTrue(refused[0][1]["Retry-After"])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    service.real_model()
    if not CLIPS:
        service.skip("the shared recordings are absent: speech/lj/wavs")
    service.use_packages()
    unittest.main()
