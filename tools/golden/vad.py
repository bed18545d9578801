#!/usr/bin/env python3
"""Silero's speech probabilities, and what faster-whisper 1.2.1 makes of such and of packed times, for tests/audio/vad_*_test.cpp.

Usage: vad.py SHARED_DATA, in an environment with faster-whisper, torch and soundfile. Writes tests/data/audio/vad_*.txt.

vad_probabilities.txt, a line per sound of SOUNDS: the probability of each whole window and of the rest filled up with zeros, as
Silero's TorchScript (6.2) gives it.

vad_pieces.txt, a line per case: seed, windows, samples, threshold, neg_threshold (-1: none), min_speech_ms, max_speech_s (-1:
none), min_silence_ms, pad_ms, then start and end of every piece. The probabilities come from a generator that the test has,
too. Cases in which faster-whisper cuts speech without a silence are left out: there Tutti differs on purpose.

vad_times.txt, a line per case: count of pieces, their starts and ends in samples, then per time, in thousandths of a second:
the time in packed speech, where it starts, where it ends, and the word from it to 0.3 s later, start and end, all in the
recording in hundredths.
"""
import inspect
import math
import pathlib
import random
import sys

import numpy as np
import soundfile
import torch
from faster_whisper import vad
from faster_whisper.transcribe import Segment, Word, restore_speech_timestamps

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/data/audio"
SOURCE, FIRST = inspect.getsourcelines(vad.get_speech_timestamps)
FORCED = FIRST + next(i for i, line in enumerate(SOURCE) if 'current_speech["end"] = window_size_samples * i' in line)


SOUNDS = ["vad/speech.wav", "vad/silence.wav", "speech/gb0.wav"]


def silero(model, path):
    sound, rate = soundfile.read(path, dtype="float32")
    assert rate == 16000 and sound.ndim == 1
    windows = np.pad(sound, (0, -len(sound) % 512)).reshape(-1, 1, 512)
    model.reset_states()
    with torch.no_grad():
        return [f"{model(torch.from_numpy(window), 16000).item():.6f}" for window in windows]


def probabilities(seed, windows):
    """The same numbers as probabilities() in tests/audio/vad_pieces_test.cpp: speech that comes and goes."""
    state, out, level, left = seed, [], 0, 0
    for _ in range(windows):
        state = (state * 1664525 + 1013904223) % 2**32
        if left == 0:
            level, left = (state >> 8) % 5, (state >> 16) % (1 << (1 + (state >> 28) % 7)) + 1
        left -= 1
        state = (state * 1664525 + 1013904223) % 2**32
        out.append(min(255, level * 51 + (state >> 24) % 52) / 256)
    return np.array(out, np.float32)


def pieces_of(values, samples, options):
    """faster-whisper's pieces, and whether it ever cut speech where the limit fell."""
    vad.get_vad_model = lambda: lambda audio: values
    forced = []

    def watch(frame, event, _):
        if frame.f_code is not vad.get_speech_timestamps.__code__:
            return None
        if event == "line" and frame.f_lineno == FORCED:
            forced.append(True)
        return watch

    sys.settrace(watch)
    pieces = vad.get_speech_timestamps(np.zeros(samples, np.float32), vad.VadOptions(**options))
    sys.settrace(None)
    return pieces, bool(forced)


def piece_cases(rng):
    for seed in range(1, 1500):
        windows = rng.randint(1, 400)
        samples = (windows - 1) * 512 + rng.randint(0, 511)
        threshold = rng.choice([0.5, 0.5, 0.25, 0.75])
        options = {"threshold": threshold, "neg_threshold": rng.choice([None, None, 0.125, threshold]),
                   "min_speech_duration_ms": rng.choice([0, 0, 100, 250, 1000]),
                   "max_speech_duration_s": rng.choice([math.inf, 30, 5, 3, 2.5]),
                   "min_silence_duration_ms": rng.choice([2000, 160, 100, 500, 0]),
                   "speech_pad_ms": rng.choice([400, 30, 0, 201])}
        pieces, forced = pieces_of(probabilities(seed, windows), samples, options)
        if not forced:
            numbers = [seed, windows, samples] + [-1 if v in (None, math.inf) else v for v in options.values()]
            yield numbers + [p[side] for p in pieces for side in ("start", "end")]


def restored(chunks, start, end, words):
    segment = Segment(id=0, seek=0, start=start, end=end, text="", tokens=[], avg_logprob=0, compression_ratio=0, no_speech_prob=0,
                      words=[Word(start, end, "", 1)] if words else None, temperature=0)
    done = next(iter(restore_speech_timestamps([segment], chunks, 16000)))
    return [round(done.start * 100), round(done.end * 100)]


def time_cases(rng):
    for _ in range(60):
        at, chunks = 0, []
        for _ in range(rng.randint(1, 8)):
            start = at + rng.choice([0, rng.randint(0, 80000), 320 * rng.randint(1, 500)])
            at = start + rng.choice([rng.randint(500, 90000), 320 * rng.randint(2, 200)])
            chunks.append({"start": start, "end": at})
        packed = np.cumsum([c["end"] - c["start"] for c in chunks])
        times = [int(end) // 16 for end in packed] + [rng.randint(0, int(packed[-1]) // 16 + 500) for _ in range(12)]
        line = [len(chunks)] + [c[side] for c in chunks for side in ("start", "end")]
        for time in times:
            line += [time] + restored(chunks, time / 1000, time / 1000, False)
            line += restored(chunks, time / 1000, time / 1000 + 0.3, True)
        yield line


def write(name, lines):
    (OUT / name).write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))


def main():
    shared = pathlib.Path(sys.argv[1])
    model = torch.jit.load(shared / "vad/silero_vad.jit")
    write("vad_probabilities.txt", (silero(model, shared / sound) for sound in SOUNDS))
    rng = random.Random(4)
    write("vad_pieces.txt", piece_cases(rng))
    write("vad_times.txt", time_cases(rng))


if __name__ == "__main__":
    main()
