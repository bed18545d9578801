"""`tutti listen` beside WhisperLive: real English, played by the clock, with the same weights; how late its words are shown."""
import array
import json
import pathlib
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench"), str(ROOT / "tests/system/listen"), str(ROOT / "tests/system/serve"), str(ROOT / "tests/support")]
import live
import live_audio
import service
from measured import CommandFailed
from natural import fetched_model
from serving import free_port, processor_seconds, server
from side_by_side import row

LINES = ("live/tiny.en",)
CLIPS = 12
PEER = "WhisperLive, faster-whisper"
SERVER = """from whisper_live.server import TranscriptionServer
TranscriptionServer().run("127.0.0.1", port={port}, backend="faster_whisper", faster_whisper_custom_model_path={model!r},
                          single_model=True)"""
QUIET = 5  # seconds without a message behind the audio: all text has come


def connected(port, model):
    """A client of the peer's own protocol, whose model is loaded."""
    import websocket
    end = time.monotonic() + 120
    while True:
        try:
            socket = websocket.create_connection(f"ws://127.0.0.1:{port}", timeout=60)
            break
        except OSError as refused:
            if time.monotonic() > end:
                raise CommandFailed(f"WhisperLive does not serve: {refused}") from refused
            time.sleep(0.5)
    socket.send(json.dumps({"uid": "peers", "language": "en", "task": "transcribe", "model": str(model), "use_vad": True}))
    while json.loads(socket.recv()).get("message") != "SERVER_READY":
        pass
    return socket


def floats_of(piece):
    """16-bit samples as the peer takes them."""
    samples = array.array("h", piece)
    return array.array("f", [sample / 32768 for sample in samples]).tobytes()


def captions(socket, samples):
    """(when the audio began, what was shown, fixed text) of the peer: its completed segments are fixed, the others may change."""
    fixed, shown = {}, []

    def read():
        import websocket
        while True:
            try:
                message = json.loads(socket.recv())
            except (websocket.WebSocketException, OSError):
                return
            segments = message.get("segments", [])
            fixed.update({float(each["start"]): each["text"] for each in segments if each.get("completed")})
            text = " ".join(fixed[start] for start in sorted(fixed))
            rest = " ".join(each["text"] for each in segments if not each.get("completed"))
            shown.append((time.monotonic(), live.words_of(text), live.words_of(f"{text} {rest}")))

    reader = threading.Thread(target=read)
    reader.start()
    begun = live.play(samples, lambda piece: socket.send_binary(floats_of(piece)))
    time.sleep(QUIET)
    socket.close()
    reader.join()
    return begun, shown, " ".join(shown[-1][2]) if shown else ""


def peer_run(python, model, samples):
    """What captions() measures, and the processor seconds of it."""
    port = free_port()
    command = [python, "-c", SERVER.format(port=port, model=str(model))]
    with server(command, port, ready=lambda _: True) as session:
        socket = connected(port, model)
        before = processor_seconds(session)
        result = captions(socket, samples)
        return *result, processor_seconds(session) - before


def live_lines(bench, name):
    """The usual delay from a word's end to when it was shown, and to when it was fixed; processor time; word errors."""
    service.use_packages()
    model = fetched_model()
    clips = live_audio.lj003_clips()[:2 if bench.options.quick else CLIPS]
    samples = live_audio.samples_of(clips)
    file = live_audio.transcript_of(bench.tutti.program, model, samples, "--word-timestamps")
    spoken = live.spoken_words(file)
    runs = {"tutti": live.listen(bench.tutti.program, model, samples), PEER: peer_run(bench.options.live_python, model, samples)}
    figures = {}
    for side, (begun, shown, text, spent) in runs.items():
        found = live.delays(begun, shown, spoken, text)
        wrong, words = live_audio.errors_between(live_audio.texts_of(clips), text)
        figures[side] = [live.spread([delay[0] for delay in found])[0], live.spread([delay[1] for delay in found])[0],
                         spent * 2 * live.RATE / len(samples), 100 * wrong / words]
    for what, unit, ours, theirs in zip(("shown", "fixed", "processor", "wer"), ("s", "s", "cores", "%"), figures["tutti"],
                                        figures[PEER]):
        yield row(f"{name}/{what}", unit, ours, PEER, theirs)
