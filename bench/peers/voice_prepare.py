#!/usr/bin/env python3
"""A voice's clips prepared in Python, as trainers do: read, resampled, trimmed, log-mel, pitch, energy, phonemes by CMUdict.

Usage: voice_prepare.py FOLDER DICTIONARY      FOLDER in LJSpeech's layout; DICTIONARY: cmudict.dict
A process a core, each with one thread. Prints {"rate"}: clips a second, without starting the processes.
"""
import json
import multiprocessing
import os
import pathlib
import re
import sys
import time

RATE, FFT, WINDOW, HOP, MELS = 16000, 1024, 800, 200, 80


def dictionary(file):
    entries = {}
    for line in pathlib.Path(file).read_text().splitlines():
        word, *phones = line.split("#")[0].split()
        entries.setdefault(re.sub(r"\(\d+\)$", "", word), phones)
    return entries


def start(file):
    global WORDS, FILTERS
    import librosa
    import torch

    torch.set_num_threads(1)
    WORDS = dictionary(file)
    FILTERS = torch.from_numpy(librosa.filters.mel(sr=RATE, n_fft=FFT, n_mels=MELS))
    prepared(None)


def prepared(clip):
    import librosa
    import numpy as np
    import soundfile
    import torch

    if clip is None:
        return 0
    path, text = clip
    audio, rate = soundfile.read(path, dtype="float32")
    if rate != RATE:
        audio = librosa.resample(audio, orig_sr=rate, target_sr=RATE)
    audio, _ = librosa.effects.trim(audio, top_db=40)
    spectrum = torch.stft(torch.from_numpy(audio), FFT, HOP, WINDOW, torch.hann_window(WINDOW), return_complex=True).abs()
    mel = (FILTERS @ spectrum).clamp_min(1e-5).log()
    pitch = librosa.yin(audio, fmin=60, fmax=550, sr=RATE, frame_length=FFT, hop_length=HOP)
    energy = spectrum.norm(dim=0)
    phones = [phone for word in re.findall(r"[a-z']+", text.lower()) for phone in WORDS.get(word, list(word))]
    return int(np.isfinite(pitch).sum()) + mel.shape[1] + len(energy) + len(phones)


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = [line.split("|") for line in (folder / "metadata.csv").read_text().splitlines()]
    clips = [(folder / "wavs" / f"{row[0]}.wav", row[-1]) for row in rows]
    with multiprocessing.Pool(os.cpu_count(), start, (sys.argv[2],)) as pool:
        pool.map(prepared, clips[:8])
        begun = time.perf_counter()
        pool.map(prepared, clips, chunksize=4)
        print(json.dumps({"rate": len(clips) / (time.perf_counter() - begun)}))


if __name__ == "__main__":
    main()
