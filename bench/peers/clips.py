"""The recordings that are measured on, made once from shared speech: one of ten minutes, forty of 5 to 20 seconds."""
import pathlib
import random
import subprocess

TEN_MINUTES = 600
SHORT = 40


def ffmpeg(*words):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, words)], check=True)


def ten_minutes(sources, cache):
    """`sources` behind one another, 16 kHz mono, again from the start until ten minutes are full."""
    target = pathlib.Path(cache) / "ten-minutes.flac"
    if not target.exists():
        inputs, joined = [], ""
        for number in range(4 * len(sources)):
            inputs += ["-i", sources[number % len(sources)]]
            joined += f"[{number}:a]aresample=16000,aformat=sample_fmts=s16:channel_layouts=mono[a{number}];"
        joined += "".join(f"[a{number}]" for number in range(4 * len(sources)))
        staging = target.with_name("staging.flac")
        ffmpeg(*inputs, "-filter_complex", f"{joined}concat=n={4 * len(sources)}:v=0:a=1[out]", "-map", "[out]",
               "-t", TEN_MINUTES, staging)
        staging.rename(target)
    return target


def part(source, start, seconds, target):
    if not target.exists():
        staging = target.with_name("staging.flac")
        ffmpeg("-ss", start, "-t", seconds, "-i", source, staging)
        staging.rename(target)
    return target


def short_clips(source, cache):
    """Forty pieces of the ten minutes, 5 to 20 s each, the lengths drawn from a fixed seed."""
    folder = pathlib.Path(cache) / "short"
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(40)
    lengths = [round(chance.uniform(5, 20), 2) for _ in range(SHORT)]
    files, start = [], 0.0
    for number, length in enumerate(lengths):
        if start + length > TEN_MINUTES:
            start = 0.0
        files.append(part(source, start, length, folder / f"clip-{number:02}.flac"))
        start += length
    return files


def seconds_of(path):
    run = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)],
                         stdout=subprocess.PIPE, text=True, check=True)
    return float(run.stdout)
