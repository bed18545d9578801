#!/usr/bin/env python3
"""Runs clang-tidy over the sources of src/ and apps/ as a build folder compiles them, two at a time.

Usage: tidy.py BUILD [PATH-PART...]    only files whose path contains one of the parts
Exit status 1 when clang-tidy finds something. The checks are in .clang-tidy.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

GCC_ONLY = re.compile(r"-Wno-(?:restrict|stringop-overflow|maybe-uninitialized)|-fpch-preprocess|-Winvalid-pch|-include \S*cmake_pch\S*")


def clang_commands(build, folder):
    """compile_commands.json without what only g++ understands, its precompiled headers first of all."""
    entries = json.loads((build / "compile_commands.json").read_text())
    for entry in entries:
        entry["command"] = GCC_ONLY.sub("", entry["command"])
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return sorted({(pathlib.Path(entry["directory"]) / entry["file"]).resolve() for entry in entries})


def main():
    build, parts = pathlib.Path(sys.argv[1]), sys.argv[2:]
    root = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        # clang-tidy 14 reads no CUDA 13.
        files = [path for path in clang_commands(build, pathlib.Path(folder))
                 if path.suffix != ".cu" and path.is_relative_to(root / "src") or path.is_relative_to(root / "apps")]
        if parts:
            files = [path for path in files if any(part in str(path) for part in parts)]

        def check(path):
            run = subprocess.run(["clang-tidy", "--quiet", "-p", folder, str(path)], capture_output=True, text=True)
            return path, run.returncode, run.stdout, run.stderr

        bad = 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path, status, found, errors in pool.map(check, files):
                if status or found.strip():
                    bad += 1
                    print(f"== {path.relative_to(root)}\n{found.strip() or errors.strip()}", flush=True)
    print(f"clang-tidy: {len(files)} files, {bad} with findings")
    return int(bad > 0 or not files)


if __name__ == "__main__":
    sys.exit(main())
