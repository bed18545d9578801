#!/usr/bin/env python3
"""Tests of live audio over /v1/realtime and in uploads: OpenAI's client and a bare WebSocket, bad input, clients that leave.

Usage: realtime_test.py BIN [--long]. BIN is the folder of the programs. --long: floods, the end of the server, an hour of
silence in flat memory.
"""
import base64
import http.client
import json
import pathlib
import shutil
import signal
import socket as sockets
import sys
import tempfile
import threading
import time
import unittest

import service
from service import TOKEN, Service

sys.path.append(str(service.ROOT / "tests/system/listen"))
import live_audio

BIN = service.ROOT / "build/bin"
CLIPS = [clip for clip in live_audio.lj003_clips() if clip.stem in ("LJ003-0003", "LJ003-0019")]  # nine seconds
ITEM = "conversation.item.input_audio_transcription."
PLACES = 2  # of live streams
running = None


def setUpModule():
    global running
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    running = Service(BIN / "tutti", service.real_model(), folder.name, "--live-streams", str(PLACES))
    unittest.addModuleCleanup(running.kill)


def connect(token=TOKEN, query="?intent=transcription", serving=None, **more):
    import websocket
    headers = [f"Authorization: Bearer {token}"] if token else []
    url = f"ws://127.0.0.1:{(serving or running).port}/v1/realtime{query}"
    socket = websocket.create_connection(url, header=headers, timeout=60, **more)
    created = json.loads(socket.recv())
    assert created["type"] == "session.created", created
    return socket


def send(socket, kind, **more):
    socket.send(json.dumps({"type": kind, **more}))


def append(socket, samples, step=32000):
    for at in range(0, len(samples), step):
        send(socket, "input_audio_buffer.append", audio=base64.b64encode(samples[at:at + step]).decode())


def events_until(socket, kind):
    events = []
    while not events or events[-1]["type"] != kind:
        events.append(json.loads(socket.recv()))
    return events


def streams(serving=None):
    """Live streams in work."""
    text = (serving or running).get("/metrics")[1].decode()
    return int(float(next(line.split()[1] for line in text.splitlines() if line.startswith("tutti_live_streams "))))


def wait_for_streams(count, patience=60):
    """Seconds until so many are in work."""
    begun = time.monotonic()
    while streams() != count:
        assert time.monotonic() < begun + patience, f"{streams()} live streams, expected {count}"
        time.sleep(0.05)
    return time.monotonic() - begun


def set_up(socket, turns, rate=16000, language="en"):
    send(socket, "session.update", session={
        "type": "transcription",
        "audio": {"input": {"format": {"type": "audio/pcm", "rate": rate}, "turn_detection": turns,
                            "transcription": {"model": "whisper-1", "language": language}}}})
    updated = json.loads(socket.recv())
    assert updated["type"] == "session.updated", updated
    return updated["session"]


class Live(unittest.TestCase):
    def tearDown(self):
        wait_for_streams(0)

    def check_text(self, text, clips=CLIPS):
        errors, words = live_audio.errors_between(live_audio.texts_of(clips), text)
        self.assertLess(errors / words, 0.2, text)


