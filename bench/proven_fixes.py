#!/usr/bin/env python3
"""Has `tutti profile --prove` prove its fixes on real work: commands with one thread too few, slow files, MP3 beside WAV, augmentation,
and one very long recording.

Usage: proven_fixes.py BUILD [--only WORDS] [--data DIR]

Each case runs a command twice, the second time with one change, and succeeds where the measured rate lies in the predicted range, or by a
check of the case itself. DIR: the shared test data, by default ../shared/data. A case without its data is skipped by name. Prints a line a case.
Exit status 1 where one in ten cases or more fails: `low` and `high` hold 19 of 20 runs, on a machine that does nothing else.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALLOWED_SHARE = 0.1
COPIES = 40  # of each clip, so that an epoch is longer than a training here, as it mostly is


class Bench:
    def __init__(self, build, data, work):
        self.tutti, self.build, self.data, self.work = str(build / "bin" / "tutti"), build, data, work

    def run(self, words, settings=None):
        environment = {**os.environ, **(settings or {})}
        return subprocess.run([self.tutti, "profile", *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def prove(self, change, command, settings=None):
        """(whether it was proven, its words)"""
        apply = ["--apply", change] if change else []
        end = self.run(["--prove", *apply, "--", "tutti", *command], settings)
        lines = [line for line in end.stderr.splitlines() if line.startswith("With ")] or end.stderr.splitlines()[-1:]
        return end.returncode == 0 and bool(lines) and lines[0].startswith("With "), " ".join(lines)

    def profile(self, command, settings=None):
        end = self.run(["--json", "--", "tutti", *command], settings)
        lines = [line for line in end.stderr.splitlines() if line.startswith("{")]
        if not lines:
            raise RuntimeError(f"exit {end.returncode}: {end.stderr.strip()}")
        return json.loads(lines[-1])

    def train(self, name, *flags):
        return ["train", "whisper", "--config", str(ROOT / "recipes/smoke.toml"), "--data", str(self.corpus(COPIES)), "--epochs", "0",
                "--max-steps", "160", "--width", "16", "--heads", "1", "--window-seconds", "10", "--batch-size", "8", "--eval-samples", "0", "--save-steps", "0", "--bad-share", "1", "--read-threads", "1", "--threads", "1",
                "--out", str(self.work / name), *flags]

    def corpus(self, times):
        """The LJ003 clips as a corpus that is read file by file, so many times each. A fifth of the
        clips are longer than the trainings' window and are left out."""
        folder = self.work / f"corpus{times}"
        if not folder.exists():
            source = self.data / "speech" / "lj"
            (folder / "wavs").mkdir(parents=True)
            lines = [line.split("|", 1) for line in (source / "metadata.csv").read_text().splitlines() if line.startswith("LJ003")]
            (folder / "metadata.csv").write_text("".join(f"{name}-{copy}|{rest}\n" for copy in range(times) for name, rest in lines))
            for name, _ in lines:
                first = folder / "wavs" / f"{name}-0.flac"
                first.write_bytes((source / "wavs" / f"{name}.flac").read_bytes())
                for copy in range(1, times):
                    (folder / "wavs" / f"{name}-{copy}.flac").hardlink_to(first)
        return folder

    def clips(self, kind, count=48):
        """`count` copies of samples/jfk.flac as files of that kind."""
        folder = self.work / kind
        if not folder.exists():
            folder.mkdir()
            first = folder / f"0.{kind}"
            subprocess.run(["ffmpeg", "-loglevel", "error", "-i", str(ROOT / "samples/jfk.flac"), str(first)], check=True)
            for i in range(1, count):
                (folder / f"{i}.{kind}").write_bytes(first.read_bytes())
        return sorted(str(path) for path in folder.iterdir())

    def slow(self, folder, milliseconds):
        return {"LD_PRELOAD": str(self.build / "slow_reads" / "libslow_reads.so"), "TUTTI_SLOW_FOLDER": str(folder),
                "TUTTI_SLOW_MS": str(milliseconds)}


