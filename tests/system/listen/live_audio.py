"""Clips as live audio: what the tests of `tutti listen` and bench/live.py share."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "tools"), str(ROOT / "tests/support")]
from shared_data import shared_data

RATE = 16000
DATA = shared_data()


def lj003_clips():
    return sorted((DATA / "speech/lj/wavs").glob("LJ003-*.flac"))


def texts_of(clips):
    """What is read aloud in them, by LJ Speech's table."""
    table = (DATA / "speech/lj/metadata.csv").read_text().splitlines()
    by_name = {line.split("|")[0]: line.split("|")[-1] for line in table}
    return " ".join(by_name[clip.stem] for clip in clips)


def samples_of(clips, pause=0.6, rate=RATE):
    """16-bit samples of the clips in a row, `pause` seconds between two of them."""
    silence = bytes(2 * int(pause * rate))
    parts = [subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-i", clip, "-f", "s16le", "-ac", "1", "-ar", str(rate),
                             "-"], check=True, capture_output=True).stdout for clip in clips]
    return silence.join(parts)


def wav_of(samples, rate=RATE, size=None):
    """A WAV; `size`: what its header claims, 0xFFFFFFFF as a stream has it."""
    size = len(samples) if size is None else size
    number = lambda value, count: (value & (256 ** count - 1)).to_bytes(count, "little")
    return (b"RIFF" + number(size + 36 if size < 2 ** 31 else size, 4) + b"WAVEfmt " + number(16, 4) + number(1, 2) + number(1, 2)
            + number(rate, 4) + number(2 * rate, 4) + number(2, 2) + number(16, 2) + b"data" + number(size, 4) + samples)


def words_of(text):
    return re.sub(r"[^a-z0-9' ]", " ", text.lower().replace("-", " ")).split()


def errors_between(expected, found):
    """Words that must be replaced, put in or left out to make `expected` of `found`, and the words expected."""
    a, b = words_of(expected), words_of(found)
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1], len(a)


def transcript_of(tutti, model, samples, *flags):
    """The JSON transcript of `tutti transcribe --vad`."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "file.wav"
        file.write_bytes(wav_of(samples))
        subprocess.run([tutti, "transcribe", "--model", model, "--vad", "-f", "json", "-o", folder, "--quiet", *flags, file],
                       check=True)
        return json.loads((pathlib.Path(folder) / "file.json").read_text())


class Events:
    """Events as they come, checked one by one."""

    def __init__(self):
        self.finals, self.partials, self.times = [], [], []
        self._next, self._end = 0, 0.0

    def add(self, line, at=None):
        event = json.loads(line)
        kind, number = event["type"], event["id"]
        assert set(event) == {"type", "id", "start", "end", "text"}, event
        assert kind in ("partial", "final"), event
        assert number == self._next, f"expected id {self._next}: {event}"
        assert event["start"] <= event["end"], event
        assert event["start"] >= self._end - 1e-9, f"begins before {self._end}: {event}"
        if kind == "final":
            assert event["text"], event
            self.finals.append(event)
            self._next, self._end = number + 1, event["end"]
        else:
            self.partials.append(event)
        self.times.append((at if at is not None else time.monotonic(), event))

    def text(self):
        return "".join(event["text"] for event in self.finals)
