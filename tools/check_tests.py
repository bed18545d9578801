#!/usr/bin/env python3
"""Fails when a tests/**/*_test.cpp or a fuzz target is compiled by no target, so that no test file can lie unread.

Usage: check_tests.py ROOT BUILD. Compares the tree with BUILD/compile_commands.json.
"""
import json
import pathlib
import sys


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    commands = json.loads((build / "compile_commands.json").read_text())
    compiled = {(pathlib.Path(entry["directory"]) / entry["file"]).resolve() for entry in commands}
    files = sorted([*(root / "tests").rglob("*_test.cpp"), *(root / "tests").rglob("fuzz_*.cpp")])
    lost = [path for path in files if path not in compiled]
    for path in lost:
        print(f"{path.relative_to(root)}: no target compiles it: it needs a line in tests/CMakeLists.txt or tests/fuzz/CMakeLists.txt")
    if not lost:
        print(f"{len(files)} test files, all compiled")
    return bool(lost) or not files


if __name__ == "__main__":
    sys.exit(main())