def decoding(bench):
    return bench.prove("", ["features", "--decode-threads", "1", *bench.clips("mp3")])


def slow_files(bench):
    clips = bench.clips("wav")
    return bench.prove("decode.threads=2", ["features", *clips], bench.slow(bench.work, 60))


def mp3_beside_wav(bench):
    """An MP3 takes longer to decode than a WAV: the profile's share of decoding must say so, and the fix must hold."""
    share = {}
    for kind in ("mp3", "wav"):
        stages = bench.profile(["features", *bench.clips(kind)])["stages"]
        times = {stage["name"]: stage["mean_ms"] for stage in stages}
        share[kind] = times["decode"] / sum(times.values())
    proven, words = bench.prove("decode.threads=2", ["features", *bench.clips("mp3")])
    return proven and share["mp3"] > share["wav"], f"decoding takes {share['mp3']:.0%} of an MP3, {share['wav']:.0%} of a WAV. {words}"


def long_recording(bench):
    """Seven minutes behind forty short clips: the last file is worked on alone, and with it first the run is faster, as predicted."""
    long = bench.work / "long.wav"
    if not long.exists():
        subprocess.run(["ffmpeg", "-loglevel", "error", "-stream_loop", "39", "-i", str(ROOT / "samples/jfk.flac"), str(long)], check=True)
    clips = bench.clips("wav")[:40]
    threads = ["--decode-threads", "2", "--features-threads", "2"]
    last = bench.profile(["features", *threads, *clips, str(long)])
    gains = [cause["gain"] for cause in last["causes"] if cause["cause"] == "unequal lengths at the end"]
    if not gains:
        return False, "unequal lengths were not found"
    first = bench.profile(["features", *threads, str(long), *clips])
    measured = first["items_per_s"] / last["items_per_s"] - 1
    return abs((1 + measured) / (1 + gains[0]) - 1) <= 0.1, f"with it first: predicted +{gains[0]:.0%}, measured +{measured:.0%}"


def feed_threads(bench):
    return bench.prove("decode.threads=2", bench.train("threads"))


def feed_augmented(bench):
    shares = [word for kind in ("speed", "noise", "gain", "room") for word in (f"--{kind}-share", "1")]
    return bench.prove("augment.threads=2", bench.train("augmented", *shares))


def feed_slow_files(bench):
    corpus = bench.corpus(COPIES)
    return bench.prove("read.threads=4", bench.train("slow", "--threads", "2"), bench.slow(corpus, 80))


def voice(bench):
    return bench.prove("", ["prepare", "tts", "--data", str(bench.corpus(1)), "--threads", "1", "--out", str(bench.work / "voice")])


def classifier(bench):
    folder = bench.work / "digits"
    for clip in sorted((bench.data / "digits").glob("*.wav")):
        target = folder / clip.name[0] / clip.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(clip.read_bytes())
    return bench.prove("", ["prepare", "classifier", "--data", str(folder), "--threads", "1", "--out", str(bench.work / "set")])


CASES = [("features: one thread decodes", decoding), ("features: slow files", slow_files), ("features: MP3 beside WAV", mp3_beside_wav),
         ("features: one very long recording", long_recording), ("train: one thread in each stage", feed_threads),
         ("train: augmentation", feed_augmented), ("train: slow files", feed_slow_files), ("prepare tts: one thread", voice),
         ("prepare classifier: one thread", classifier)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("TUTTI_TEST_DATA", ROOT.parent / "shared/data")))
    arguments = parser.parse_args()
    cases = [case for case in CASES if arguments.only in case[0]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.build.resolve(), arguments.data, pathlib.Path(folder))
        for name, case in cases:
            try:
                proven, words = case(bench)
            except FileNotFoundError as missing:
                print(f"skipped  {name}: {missing.filename} is not there")
                continue
            failed += not proven
            print(f"{'proven' if proven else 'FAILED'}   {name}: {words}", flush=True)
    print(f"{len(cases) - failed} of {len(cases)}")
    return 1 if failed > ALLOWED_SHARE * len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
