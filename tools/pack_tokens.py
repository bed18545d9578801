#!/usr/bin/env python3
"""The tokens of a .tiktoken file as the build puts them into programs: of each its length, a byte, and its bytes.

Usage: pack_tokens.py FILE OUT
"""
import base64
import pathlib
import sys


def packed(text):
    """Ranks count up from 0, so none is written: it is the token's place."""
    out = bytearray()
    for rank, line in enumerate(text.split("\n")[:-1]):
        token, number = line.split()
        if int(number) != rank:
            sys.exit(f"line {rank + 1}: expected rank {rank}, found {number}")
        token = base64.b64decode(token)
        out += bytes([len(token)]) + token
    return bytes(out)


if __name__ == "__main__":
    source, target = map(pathlib.Path, sys.argv[1:])
    content = packed(source.read_text("ascii"))
    # Left alone where it is the same: whatever depends on it would be built again.
    if not target.exists() or target.read_bytes() != content:
        target.write_bytes(content)
