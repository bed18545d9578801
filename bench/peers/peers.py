#!/usr/bin/env python3
"""Tutti beside its peers: whole commands, from start to the last file, with the same weights on the same files.

Usage: peers.py --tutti BUILD/bin/tutti --data SHARED-DATA --out FILE.jsonl --cache DIR [--only PART] [--runs N] [--quick]
                [--screen] [--whisper-cpp SOURCES]

The lines of the contract (contract.py) are measured with models that say 100 tokens in every window whatever they hear
(reciting.py), greedy or with beams, so that both sides do the same work; tokens are counted on both sides, and a line whose
counts differ by more than a twelfth fails. For each line the fastest peer at its best setting is found once on a part of
the audio and remembered in the cache (--screen: find it again). Then runs are interleaved (ours, theirs, ours, theirs, ...),
so that what else the machine does falls on both; the figure is the median, in seconds of audio for each second. More lines
tell the tokens, the processor seconds and the peak memory of both. The natural lines decode real words with tiny's real
weights, each compute type beside the same one, and compare the word error rates as well.

Lines: {"what", "unit", "tutti", "peer", "peer_value", "ratio"}; ratio > 1 means Tutti is better. Exit status 1 when a line of
the contract is missing.
"""
import argparse
import pathlib
import sys

from commands import Tutti
from contract import LINES, NATURAL
from measured import CommandFailed
from natural import natural_lines
from report import Report
from side_by_side import Bench


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tutti", "data", "out", "cache"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="only lines whose name contains this")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a trial: tiny, two minutes and 8 clips, one run")
    parser.add_argument("--screen", action="store_true", help="choose the peers again")
    parser.add_argument("--whisper-cpp", type=pathlib.Path, help="the sources of whisper.cpp")
    return parser.parse_args()


def wanted(options):
    lines = [line for line in LINES if options.only in line.name and (line.size == "tiny" or not options.quick)]
    natural = [] if options.quick else [line for line in NATURAL if options.only in line[0]]
    if not lines and not natural:
        sys.exit(f"peers: no line's name contains '{options.only}'")
    return lines, natural


def main():
    options = arguments()
    lines, natural = wanted(options)
    if not options.whisper_cpp:
        print("peers: without whisper.cpp (WHISPER_CPP names no folder of its sources)", flush=True)
    bench = Bench(options, Tutti(options.tutti))
    with options.out.open("w") as out:
        report = Report(out)
        for line in lines:
            try:
                for measured in bench.lines(line):
                    report.add(**measured)
            except CommandFailed as trouble:
                report.fail(line.name, str(trouble))
        for name, compute_type, setting in natural:
            try:
                for measured in natural_lines(bench, name, compute_type, setting):
                    report.add(**measured)
            except CommandFailed as trouble:
                report.fail(name, str(trouble))
    return report.close(len(lines) + len(natural))


if __name__ == "__main__":
    sys.exit(main())
