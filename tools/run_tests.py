#!/usr/bin/env python3
"""Runs the tests of a build folder through ctest and ends with the line "N passed, N failed, N skipped".

Usage: run_tests.py BUILD [--long] [CTEST-OPTION...]

Tests with the label "long" are left out; with --long only they run.

Skipped tests are named with their reason, failed ones by name after ctest has shown their output. Exit status 1 when a
test failed or none ran. TUTTI_NO_SKIPS=1 makes a skipped test a failure too (CI, where the shared test data is there),
but for those that need another project's program (no set-up installs these for the tests, `make peers` does),
another machine (no set-up adds what a processor lacks) or a model that set-up tried to download and could not.
"""
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

NOT_TO_BE_HAD = ("another program: ", "another machine: ", "another download: ")  # begin the reasons of such skips
LONG = "^long$"  # the label


def outcome(case):
    """'passed', 'skipped' or 'failed'. A test whose program is missing counts as failed: ctest calls it not run."""
    if case.get("status") == "run" and case.find("failure") is None:
        return "passed"
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "failed"


def reason(case):
    """The text behind a skip as gtest prints it: the line after file:line: Skipped."""
    output = case.findtext("system-out") or ""
    found = re.search(r"Skipped\n(.+)", output)
    return found.group(1).strip() if found else "no reason given"


def main():
    build, options = pathlib.Path(sys.argv[1]), sys.argv[2:]
    length = ["-LE", LONG]
    if "--long" in options:
        options.remove("--long")
        length = ["-L", LONG]
    report = (build / "tests.xml").resolve()
    report.unlink(missing_ok=True)
    # Two programs at a time, each with threads of its own: spinning at every operator's end takes the other's core.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    status = subprocess.run(["ctest", "--test-dir", str(build), "--no-tests=error", "-j2", "--output-on-failure",
                             "--output-junit", str(report), *length, *options]).returncode
    if not report.exists():
        print(f"run_tests: ctest left no report (exit status {status})", file=sys.stderr)
        return 1
    cases = {"passed": [], "failed": [], "skipped": []}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        cases[outcome(case)].append(case)
    for case in cases["skipped"]:
        print(f"skipped: {case.get('name')}: {reason(case)}")
    for case in cases["failed"]:
        print(f"failed: {case.get('name')}")
    missing = [case for case in cases["skipped"] if not reason(case).startswith(NOT_TO_BE_HAD)]
    forbidden = bool(missing) and os.environ.get("TUTTI_NO_SKIPS") == "1"
    if forbidden:
        print("a skipped test is a failure here (TUTTI_NO_SKIPS=1)")
    print(", ".join(f"{len(found)} {name}" for name, found in cases.items()))
    return int(status != 0 or bool(cases["failed"]) or forbidden)


if __name__ == "__main__":
    sys.exit(main())
