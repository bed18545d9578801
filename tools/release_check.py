#!/usr/bin/env python3
"""Compares the version of everything that is released: one version everywhere, or a line for each difference.

Usage: release_check.py BUILD DIST. BUILD has the programs, DIST the wheel, the Debian packages and the archive.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def first(pattern, path):
    found = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    return found.group(1) if found else "none"


def ids(build):
    """The build ids that both programs print: version, commit and sources."""
    shown = subprocess.run([build / "bin/tutti", "--version"], capture_output=True, text=True, check=False).stdout
    return [line.split(" ", 1)[1] for line in shown.splitlines()]


def main():
    build, dist = map(pathlib.Path, sys.argv[1:3])
    version = first(r"^project\(tutti VERSION (\S+)", "CMakeLists.txt")
    found = {"CHANGELOG.md": first(r"^## (\S+)", "CHANGELOG.md"),
             "python/pyproject.toml": first(r'^version = "(.+)"', "python/pyproject.toml")}
    programs = ids(build)
    faults = [] if len(programs) == 2 and programs[0] == programs[1] else [f"tutti --version: two equal builds, found {programs}"]
    found |= {f"tutti --version, line {at}": text.split(" ")[0] for at, text in enumerate(programs, 1)}
    faults += [f"{name}: expected {version}, found {other}" for name, other in found.items() if other != version]
    for pattern in (f"tutti-{version}-*.whl", f"tutti_{version}-1_amd64.deb", f"tutti-engine_{version}-1_amd64.deb",
                    f"tutti-{version}-linux-x86_64.tar.gz"):
        if len(list(dist.glob(pattern))) != 1:
            faults.append(f"{dist}: expected one {pattern}, found {len(list(dist.glob(pattern)))}")
    for fault in faults:
        print(f"release_check: {fault}", file=sys.stderr)
    if not faults:
        print(f"release {programs[0]}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
