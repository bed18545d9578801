"""The folder of shared test data, for the scripts of tools/, bench/ and tests/. tests/support/test_data.h is the same for C++."""
import os
import pathlib

USED = "uses the shared test data: "  # begins the line by which tools/run_tests.py knows a test that would differ without them


def shared_data():
    """$TUTTI_TEST_DATA, else ../shared/data beside the project, whether it is there or not. Prints one line where it is."""
    folder = pathlib.Path(os.environ.get("TUTTI_TEST_DATA") or pathlib.Path(__file__).resolve().parents[2] / "shared/data")
    if folder.is_dir():
        print(f"{USED}{folder}", flush=True)
    return folder
