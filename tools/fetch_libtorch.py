#!/usr/bin/env python3
"""Fetches libtorch and the CUDA libraries it loads into a cache outside the tree.

Usage: fetch_libtorch.py [--print]

Puts everything under $TUTTI_CACHE (default ~/.cache/tutti)/libtorch-2.11.0+cu130: include/, lib/ and, for what the CUDA
toolkit on this machine lacks, nvidia/. A wheel is downloaded once with pip, checked against its SHA-256 below, unpacked
beside the final folder and renamed into place, so an interrupted run leaves nothing half done. `--print` only prints the
folder. Needs Python 3 and pip at set-up time; nothing of Python is used at run time.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

VERSION = "2.11.0+cu130"
TORCH = ("torch==2.11.0", "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a", ["--python-version", "3.11"])
# What libtorch_cpu and libtorch_cuda load beside the toolkit. (requirement, soname a toolkit may already have)
NVIDIA = [
    ("nvidia-cuda-runtime==13.0.96", "libcudart.so.13"),
    ("nvidia-cuda-cupti==13.0.85", "libcupti.so.13"),
    ("nvidia-cusparselt-cu13==0.8.0", "libcusparseLt.so.0"),
    ("nvidia-nvshmem-cu13==3.4.5", "libnvshmem_host.so.3"),
    ("nvidia-cufile==1.15.1.6", "libcufile.so.0"),
]
LOCK = pathlib.Path(__file__).with_name("wheels.sha256")


def cache_folder():
    base = os.environ.get("TUTTI_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "tutti")
    return pathlib.Path(base).expanduser() / f"libtorch-{VERSION}"


def known_hashes():
    return dict(reversed(line.split()) for line in LOCK.read_text().splitlines() if line.strip())


def download(requirement, folder, options=()):
    """The one wheel pip saved for `requirement`, after its checksum held."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--only-binary=:all:", "--implementation", "cp", "-d", str(folder), *options, requirement]
    for glibc in ("2014", "_2_17", "_2_25", "_2_27", "_2_28"):  # pip matches a platform tag literally
        command += ["--platform", f"manylinux{glibc}_x86_64"]
    subprocess.run(command, check=True)
    wheel = max(folder.glob("*.whl"), key=lambda path: path.stat().st_mtime)
    digest = hashlib.sha256()
    with wheel.open("rb") as stream:
        while block := stream.read(1 << 22):
            digest.update(block)
    expected = known_hashes().get(wheel.name)
    if digest.hexdigest() != expected:
        sys.exit(f"fetch_libtorch: {wheel.name}: SHA-256 is {digest.hexdigest()}, tools/wheels.sha256 says {expected}. "
                 "Nothing was installed. Delete the download and try again; if it stays, the registry serves another file.")
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


def main():
    final = cache_folder()
    if "--print" in sys.argv:
        print(final)
        return
    if (final / "complete").exists():
        return
    print(f"fetch_libtorch: {VERSION} into {final} (about 530 MB to download, 1 GB on disk)", flush=True)
    staging = final.with_name(final.name + f".staging-{os.getpid()}")
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    unpack(download(TORCH[0], staging, TORCH[2]), staging, torch_member)
    for requirement, soname in NVIDIA:
        if not toolkit_has(soname):
            unpack(download(requirement, staging), staging, nvidia_member)
    (staging / "complete").write_text(VERSION + "\n")
    shutil.rmtree(final, ignore_errors=True)
    staging.rename(final)


if __name__ == "__main__":
    main()