class Realtime(Live):
    def wait_for_list(self, count, patience=5):
        """The page's list, which is made every second, has so many live streams."""
        end = time.monotonic() + patience
        while True:
            work = json.loads(running.get("/api/status")[1])["fleet"]["in_work"]
            listed = [job["name"] for job in work if job["id"].startswith("live-")]
            if listed == ["live audio"] * count:
                return
            self.assertLess(time.monotonic(), end, work)
            time.sleep(0.1)

    def test_a_commit_completes_the_text_of_what_was_appended(self):
        socket = connect()
        set_up(socket, None)
        append(socket, live_audio.samples_of(CLIPS))
        send(socket, "input_audio_buffer.commit")
        events = events_until(socket, ITEM + "completed")
        deltas = "".join(event["delta"] for event in events if event["type"] == ITEM + "delta")
        self.assertEqual(deltas, events[-1]["transcript"])
        self.check_text(deltas)
        kinds = [event["type"] for event in events]
        self.assertLess(kinds.index("input_audio_buffer.committed"), kinds.index("conversation.item.done"))
        send(socket, "input_audio_buffer.commit", event_id="mine")
        error = events_until(socket, "error")[-1]["error"]
        self.assertEqual((error["code"], error["event_id"]), ("input_audio_buffer_commit_empty", "mine"))
        socket.close()

    def test_session_of_an_english_model_shows_the_language_that_is_used(self):
        socket = connect()
        session = set_up(socket, None, language="de")
        self.assertEqual(session["audio"]["input"]["transcription"]["language"], "en")
        socket.close()

    def test_turns_are_found_and_completed_in_order(self):
        socket = connect()
        set_up(socket, {"type": "server_vad"})
        append(socket, live_audio.samples_of(CLIPS, pause=3) + bytes(96000))
        events, text, last = [], [], None
        while len(text) < 2:
            events.append(json.loads(socket.recv()))
            if events[-1]["type"] == "input_audio_buffer.committed":
                self.assertEqual(events[-1]["previous_item_id"], last)
                last = events[-1]["item_id"]
            if events[-1]["type"] == ITEM + "completed":
                self.assertEqual(events[-1]["item_id"], last)
                text.append(events[-1]["transcript"])
        kinds = [event["type"] for event in events]
        for kind in ("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"):
            self.assertIn(kind, kinds)
        self.assertLess(kinds.index("input_audio_buffer.speech_started"), kinds.index("input_audio_buffer.speech_stopped"))
        socket.close()

    def test_openais_client_gets_its_events(self):
        import openai
        client = openai.OpenAI(api_key=TOKEN, base_url=running.url + "/v1", websocket_base_url=f"ws://127.0.0.1:{running.port}/v1")
        connection = client.realtime.connect(extra_query={"intent": "transcription"}, model="whisper-1").enter()
        connection.session.update(session={"type": "transcription", "audio": {"input": {
            "format": {"type": "audio/pcm", "rate": 24000}, "turn_detection": None,
            "transcription": {"model": "gpt-4o-transcribe", "language": "en"}}}})
        samples = live_audio.samples_of(CLIPS[:1], rate=24000)
        for at in range(0, len(samples), 48000):
            connection.input_audio_buffer.append(audio=base64.b64encode(samples[at:at + 48000]).decode())
        connection.input_audio_buffer.commit()
        deltas, kinds = "", []
        for event in connection:
            kinds.append(event.type)
            self.assertNotEqual(event.type, "error", event)
            if event.type == ITEM + "delta":
                deltas += event.delta
            if event.type == ITEM + "completed":
                self.assertEqual(event.transcript, deltas)
                break
        connection.close()
        self.check_text(deltas, CLIPS[:1])
        self.assertEqual(kinds[:2], ["session.created", "session.updated"])

    def test_bad_events_are_answered_and_the_socket_goes_on(self):
        socket = connect()
        cases = [("no json", "type"), ("[1]", "type"), ('{"type": "response.create"}', "type"),
                 ('{"type": "input_audio_buffer.append"}', "audio"),
                 ('{"type": "input_audio_buffer.append", "audio": "?"}', "audio"),
                 ('{"type": "input_audio_buffer.append", "audio": "AAAA"}', "audio"),
                 ('{"type": "session.update", "session": {"type": "realtime"}}', "session.type"),
                 ('{"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 8000}}}}}',
                  "session.audio.input.format.rate"),
                 ('{"type": "session.update", "session": {"audio": {"input": {"transcription": {"model": "x"}}}}}',
                  "session.audio.input.transcription.model")]
        for message, param in cases:
            socket.send(message)
            error = json.loads(socket.recv())
            self.assertEqual((error["type"], error["error"]["param"]), ("error", param), message)
        socket.send_binary(b"\x00" * 10)
        self.assertEqual(json.loads(socket.recv())["type"], "error")
        socket.close()

    def test_one_client_too_many_gets_503_until_another_leaves(self):
        import websocket
        sockets = [connect() for _ in range(PLACES)]
        append(sockets[0], live_audio.samples_of(CLIPS[:1]))
        with self.assertRaises(websocket.WebSocketBadStatusException) as refused:
            connect()
        self.assertEqual(refused.exception.status_code, 503)
        self.assertIn("retry-after", {name.lower() for name in refused.exception.resp_headers})
        self.wait_for_list(PLACES)
        sockets[0].sock.close()  # in mid-word, without a farewell
        print(f"a client that left in mid-word was gone after {wait_for_streams(PLACES - 1):.2f} s")
        connect().close()
        for socket in sockets[1:]:
            socket.close()

    def test_half_a_frame_and_a_farewell_free_the_place(self):
        socket = connect()
        append(socket, live_audio.samples_of(CLIPS[:1]))
        socket.sock.sendall(b"\x81\xfe\x10\x00abc")  # a text frame of 4096 bytes, of which three come
        socket.sock.shutdown(sockets.SHUT_WR)
        wait_for_streams(0)
        socket.shutdown()

    def test_bytes_that_are_no_frame_close_the_socket(self):
        socket = connect()
        socket.sock.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10)
        wait_for_streams(0)
        socket.shutdown()

    def test_without_a_token_or_the_intent_there_is_no_socket(self):
        import websocket
        for token, query, status in [(None, "?intent=transcription", 401), (TOKEN, "?model=x", 400),
                                     (TOKEN, "?intent=transcription&model=x", 404)]:
            with self.assertRaises(websocket.WebSocketBadStatusException) as refused:
                connect(token, query)
            self.assertEqual(refused.exception.status_code, status)
        for key in (TOKEN, "%73" + TOKEN[1:]):  # as browsers do it, escaped or not
            connect(None, subprotocols=["realtime", f"openai-insecure-api-key.{key}"]).close()
        self.assertEqual(running.get("/v1/realtime?intent=transcription")[0], 426)


