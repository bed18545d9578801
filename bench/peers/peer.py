#!/usr/bin/env python3
"""One whole command of a peer that is a Python library: loads its model, transcribes every file, writes OUT/<stem>.json.

Usage: peer.py ENGINE --model M --out DIR --type T [--way W] [--beams N] [--natural] FILE...
Engines and ways: see engines/. Prints {"steps", "tokens", "load_seconds"}: decoder steps counted where the decoder is called
(null where the engine does not report them), tokens of the transcripts, and the seconds until the model was ready.
"""
import argparse
import importlib
import json
import pathlib
import time

STARTED = time.perf_counter()
ENGINES = {"openai-whisper": "openai_whisper", "faster-whisper": "faster_whisper_engine", "transformers": "transformers_engine",
           "openvino": "openvino_engine", "pywhispercpp": "pywhispercpp_engine"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--type", required=True)
    parser.add_argument("--way", default="sequential")
    parser.add_argument("--beams", type=int, default=1)
    parser.add_argument("--natural", action="store_true")
    parser.add_argument("files", nargs="+")
    return parser.parse_args()


def engine_named(name):
    return importlib.import_module(f"engines.{ENGINES[name]}")


def main():
    from engines.job import Job

    options = arguments()
    job = Job(options.model, options.files, options.type, options.way, options.beams, options.natural)
    engine = engine_named(options.engine)
    model = engine.load(job)
    load_seconds = time.perf_counter() - STARTED
    steps = tokens = 0

    def count(rows):
        nonlocal steps
        steps += rows

    options.out.mkdir(parents=True, exist_ok=True)
    for transcript in engine.run(model, job, count):
        tokens += transcript.tokens
        path = options.out / (pathlib.Path(transcript.file).stem + ".json")
        path.write_text(json.dumps({"text": transcript.text.strip(), "tokens": transcript.tokens}))
    print(json.dumps({"steps": steps or None, "tokens": tokens, "load_seconds": load_seconds}))


if __name__ == "__main__":
    main()
