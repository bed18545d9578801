#!/usr/bin/env python3
"""Fetches libtorch and the CUDA libraries it loads into a cache outside the tree.

Usage: fetch_libtorch.py [--print]

Puts everything under $TUTTI_CACHE (default ~/.cache/tutti)/libtorch-2.11.0+cu130: include/ and lib/, the latter with those
CUDA libraries that the toolkit on this machine lacks (without a toolkit, the two that even CPU code loads). A wheel is
downloaded once with pip, checked against tools/wheels.sha256, unpacked beside the final folder and moved into place; the
file `complete` comes last, so an interrupted run leaves nothing half done and the next one goes on with what is missing.
`--print` only prints the folder. Needs Python 3 and pip at set-up time; nothing of Python is used at run time.
"""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

VERSION = "2.11.0+cu130"
TORCH = ["--python-version", "3.11", "torch==2.11.0"]
# (requirement, soname that a toolkit may already have)
FOR_LIBTORCH_CPU = [
    ("nvidia-cuda-runtime==13.0.96", "libcudart.so.13"),
    ("nvidia-cuda-cupti==13.0.85", "libcupti.so.13"),
]
FOR_LIBTORCH_CUDA = [
    ("nvidia-cudnn-cu13==9.19.0.56", "libcudnn.so.9"),
    ("nvidia-nccl-cu13==2.28.9", "libnccl.so.2"),
    ("nvidia-cusparselt-cu13==0.8.0", "libcusparseLt.so.0"),
    ("nvidia-nvshmem-cu13==3.4.5", "libnvshmem_host.so.3"),
    ("nvidia-cufile==1.15.1.6", "libcufile.so.0"),
]
PLATFORMS = ["2014", "_2_17", "_2_18", "_2_25", "_2_27", "_2_28"]  # glibc versions; pip matches a platform tag literally
ROOM_NEEDED = 3 << 30  # bytes free while a wheel and what is in it lie side by side
LOCK = pathlib.Path(__file__).with_name("wheels.sha256")


def cache_folder():
    base = os.environ.get("TUTTI_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "tutti")
    return pathlib.Path(base).expanduser() / f"libtorch-{VERSION}"


def stop(text):
    sys.exit(f"fetch_libtorch: {text}")


def sha256(path):
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def download(requirement, folder):
    """The one wheel pip saved for `requirement` (pip's own words), after its checksum held."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--only-binary=:all:", "--implementation", "cp", "-d", str(folder)]
    command += [word for glibc in PLATFORMS for word in ("--platform", f"manylinux{glibc}_x86_64")] + requirement
    if subprocess.run(command).returncode:
        stop(f"pip could not download {requirement[-1]} (its reason stands above). What is complete is kept: run again.")
    (wheel,) = folder.glob("*.whl")
    known = dict(reversed(line.split()) for line in LOCK.read_text().splitlines() if line.strip())
    found = sha256(wheel)
    if found != known.get(wheel.name):
        stop(f"{wheel.name}: SHA-256 is {found}, tools/wheels.sha256 has {known.get(wheel.name)}. Nothing of it was "
             "installed. Run again; if it stays so, the registry serves another file.")
    return wheel


def unpack(wheel, into, keep):
    """Unpacks members whose path `keep` maps to a path under `into` (None leaves one out)."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            target = keep(member.filename)
            if target is None or member.is_dir():
                continue
            path = into / target
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, path.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
    wheel.unlink()


def torch_member(name):
    python_only = ("torch/lib/libtorch_python.so", "torch/lib/libshm")
    if name.startswith(python_only) or not name.startswith(("torch/lib/", "torch/include/")):
        return None
    return name.removeprefix("torch/")


def nvidia_member(name):
    parts = name.split("/")
    return f"lib/{parts[-1]}" if parts[0] == "nvidia" and "lib" in parts and ".so" in parts[-1] else None


def toolkit_has(soname):
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return any((pathlib.Path(home) / lib / soname).exists() for lib in ("lib64", "lib"))


def missing(folder):
    """Requirements whose library neither the toolkit nor `folder` has. Without a CUDA 13 toolkit only CPU code is built."""
    wanted = FOR_LIBTORCH_CPU + (FOR_LIBTORCH_CUDA if toolkit_has("libcublas.so.13") else [])
    return [name for name, soname in wanted if not toolkit_has(soname) and not (folder / "lib" / soname).exists()]


def check_means(folder):
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        stop(f"{sys.executable} has no pip, which downloads libtorch. Install it (Debian: apt-get install python3-pip).")
    free = shutil.disk_usage(folder).free
    if free < ROOM_NEEDED:
        stop(f"{folder}: {free >> 20} MB free, {ROOM_NEEDED >> 20} MB needed. Free some, or set TUTTI_CACHE to another disk.")


def fetch(final):
    """Fills `final` with what is missing. The caller holds the lock of the cache."""
    staging = final.with_name(final.name + ".staging")

    def bring(requirement, keep):
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        unpack(download(requirement, staging), staging, keep)

    if not (final / "lib" / "libtorch_cpu.so").exists():  # came with one rename, so it is all there or not at all
        print(f"fetch_libtorch: libtorch {VERSION} into {final} (530 MB to download, 1 GB on disk)", flush=True)
        bring(TORCH, torch_member)
        staging.rename(final)
    for requirement in missing(final):
        print(f"fetch_libtorch: {requirement}", flush=True)
        bring([requirement], nvidia_member)
        for library in (staging / "lib").iterdir():
            library.replace(final / "lib" / library.name)
    shutil.rmtree(staging, ignore_errors=True)
    (final / "complete").write_text(VERSION + "\n")


def main():
    final = cache_folder()
    if "--print" in sys.argv:
        print(final)
        return
    if (final / "complete").exists() and not missing(final):
        return
    final.parent.mkdir(parents=True, exist_ok=True)
    check_means(final.parent)
    with (final.parent / "libtorch.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetch(final)
    if not toolkit_has("libcublas.so.13"):
        print("fetch_libtorch: no CUDA 13 toolkit here: builds are for the CPU. For GPUs install one and run this again.")


if __name__ == "__main__":
    main()