class Uploads(Live):
    """A stream=true upload that comes as it is spoken."""

    def upload(self, samples, fields, rate=2.0):
        """Sends a WAV at `rate` times the speed of its speech: (answer, when events came before the end, all events)."""
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=120)
        self.addCleanup(connection.close)
        form = service.form_of(fields, live_audio.wav_of(samples, size=0xFFFFFFFF), "live.wav")
        connection.putrequest("POST", "/v1/audio/transcriptions")
        for name, value in [("Authorization", f"Bearer {TOKEN}"), ("Transfer-Encoding", "chunked"),
                            ("Content-Type", "multipart/form-data; boundary=XX")]:
            connection.putheader(name, value)
        connection.endheaders()
        step = int(0.1 * rate * 2 * live_audio.RATE)
        sent_all = threading.Event()

        def sender():
            for at in range(0, len(form), step):
                connection.send(b"%x\r\n%s\r\n" % (len(form[at:at + step]), form[at:at + step]))
                time.sleep(0.1)
            sent_all.set()
            connection.send(b"0\r\n\r\n")

        thread = threading.Thread(target=sender)
        thread.start()
        self.addCleanup(thread.join)
        answer = connection.getresponse()
        events, early = [], 0
        for line in answer:
            if line.startswith(b"data: "):
                events.append(json.loads(line[6:]))
                early += not sent_all.is_set()
        return answer, early, events

    def test_text_comes_while_the_recording_is_sent(self):
        fields = [("model", "whisper-1"), ("stream", "true"), ("language", "en")]
        answer, early, events = self.upload(live_audio.samples_of(CLIPS), fields, rate=1.8)
        self.assertEqual(answer.status, 200)
        self.assertGreater(early, 0, events)
        self.assertEqual(events[-1]["type"], "transcript.text.done")
        self.assertEqual("".join(event["delta"] for event in events[:-1]), events[-1]["text"])
        self.check_text(events[-1]["text"])

    def test_other_uploads_are_transcribed_as_files(self):
        samples = live_audio.samples_of(CLIPS[:1])
        for fields, rate in [([("model", "whisper-1"), ("stream", "true")], 50.0),
                             ([("model", "whisper-1")], 4.0)]:
            answer, early, _ = self.upload(samples, fields, rate)
            self.assertEqual((answer.status, early), (200, 0))

    def test_client_that_leaves_in_the_middle_frees_its_place(self):
        form = service.form_of([("model", "whisper-1"), ("stream", "true")],
                               live_audio.wav_of(live_audio.samples_of(CLIPS[:1]), size=0xFFFFFFFF), "live.wav")
        with sockets.create_connection(("127.0.0.1", running.port)) as connection:
            connection.sendall((f"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
                                "Content-Type: multipart/form-data; boundary=XX\r\nTransfer-Encoding: chunked\r\n\r\n").encode())
            for at in range(0, 160000, 4000):
                connection.sendall(b"%x\r\n%s\r\n" % (4000, form[at:at + 4000]))
                time.sleep(0.1)  # a quarter faster than spoken
                if streams() == 1:
                    break
            self.assertEqual(streams(), 1)
        wait_for_streams(0)


