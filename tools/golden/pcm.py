#!/usr/bin/env python3
"""What the ffmpeg program makes of sound files, for tests/audio/decode_test.cpp: the reference's load_audio runs exactly this.

Usage: pcm.py SHARED_DATA. Makes the small files of tests/data/audio/sounds (kinds that the shared data has none of), and
writes pcm.txt beside them: one line `<samples> <FNV-1a of the bytes> <clean or damaged> <path>` per file that ffmpeg (5.1)
decodes to at least one sample; damaged: ffmpeg complained about errors.
"""
import pathlib
import subprocess
import sys
import tempfile

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/data/audio"
FOLDERS = ("formats/sonnet", "formats/widths", "vad", "speech/jfk", "morse")
SOUND = {".aac", ".aiff", ".flac", ".mp3", ".mp4", ".ogg", ".wav", ".webm", ".m4a"}
VOICE = "aevalsrc='0.4*sin(900*t+sin(40*t))*abs(sin(9*t))+0.02*random(0)':s=48000:d=1"
SURROUND = "pan=5.1|FL=c0|FR=0.5*c0|FC=0.3*c0|LFE=0.1*c0|BL=0.7*c0|BR=-0.2*c0"
NINE = "[0:a]asplit=9" + "".join(f"[{c}]" for c in "abcdefghi") + ";[a][b][c][d][e][f][g][h][i]amerge=inputs=9"
PICTURE = ["-f", "lavfi", "-i", "testsrc=d=1:s=32x32:r=5"]
MADE = {
    "mono.opus": ["-c:a", "libopus", "-b:a", "24k"],
    "surround.ogg": ["-af", SURROUND, "-ar", "44100", "-c:a", "libvorbis", "-q:a", "0"],
    "surround.flac": ["-af", SURROUND, "-t", "0.1", "-ar", "44100", "-c:a", "flac"],
    "stereo24.flac": ["-t", "0.3", "-ac", "2", "-c:a", "flac", "-sample_fmt", "s32"],
    "lossless.m4a": ["-t", "0.3", "-ar", "44100", "-c:a", "alac"],
    "telephone.au": ["-ar", "8000", "-c:a", "pcm_alaw"],
    "nine.wav": ["-t", "0.1", "-filter_complex", NINE, "-ar", "8000"],
    "float16k.wav": ["-t", "0.3", "-ar", "16000", "-c:a", "pcm_f32le"],
    "adpcm.wav": ["-ar", "22050", "-c:a", "adpcm_ima_wav"],
    "video.mkv": [*PICTURE, "-c:v", "mpeg4", "-c:a", "libmp3lame", "-ar", "44100", "-b:a", "32k", "-ac", "1"],
    "two.mp4": [*PICTURE, "-map", "1", "-map", "0", "-map", "0", "-ac:a:1", "2", "-c:v", "mpeg4", "-c:a", "aac"],
    "windows.wma": ["-ar", "44100", "-c:a", "wmav2", "-b:a", "32k"],
}
PARTS = {  # made one by one and put behind each other: the format changes in mid-file
    "change.mp3": [["-ar", "22050", "-b:a", "24k"], ["-ar", "44100", "-ac", "2", "-b:a", "64k"]],
    "change.ogg": [["-ar", "22050", "-c:a", "libvorbis"], ["-ar", "44100", "-ac", "2", "-c:a", "libvorbis"]],
}


def encode(path, options):
    exact = ["-fflags", "+bitexact", "-flags", "+bitexact"]
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-nostdin", "-f", "lavfi", "-i", VOICE, *options, *exact, path], check=True)


def make_sounds():
    folder = OUT / "sounds"
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in MADE.items():
        encode(folder / name, options)
    for name, parts in PARTS.items():
        whole = b""
        for options in parts:
            encode(folder / name, [*options, "-write_xing", "0", "-id3v2_version", "0"] if ".mp3" in name else options)
            whole += (folder / name).read_bytes()
        (folder / name).write_bytes(whole)
    # A program that writes to a pipe cannot know the size.
    streamed = [*("ffmpeg -v error -nostdin -f lavfi -i".split()), VOICE, *("-t 0.3 -ar 44100 -f wav -".split())]
    (folder / "streamed.wav").write_bytes(subprocess.run(streamed, capture_output=True, check=True).stdout)
    return sorted(folder.iterdir())


def decode(path):
    command = ["ffmpeg", "-v", "error", "-nostdin", "-threads", "0", "-i", path, "-f", "s16le", "-ac", "1",
               "-lfe_mix_level", "1"]  # the LFE channel is in our mix, and not in ffmpeg's default one
    ran = subprocess.run([*command, "-acodec", "pcm_s16le", "-ar", "16000", "-"], capture_output=True)
    # Where one stream follows another in a file, the muxer complains of time stamps; nothing of the sound is missing.
    complaints = [line for line in ran.stderr.splitlines() if b"non monotonically increasing dts" not in line]
    return ran.stdout, "damaged" if complaints else "clean"


def decode_links(path):
    """An Ogg stream behind another is a recording of its own, as it is for Tutti."""
    content, starts = path.read_bytes(), []
    at = content.find(b"OggS\0\x02")
    while at >= 0:
        starts.append(at)
        at = content.find(b"OggS\0\x02", at + 1)
    pcm, states = b"", set()
    with tempfile.TemporaryDirectory() as folder:
        for start, stop in zip(starts, [*starts[1:], len(content)]):
            link = pathlib.Path(folder) / path.name
            link.write_bytes(content[start:stop])
            part, state = decode(link)
            pcm += part
            states.add(state)
    return pcm, "damaged" if "damaged" in states else "clean"


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def write_table(path, files, root):
    lines = []
    for file in files:
        pcm, state = decode_links(file) if file.name in PARTS and file.suffix == ".ogg" else decode(file)
        if pcm:
            lines.append(f"{len(pcm) // 2} {fnv(pcm):016x} {state} {file.relative_to(root)}\n")
    path.write_text("".join(lines))


def main():
    write_table(OUT / "sounds.txt", make_sounds(), OUT / "sounds")
    shared = pathlib.Path(sys.argv[1])
    files = sorted(f for folder in FOLDERS for f in (shared / folder).rglob("*") if f.suffix in SOUND)
    files += [shared / "digits" / f"{d}_{who}_0.wav" for d in range(10) for who in ("jackson", "nicolas")]
    write_table(OUT / "pcm.txt", files, shared)


if __name__ == "__main__":
    main()
