"""Packages of PyPI for tests: installed once into the cache, beside no other program's."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
CACHE = pathlib.Path(os.environ.get("TUTTI_CACHE")
                     or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tutti")


def skip(reason):
    """Ends the program as a test that was left out; tools/run_tests.py reads the reason."""
    print(f"Skipped\n{reason}")
    sys.exit(SKIPPED)


def use(requirements, name):
    """Makes the packages of a requirements.txt importable; their folder in the cache begins with `name`."""
    wanted = requirements.read_bytes()
    folder = CACHE / f"{name}-{hashlib.sha256(wanted + sys.version.encode()).hexdigest()[:12]}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                               "--target", folder, "-r", requirements], capture_output=True, text=True)
        if done.returncode != 0:
            skip(f"another download: PyPI refused the packages of {name}: " + done.stderr.strip().splitlines()[-1])
        (folder / "complete").touch()
    sys.path.insert(0, str(folder))
