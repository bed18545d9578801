#!/usr/bin/env python3
"""Runs the tests of a build folder through ctest and ends with the line "N passed, N failed, N skipped".

Usage: run_tests.py BUILD [--long | --without-shared-data] [CTEST-OPTION...]

Tests with the label "long" are left out; with --long only they run.

Skipped tests are named with their reason, failed ones by name after ctest has shown their output. Exit status 1 when a
test failed or none ran. TUTTI_NO_SKIPS=1 makes a skipped test a failure too (CI, where the shared test data is there),
but for those that need another project's program (no set-up installs these for the tests, `make peers` does),
another machine (no set-up adds what a processor lacks) or a model that set-up tried to download and could not.

--without-shared-data follows a run with the shared test data, and gives what a clone without them has: the tests that used
them (tests/support/test_data.h and tools/shared_data.py print that) run again with TUTTI_TEST_DATA naming an absent folder.
The others count as they ended. At most MOST_SKIPPED may be skipped there.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from shared_data import USED

NOT_TO_BE_HAD = ("another program: ", "another machine: ", "another download: ")  # begin the reasons of such skips
LONG = "^long$"  # the label
ABSENT = "absent-shared-data"  # the folder in BUILD that TUTTI_TEST_DATA names and that is not there
MOST_SKIPPED = 60  # of a clone without the shared data
KEPT_OUTPUT = 1 << 20  # bytes of a passed test's output in the report


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


def cases_of(report):
    """The tests of a report of ctest, by name."""
    return {case.get("name"): case for case in ElementTree.parse(report).getroot().iter("testcase")}


def run_ctest(build, report, options, **environment):
    """ctest's exit status, and the tests that it ran by name; none where it left no report."""
    report.unlink(missing_ok=True)
    # Two programs at a time, each with threads of its own: spinning at every operator's end takes the other's core.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    status = subprocess.run(["ctest", "--test-dir", str(build), "--no-tests=error", "-j2", "--output-on-failure",
                             "--test-output-size-passed", str(KEPT_OUTPUT), "--output-junit", str(report), *options],
                            env={**os.environ, **environment}).returncode
    if not report.exists():
        print(f"run_tests: ctest left no report (exit status {status})", file=sys.stderr)
        return status, {}
    return status, cases_of(report)


def numbers_of(build, names):
    """ctest's option that chooses the tests of these names: by number, for hundreds of names are no regular expression."""
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], stdout=subprocess.PIPE, check=True).stdout
    numbers = [str(number) for number, test in enumerate(json.loads(shown)["tests"], start=1) if test["name"] in names]
    return ["-I", ",".join([numbers[0], numbers[0], "1", *numbers[1:]])]


def run_without_shared_data(build, before, options):
    """As run_ctest(), of all tests of the report `before`; only those that used the shared data run again."""
    if not before.exists():
        print(f"run_tests: {before} is not there: run the tests with the shared test data first", file=sys.stderr)
        return 1, {}
    cases = cases_of(before)
    again = {name for name, case in cases.items() if USED in (case.findtext("system-out") or "")}
    print(f"{len(again)} of {len(cases)} tests used the shared test data and run again without", flush=True)
    if not again:
        return 1, {}
    status, without = run_ctest(build, build / "tests-without-shared-data.xml", [*numbers_of(build, again), *options],
                                TUTTI_TEST_DATA=str(build / ABSENT), TUTTI_NO_SKIPS="0")
    if without.keys() != again:
        print("run_tests: not run again: " + ", ".join(sorted(again - without.keys())), file=sys.stderr)
        status = status or 1
    return status, cases | without


def main():
    build, options = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    hides_data = "--without-shared-data" in options
    is_long = "--long" in options
    options = [option for option in options if option not in ("--long", "--without-shared-data")]
    report = build / "tests.xml"
    if hides_data:
        status, found = run_without_shared_data(build, report, options)
    else:
        status, found = run_ctest(build, report, ["-L" if is_long else "-LE", LONG, *options])
    cases = {"passed": [], "failed": [], "skipped": []}
    for case in found.values():
        cases[outcome(case)].append(case)
    for case in cases["skipped"]:
        print(f"skipped: {case.get('name')}: {reason(case)}")
    for case in cases["failed"]:
        print(f"failed: {case.get('name')}")
    missing = [case for case in cases["skipped"] if not reason(case).startswith(NOT_TO_BE_HAD)]
    forbidden = bool(missing) and not hides_data and os.environ.get("TUTTI_NO_SKIPS") == "1"
    if forbidden:
        print("a skipped test is a failure here (TUTTI_NO_SKIPS=1)")
    too_many = hides_data and len(cases["skipped"]) > MOST_SKIPPED
    if too_many:
        print(f"a clone without the shared test data may skip {MOST_SKIPPED} tests at most")
    print(", ".join(f"{len(found)} {name}" for name, found in cases.items()))
    return int(status != 0 or bool(cases["failed"]) or forbidden or too_many)


if __name__ == "__main__":
    sys.exit(main())
