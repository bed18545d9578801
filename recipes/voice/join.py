#!/usr/bin/env python3
"""Joins the recordings of up to three speakers in one folder of LJSpeech's layout, as recipes/voice/make.sh person learns them.

Usage: recipes/voice/join.py SPEECH TEACHER OUT SPEAKER:TIMES[:MOST]...

SPEECH holds the recordings of linda (ljspeech/: LJSpeech's reader, 32 clips) and of person (lj/: a man who read LJ001 to LJ003 himself;
about 90 of his clips end before their texts do). TEACHER is what `tutti synth voice` wrote: slt. OUT/wavs has links. Who has few clips is
listed several times, so that each batch holds some: under other names, since a second row of one recording would be left out. MOST is a
number of clips; without it all are taken.
"""
import pathlib
import sys
import wave

MOST_CHARACTERS = 18  # a second: clips with more text hold a part of it only


def seconds_of(file):
    """The length of a WAV file, or of a FLAC file by its first block."""
    if file.suffix == ".wav":
        with wave.open(str(file)) as sound:
            return sound.getnframes() / sound.getframerate()
    head = file.read_bytes()[:26]
    bits = int.from_bytes(head[18:26], "big")
    return (bits & ((1 << 36) - 1)) / (bits >> 44)


def rows_of(file):
    """(id, text) of a list in LJSpeech's layout."""
    rows = [line.split("|") for line in file.read_text().splitlines()]
    return [(row[0], row[-1]) for row in rows]


def clips_of(speaker, speech, teacher):
    """(recording, text) of a speaker, in the order of the list."""
    if speaker == "slt":
        return [(teacher / f"wavs/{name}.wav", text) for name, text in rows_of(teacher / "metadata.csv")]
    texts = dict(rows_of(speech / "lj/metadata.csv"))
    if speaker == "linda":
        return [(file, texts[file.stem]) for file in sorted((speech / "ljspeech/wavs").glob("*.wav")) if file.stem in texts]
    if speaker != "person":
        sys.exit(f"join: expected linda, person or slt, found '{speaker}'")
    read = [(speech / f"lj/wavs/{name}.flac", text) for name, text in texts.items()]
    return [(file, text) for file, text in read if len(text) <= MOST_CHARACTERS * seconds_of(file)]


def main():
    if len(sys.argv) < 5:
        sys.exit("join: expected SPEECH TEACHER OUT SPEAKER:TIMES[:MOST]..., found " + " ".join(sys.argv[1:]))
    speech, teacher, out = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    (out / "wavs").mkdir(parents=True, exist_ok=True)
    lines = ["id|speaker|text"]
    for speaker, times, *most in (word.split(":") for word in sys.argv[4:]):
        clips = clips_of(speaker, speech, teacher)[:int(most[0]) if most else None]
        for copy in range(int(times)):
            for file, text in clips:
                name = f"{speaker}{copy}-{file.stem}"
                link = out / "wavs" / (name + file.suffix)
                link.unlink(missing_ok=True)
                link.symlink_to(file)
                lines.append(f"{name}|{speaker}|{text}")
    (out / "metadata.csv").write_text("".join(line + "\n" for line in lines))  # last: with it the folder is whole


if __name__ == "__main__":
    main()
