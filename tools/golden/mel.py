#!/usr/bin/env python3
"""Log-mel spectrograms of openai-whisper 20250625 for tests/audio/log_mel_test.cpp.

Usage: mel.py SHARED_DATA, in an environment with openai-whisper. Writes tests/data/audio/mel_<sound>_<bins>.bin, all numbers
little-endian, each array behind its length in 32 bits:
  int32 bins, int32 frames, float32 low,
  uint16[bins * frames] the whole matrix, row-major, as (value - low) / 2 * 65535.
The values of one recording span exactly 2 (the reference clamps by 8 decades and divides by 4): a step is 3e-5.
"""
import pathlib
import struct
import sys

import numpy as np
import whisper
from whisper.audio import N_FRAMES, N_SAMPLES, log_mel_spectrogram

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/data/audio"


def noise(samples):
    """The same numbers as noise() in tests/audio/sounds.h."""
    state, out = 1, np.empty(samples, np.int16)
    for i in range(samples):
        state = (state * 1664525 + 1013904223) % 2**32
        out[i] = (state >> 16) - 32768
    return out


def hard_cases():
    loud = noise(5000)
    cliff = np.concatenate([loud, np.zeros(3000, np.int16), loud[:4000] // 8192, loud[:77]])
    return {"cliff": cliff, "short": loud[:90], "silence": np.zeros(1700, np.int16)}


def write(name, pcm, bins):
    mel = log_mel_spectrogram(pcm.astype(np.float32) / 32768, bins, padding=N_SAMPLES).numpy()
    # Two frames of the padding, so that what straddles the end is seen.
    mel = mel[:, : mel.shape[1] - N_FRAMES + 2].astype(np.float64)
    low = np.float32(mel.min())
    values = np.clip(np.round((mel - low) / 2 * 65535), 0, 65535).astype("<u2")
    head = struct.pack("<iifI", bins, mel.shape[1], low, values.size)
    (OUT / f"mel_{name}_{bins}.bin").write_bytes(head + values.tobytes())


def main():
    assert whisper.__version__ == "20250625", whisper.__version__
    shared = pathlib.Path(sys.argv[1])
    sounds = {name: (np.load(shared / f"mel/{name}.npy") * 32768).astype(np.int16) for name in ("jfk", "mr_quilter")}
    OUT.mkdir(parents=True, exist_ok=True)
    for name, pcm in {**sounds, **hard_cases()}.items():
        for bins in (80, 128):
            write(name, pcm, bins)


if __name__ == "__main__":
    main()
