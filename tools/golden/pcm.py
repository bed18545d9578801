#!/usr/bin/env python3
"""What the ffmpeg program makes of sound files, for tests/audio/decode_test.cpp: the reference's load_audio runs exactly this.

Usage: pcm.py SHARED_DATA. Writes tests/data/audio/pcm.txt: one line `<samples> <FNV-1a of the bytes> <clean or damaged> <path>` per
file that ffmpeg (5.1) decodes to at least one sample; damaged: ffmpeg complained about errors.
"""
import pathlib
import subprocess
import sys

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/data/audio/pcm.txt"
FOLDERS = ("formats/sonnet", "formats/widths", "vad", "speech/jfk", "morse")
SOUND = {".aac", ".aiff", ".flac", ".mp3", ".mp4", ".ogg", ".wav", ".webm", ".m4a"}


def decode(path):
    command = ["ffmpeg", "-v", "error", "-nostdin", "-threads", "0", "-i", path, "-f", "s16le", "-ac", "1"]
    ran = subprocess.run([*command, "-acodec", "pcm_s16le", "-ar", "16000", "-"], capture_output=True)
    return ran.stdout, "damaged" if ran.stderr else "clean"


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    shared = pathlib.Path(sys.argv[1])
    files = sorted(f for folder in FOLDERS for f in (shared / folder).rglob("*") if f.suffix in SOUND)
    files += [shared / "digits" / f"{d}_{who}_0.wav" for d in range(10) for who in ("jackson", "nicolas")]
    lines = []
    for path in files:
        pcm, state = decode(path)
        if pcm:
            lines.append(f"{len(pcm) // 2} {fnv(pcm):016x} {state} {path.relative_to(shared)}\n")
    OUT.write_text("".join(lines))


if __name__ == "__main__":
    main()
