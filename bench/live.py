#!/usr/bin/env python3
"""How long after a word was spoken it is shown, live: LJ003 clips, played by the clock into `tutti listen`.

Usage: live.py BIN [--clips N] [--model DIR] [--streams N]. Prints median and p95 of the delay, partial and fixed; the word
errors beside the file's; how often a second of audio was read, at the least; and the processor time of a second of audio.
When a word was spoken is by `tutti transcribe --word-timestamps` of the file.

--streams N: so many play at once into the WebSocket of `tutti serve`, each a second and a half behind the one before. Then the
delays are those of all words, and the processor time that of one stream.
"""
import argparse
import base64
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests/system/listen"), str(ROOT / "tests/system/serve")]
import live_audio
import service
from live_audio import Events, RATE, errors_between, words_of

STEP = RATE // 10  # samples a write: 100 ms


def processor_seconds(pid):
    """Of a process and its children, now."""
    total = 0.0
    children = [child for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]
    for process in [pid, *children]:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def play(samples, write):
    """Writes samples as they would be spoken; returns when the first one was."""
    begun = time.monotonic()
    for at in range(0, len(samples), 2 * STEP):
        time.sleep(max(0.0, begun + (at / 2 + STEP) / RATE - time.monotonic()))
        write(samples[at:at + 2 * STEP])
    return begun


def listen(tutti, model, samples):
    """(when the audio began, [(when, fixed words, words shown)], fixed text, processor seconds) of one stream."""
    process = subprocess.Popen([tutti, "listen", "--model", model, "--rate", str(RATE), "--json", "-"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(4)  # the model is loaded
    events = Events()
    reader = threading.Thread(target=lambda: [events.add(line) for line in process.stdout])
    reader.start()

    def write(piece):
        process.stdin.write(piece)
        process.stdin.flush()

    before = processor_seconds(process.pid)
    begun = play(samples, write)
    time.sleep(0.7)
    spent = processor_seconds(process.pid) - before
    process.stdin.close()
    process.wait()
    reader.join()
    return begun, *shown_of([(at, event["type"] == "final", event["text"]) for at, event in events.times]), spent


def shown_of(texts):
    """([(when, fixed words, words shown)], fixed text) of [(when, whether it is fixed, text)]."""
    shown, fixed = [], ""
    for at, is_fixed, text in texts:
        if is_fixed:
            fixed += text
        shown.append((at, words_of(fixed), words_of(fixed + ("" if is_fixed else text))))
    return shown, fixed


def stream_to(port, samples, delay):
    """The same of one client of /v1/realtime, `delay` seconds behind the first; without the processor time."""
    import websocket
    socket = websocket.create_connection(f"ws://127.0.0.1:{port}/v1/realtime?intent=transcription", timeout=60,
                                         header=[f"Authorization: Bearer {service.TOKEN}"])
    send = lambda kind, **more: socket.send(json.dumps({"type": kind, **more}))
    send("session.update", session={"type": "transcription", "audio": {"input": {"format": {"type": "audio/pcm", "rate": RATE}}}})
    kind, texts, last = "input_audio_transcription.", [], threading.Event()

    def read():
        while True:
            event = json.loads(socket.recv())
            if event["type"] == "error":
                raise RuntimeError(event)
            if event["type"] in (f"tutti.{kind}partial", f"conversation.item.{kind}delta"):
                is_fixed = "delta" in event
                texts.append((time.monotonic(), is_fixed, " " + event["delta" if is_fixed else "text"].lstrip()))
            if last.is_set() and event["type"] == f"conversation.item.{kind}completed":
                return

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(delay)
    begun = play(samples, lambda piece: send("input_audio_buffer.append", audio=base64.b64encode(piece).decode()))
    last.set()
    send("input_audio_buffer.commit")
    reader.join()
    socket.close()
    return begun, *shown_of(texts)


def serve(tutti, model, samples, count):
    """[(when it began, what was shown, fixed text)] of streams at once, and the processor seconds of one."""
    service.use_packages()
    with tempfile.TemporaryDirectory() as folder:
        serving = service.Service(tutti, model, folder, "--live-streams", str(count))
        results = []
        streams = [threading.Thread(target=lambda delay=1.5 * number: results.append(stream_to(serving.port, samples, delay)))
                   for number in range(count)]
        before = processor_seconds(serving.process.pid)
        for stream in streams:
            stream.start()
        for stream in streams:
            stream.join()
        spent = processor_seconds(serving.process.pid) - before
        serving.stop()
    return results, spent / count


def spoken_words(file):
    """[(word, when it ends)] of a transcript with times of words."""
    return [(spelled, word["end"]) for segment in file["segments"] for word in segment["words"] for spelled in words_of(word["word"])]


def delays(begun, shown, spoken, final):
    """Seconds from a word's end to when it was shown for good, by `final`: fixed; else at all."""
    found = [word for word in words_of(final)]
    matches = difflib.SequenceMatcher(None, [word for word, _ in spoken], found, autojunk=False).get_matching_blocks()
    out = []
    for block in matches:
        for i in range(block.size):
            index, (word, end) = block.b + i, spoken[block.a + i]
            times = []
            for kind in (2, 1):  # partial or fixed; fixed
                at = next((event[0] for event in shown if len(event[kind]) > index and event[kind][index] == word), None)
                times.append(None if at is None else at - begun - end)
            out.append(times)
    return out


def spread(values):
    values = sorted(value for value in values if value is not None)
    return (values[len(values) // 2], values[int(len(values) * 0.95)]) if values else (float("nan"), float("nan"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--clips", type=int, default=12)
    parser.add_argument("--model", default=None)
    parser.add_argument("--streams", type=int, default=0)
    args = parser.parse_args()
    tutti, model = args.bin / "tutti", args.model or service.real_model()
    clips = live_audio.lj003_clips()[:args.clips]
    samples = live_audio.samples_of(clips)
    file = live_audio.transcript_of(tutti, model, samples, "--word-timestamps")
    spoken = spoken_words(file)
    if args.streams:
        results, spent = serve(tutti, model, samples, args.streams)
    else:
        *result, spent = listen(tutti, model, samples)
        results = [result]
    seconds = len(samples) / 2 / RATE
    expected = live_audio.texts_of(clips)
    wrong, words = errors_between(expected, file["text"])
    live = sum(errors_between(expected, text)[0] for _, _, text in results) / len(results)
    found = [delay for begun, shown, text in results for delay in delays(begun, shown, spoken, text)]
    partial, fixed = spread([d[0] for d in found]), spread([d[1] for d in found])
    print(f"{len(results)} x {seconds:.0f} s, {len(found)} words: shown after {partial[0]:.2f} s (p95 {partial[1]:.2f}), "
          f"fixed after {fixed[0]:.2f} s (p95 {fixed[1]:.2f})")
    readings = sum(len({round(at, 2) for at, *_ in shown}) for _, shown, _ in results) / len(results)
    print(f"word errors: live {100 * live / words:.1f} %, the file {100 * wrong / words:.1f} %; "
          f"processor: {spent / seconds:.2f} cores a stream; {readings / seconds:.2f} readings a second, at the least")


if __name__ == "__main__":
    main()