class RealtimeLong(Live):
    def test_a_hundred_megabytes_are_closed_with_a_code(self):
        import websocket
        socket = connect()
        try:
            socket.send("x" * 100_000_000)
        except OSError:  # it is closed before all is sent
            pass
        try:
            opcode, data = socket.recv_data()
            self.assertEqual((opcode, int.from_bytes(data[:2], "big")), (websocket.ABNF.OPCODE_CLOSE, 1009))
        except (websocket.WebSocketException, OSError):
            pass  # the reset of what it still sent has overtaken the code
        wait_for_streams(0)
        socket.shutdown()

    def test_client_that_floods_and_leaves_frees_its_place(self):
        socket = connect()
        set_up(socket, {"type": "server_vad"})
        samples = live_audio.samples_of(CLIPS, pause=0.6) * 20  # minutes, in a moment: most of it is never read
        socket.settimeout(2)
        try:
            append(socket, samples, step=1_000_000)
        except Exception as full:  # the client's own kinds of a full socket
            self.assertIn("time", str(full).lower() + type(full).__name__.lower())
        socket.sock.close()
        print(f"a client that flooded and left was gone after {wait_for_streams(0):.2f} s")

    def test_silence_and_noise_have_no_text(self):
        socket = connect()
        set_up(socket, None)
        append(socket, bytes(2 * 16000 * 60), step=320000)  # a minute
        send(socket, "input_audio_buffer.commit")
        events = events_until(socket, ITEM + "completed")
        self.assertEqual(events[-1]["transcript"], "")
        socket.close()

    def test_end_of_the_server_completes_the_text(self):
        with tempfile.TemporaryDirectory() as folder:
            serving = Service(BIN / "tutti", service.real_model(), folder)
            self.addCleanup(serving.kill)
            socket = connect(serving=serving)
            set_up(socket, None)
            append(socket, live_audio.samples_of(CLIPS[:1]))
            events_until(socket, ITEM + "delta")
            serving.process.send_signal(signal.SIGTERM)
            events = events_until(socket, ITEM + "completed")
            self.check_text(events[-1]["transcript"], CLIPS[:1])
            opcode, data = socket.recv_data()
            self.assertEqual((opcode, int.from_bytes(data[:2], "big")), (8, 1001))
            self.assertEqual(serving.stop(), 0)

    def test_hour_of_silence_takes_no_memory_and_has_no_text(self):
        socket = connect()
        set_up(socket, {"type": "server_vad"})
        memory = lambda: int(next(line.split()[1] for line in pathlib.Path(f"/proc/{running.process.pid}/status").read_text()
                                  .splitlines() if line.startswith("VmRSS:")))
        append(socket, bytes(2 * 16000 * 300), step=64000)
        before = memory()
        append(socket, bytes(2 * 16000 * 3300), step=64000)
        self.assertLess(memory() - before, 50_000, "KiB")
        append(socket, live_audio.samples_of(CLIPS[:1]) + bytes(64000))
        events = events_until(socket, ITEM + "completed")
        self.assertGreater(events[0]["audio_start_ms"], 3_590_000)
        socket.close()


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv[1]).absolute()
    service.real_model()
    if not CLIPS:
        service.skip("the shared recordings are absent: speech/lj/wavs")
    if not shutil.which("ffmpeg"):
        service.skip("another program: needs ffmpeg, which reads the clips; tools/setup.sh installs it")
    service.use_packages()
    unittest.main(argv=sys.argv[:1], defaultTest=["RealtimeLong"] if "--long" in sys.argv else ["Realtime", "Uploads"])
