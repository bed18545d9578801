#!/usr/bin/env python3
"""Fails when tests/data is too large, when THIRD_PARTY.md does not name source and licence of a file in it, or when a test looks for
the shared test data by a path of its own: the helpers honour TUTTI_TEST_DATA and say that the test used them.

Usage: check_data.py [ROOT]. A row of THIRD_PARTY.md names files in its first column: paths or patterns below ROOT, separated by commas;
one that ends in / means everything below. Also fails when a row that begins with tests/data names no file.
"""
import fnmatch
import pathlib
import re
import sys

MOST_BYTES = 9_100_000  # 6 MB of small copies beside 2.9 MB of reference values, and 0.1 MB of texts that are read aloud

SHARED = re.compile(r'\.\./shared\b|"shared/data\b')
FINDS_SHARED = ("tests/support/test_data.h", "tests/fuzz/CMakeLists.txt", "tools/shared_data.py", "tools/check_data.py",
                "tests/tools/tools_test.py")


def rows(table):
    """(patterns, source, licence) of every row about tests/data."""
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| tests/data/"):
            yield [name.strip() for name in cells[0].split(",")], *(cells[1:3] + ["", ""])[:2]


def matches(path, pattern):
    return fnmatch.fnmatchcase(path, pattern + "*" if pattern.endswith("/") else pattern)


def problems(root):
    files = {path.relative_to(root).as_posix(): path.stat().st_size for path in sorted((root / "tests/data").rglob("*")) if path.is_file()}
    if not files:
        yield f"{root}/tests/data: expected files, found none"
    total = sum(files.values())
    if total > MOST_BYTES:
        largest = ", ".join(sorted(files, key=files.get)[-3:])
        yield f"tests/data: at most {MOST_BYTES} bytes are allowed, found {total}; the largest files: {largest}"
    found = list(rows((root / "THIRD_PARTY.md").read_text()))
    for patterns, source, licence in found:
        if not source or not licence:
            yield f"THIRD_PARTY.md: the row of {', '.join(patterns)}: expected a source and a licence"
        for pattern in patterns:
            if not any(matches(path, pattern) for path in files):
                yield f"THIRD_PARTY.md: {pattern}: no such file. Remove the row or mend the name"
    known = [pattern for patterns, source, licence in found for pattern in patterns]
    for path in files:
        if pathlib.PurePath(path).name != "README.md" and not any(matches(path, pattern) for pattern in known):
            yield f"{path}: no row of THIRD_PARTY.md names it. Add one with its source and licence"
    for path in sorted(path for folder in ("tests", "tools") for path in (root / folder).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".cpp", ".py", ".txt") or name in FINDS_SHARED or name.startswith("tests/data/"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            if SHARED.search(line) and not line.lstrip().startswith(("//", "#")):
                yield f"{name}:{number}: it looks for the shared test data itself. Use test_data() (C++) or shared_data() (Python)"


def main():
    found = list(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "the test data is small, and its licences are known")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
