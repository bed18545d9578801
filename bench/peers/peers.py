#!/usr/bin/env python3
"""Tutti beside its peers: whole commands, from start to the last file, with the same weights on the same files.

Usage: peers.py --tutti BUILD/bin/tutti --model HUGGING-FACE-FOLDER --out FILE.jsonl --cache DIR
                [--runs N] [--only PART] [--texts texts.json] AUDIO...
Runs are interleaved (ours, theirs, ours, theirs, ...), so that what else the machine does falls on both; the figure is the
median, in seconds of audio for each second (x real time). For every comparison two more lines say whether both did the same
work: the decoder steps, and with --texts the word error rate. Each engine runs at its own best setting (peer.py).
Lines: {"what", "unit", "tutti", "peer", "peer_value", "ratio"}; ratio > 1 means Tutti is better.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from convert import converted

# what, our compute type, peer, its compute type, the form of weights it reads
COMPARISONS = [
    ("transcribe/sequential/tiny/greedy/float32", "float32", "openai-whisper", "float32", "openai"),
    ("transcribe/sequential/tiny/greedy/bfloat16", "bfloat16", "transformers", "bfloat16", None),
    ("transcribe/sequential/tiny/greedy/float32-ctranslate2", "float32", "faster-whisper", "float32", "ctranslate2"),
    ("transcribe/sequential/tiny/greedy/fastest", "bfloat16", "faster-whisper", "int8", "ctranslate2"),
]


def timed(command):
    """(seconds, standard output) of a whole command."""
    start = time.perf_counter()
    run = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - start
    if run.returncode:
        sys.exit(f"peers: {' '.join(map(str, command))}\nended with {run.returncode}:\n{run.stderr[-2000:]}")
    return seconds, run.stdout


def our_command(options, compute_type, folder):
    return [options.tutti, "transcribe", "--model", options.model, "--compute-type", compute_type, "--temperature", "0",
            "--temperature-increment-on-fallback", "None", "--language", "en", "--output-format", "txt",
            "--output-dir", folder, "--json", *options.audio]


def our_steps(output):
    return next(event["decoder_steps"] for event in map(json.loads, output.splitlines()) if event["event"] == "summary")


def words(text):
    return re.sub(r"[^a-z0-9 ]", " ", text.lower().replace("\n", " ")).split()


def error_rate(options, folder):
    """Word error rate in percent over all files that have a text."""
    import jiwer

    texts = json.loads(options.texts.read_text())
    known = [path for path in options.audio if texts.get(path.name, {}).get("text")]
    hypotheses = [" ".join(words((folder / f"{path.stem}.txt").read_text())) for path in known]
    return 100 * jiwer.wer([texts[path.name]["text"] for path in known], hypotheses)


def duration(path):
    run = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)],
                         stdout=subprocess.PIPE, text=True, check=True)
    return float(run.stdout)


def compare(options, what, our_type, peer, peer_type, form):
    model = converted(options.model, options.cache, form) if form else options.model
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = pathlib.Path(folder, "ours"), pathlib.Path(folder, "theirs")
        peer_command = [sys.executable, pathlib.Path(__file__).with_name("peer.py"), peer, peer_type, model, theirs,
                        *options.audio]
        our_times, peer_times = [], []
        for _ in range(options.runs):
            seconds, output = timed(our_command(options, our_type, ours))
            our_times.append(seconds)
            steps = our_steps(output)
            seconds, output = timed(peer_command)
            peer_times.append(seconds)
            peer_steps = json.loads(output.splitlines()[-1])["steps"]
        audio = sum(map(duration, options.audio))
        our_speed, peer_speed = (audio / statistics.median(times) for times in (our_times, peer_times))
        name = f"{peer} {peer_type}"
        yield line(what, "x real time", our_speed, name, peer_speed, our_speed / peer_speed)
        yield line(f"{what}/decoder-steps", "steps", steps, name, peer_steps, peer_steps / steps)
        if options.texts:
            wer, peer_wer = error_rate(options, ours), error_rate(options, theirs)
            yield line(f"{what}/wer", "%", wer, name, peer_wer, peer_wer / wer if wer else None)


def line(what, unit, tutti, peer, peer_value, ratio):
    return {"what": what, "unit": unit, "tutti": tutti, "peer": peer, "peer_value": peer_value, "ratio": ratio}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tutti", "model", "out", "cache"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--texts", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="only comparisons whose name contains this")
    parser.add_argument("audio", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    with options.out.open("w") as out:
        for comparison in COMPARISONS:
            if options.only not in comparison[0]:
                continue
            for result in compare(options, *comparison):
                out.write(json.dumps(result) + "\n")
                out.flush()
                ratio = "" if result["ratio"] is None else f"{result['ratio']:.2f}"
                print(f"{result['what']:58} {result['tutti']:10.2f} {result['unit']:12} "
                      f"{result['peer_value']:10.2f} {result['peer']:24} {ratio}", flush=True)


if __name__ == "__main__":
    main()
