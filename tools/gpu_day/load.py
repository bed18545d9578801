"""The loads that travel to the card's machine with the tree: `pack` makes them here, `unpack` opens them there.

Each load is a folder that git ignores, so that load and tree together stay below what a call may carry. The first one has the
programs, the system libraries that the other machine may lack, recordings with their true texts and the small files of the model.
The weights are cut into chunks, compressed one by one, and shared out over all loads by size.
"""
import concurrent.futures
import hashlib
import io
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

from machine import PROGRAMS, ROOT, Skip, figure, note

sys.path.insert(0, str(ROOT / "tools"))
from shared_data import shared_data

LIMIT = 64 << 20  # a call's tree and load together
MARGIN = 1 << 19
FILE_OVERHEAD = 1536  # of an archive, for each file: its header, and what fills its last block
CHUNKS = 24
MOST_LOADS = 8
# What a reciting model of any size takes over from tiny.en (bench/peers/reciting.py).
RECITING = ("config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json")
# Sixteen-bit numbers: what a byte is depends on whether it is the upper or the lower one.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 3, "lp": 1, "pb": 1}]
# Part of every Linux that has torch, or of the toolkit, or of torch itself.
NOT_CARRIED = ("libc.so", "libm.so", "libstdc++", "libgcc_s", "ld-linux", "libtorch", "libc10", "libcud", "libcu", "libnv", "libdl.so",
               "libpthread", "librt.so", "linux-vdso")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def tree_bytes():
    """What a call carries of the working tree: tracked files, and untracked ones that git does not ignore."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=True).stdout
    files = {ROOT / os.fsdecode(name) for name in listed.split(b"\0") if name}
    return sum(path.lstat().st_size + FILE_OVERHEAD for path in files if path.is_file())


def ignore(pattern):
    """Adds a pattern to git's own list of what to leave out."""
    git = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--git-path", "info/exclude"], capture_output=True, text=True, check=True)
    path = ROOT / git.stdout.strip()
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.read_text().splitlines() if path.exists() else []
    if pattern not in lines:
        path.write_text("\n".join([*lines, pattern]) + "\n")


def libraries_of(programs):
    """name: path of the system's libraries that the programs need."""
    found = {}
    for program in programs:
        text = subprocess.run(["ldd", str(program)], capture_output=True, text=True).stdout
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 3 and words[1] == "=>" and words[2].startswith("/") and not words[0].startswith(NOT_CARRIED):
                found[words[0]] = pathlib.Path(words[2]).resolve()
    return {name: path for name, path in found.items() if "torch" not in str(path) and "cuda" not in str(path)}


def pack_clips(source, folder, every):
    """Every so many of the clips LJ003-* in LJSpeech's layout at 16 kHz: the other machine may have no library to resample."""
    (folder / "wavs").mkdir(parents=True)
    lines = [line for line in (source / "metadata.csv").read_text().splitlines() if line.startswith("LJ003-")][::every]
    for name in (line.split("|")[0] for line in lines):
        into = folder / "wavs" / f"{name}.flac"
        if shutil.which("ffmpeg"):
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", source / "wavs" / f"{name}.flac", "-ar", "16000",
                            "-compression_level", "12", into], check=True)
        else:
            shutil.copy(source / "wavs" / f"{name}.flac", into)
    (folder / "metadata.csv").write_text("\n".join(lines) + "\n")
    return len(lines)


def chunks_of(weights):
    """The weights in compressed pieces. They are kept for the next --pack, for they cost half a minute and never change."""
    kept = pathlib.Path(os.environ.get("TUTTI_CACHE") or pathlib.Path.home() / ".cache/tutti") / "gpu-day"
    kept.mkdir(parents=True, exist_ok=True)
    step = -(-len(weights) // CHUNKS)
    step += step % 2

    def compress(part):
        path = kept / f"{sha256(part)}.xz"
        if not path.exists():
            staged = path.with_suffix(f".{os.getpid()}")
            staged.write_bytes(lzma.compress(part, lzma.FORMAT_XZ, filters=FILTERS))
            staged.rename(path)
        return path.read_bytes()

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compress, [weights[at:at + step] for at in range(0, len(weights), step)]))


def shared_out(programs, chunks, loads):
    """Which chunks go into which load, a chunk at a time to the one that is smallest so far, and the size of the largest."""
    sizes, shares = [programs] + [0] * (loads - 1), [[] for _ in range(loads)]
    for number, chunk in enumerate(chunks):
        smallest = sizes.index(min(sizes))
        shares[smallest].append(number)
        sizes[smallest] += len(chunk)
    return shares, max(sizes)


def pack(given):
    """Makes the loads; prints their sizes. `given`: --bin, --model, --data, --loads, --clips-every."""
    binaries = pathlib.Path(given.bin or ROOT / "build/bin")
    model = pathlib.Path(given.model or pathlib.Path.home() / ".cache/tutti/fetched/openai--whisper-tiny.en")
    data = pathlib.Path(given.data or shared_data()) / "speech/lj"
    missing = [str(path) for path in [*(binaries / name for name in PROGRAMS), model / "model.bin", data / "metadata.csv"] if not path.exists()]
    if missing:
        print("not packed, for these are missing: " + ", ".join(missing))
        return 1
    ignore("/gpu-load-*/")
    into = pathlib.Path(given.into or ROOT)
    tree = tree_bytes()
    with tempfile.TemporaryDirectory() as made:
        made = pathlib.Path(made)
        for folder in ("bin", "lib", "model"):
            (made / folder).mkdir()
        for name in PROGRAMS:
            subprocess.run(["strip", "-o", made / "bin" / name, binaries / name], check=True)
        for name, path in libraries_of(binaries / name for name in PROGRAMS).items():
            shutil.copy(path, made / "lib" / name)
        clips = pack_clips(data, made / "clips", given.clips_every)
        for path in model.iterdir():
            if path.is_file() and path.name != "model.bin":
                shutil.copy(path, made / "model" / path.name)
        (made / "reciting").mkdir()
        for path in (data.parent.parent / "whisper-tiny.en" / name for name in RECITING):
            if path.exists():
                shutil.copy(path, made / "reciting" / path.name)
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:xz", preset=6) as tar:
            tar.add(made, arcname=".")
        programs = packed.getvalue()
        libraries = sorted(path.name for path in (made / "lib").iterdir())
    weights = (model / "model.bin").read_bytes()
    chunks = chunks_of(weights)
    # As few loads as each fit beside the tree, unless so many are asked for.
    for loads in [given.loads] if given.loads else range(2, MOST_LOADS + 1):
        shares, largest = shared_out(len(programs), chunks, loads)
        if largest + tree <= LIMIT - MARGIN:
            break
    version = subprocess.run([binaries / "tutti", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    about = {"programs": version, "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "loads": loads, "clips": clips,
             "libraries": libraries, "programs_sha256": sha256(programs),
             "weights": {"bytes": len(weights), "sha256": sha256(weights), "chunks": [sha256(chunk) for chunk in chunks]}}
    for old in into.glob("gpu-load-*"):
        shutil.rmtree(old)
    for number in range(loads):
        folder = into / f"gpu-load-{number + 1}"
        folder.mkdir(parents=True)
        if number == 0:
            (folder / "programs.tar.xz").write_bytes(programs)
        for chunk in shares[number]:
            (folder / f"weights-{chunk:02}.xz").write_bytes(chunks[chunk])
        (folder / "load.json").write_text(json.dumps({**about, "load": number + 1}, indent=1))
        whole = tree + sum(path.stat().st_size for path in folder.iterdir())
        print(f"{folder}: {(whole - tree) / 2**20:.1f} MiB, with the tree {whole / 2**20:.1f} of 64 MiB"
              + ("" if whole <= LIMIT - MARGIN else ": too large. Try --clips-every 8"))
    print(f"programs: {version}; {clips} clips, libraries {', '.join(libraries)}")
    return 1 if largest + tree > LIMIT - MARGIN else 0


def unpack(machine, folders):
    """Opens the loads found in `folders` into the scratch folder, which survives between calls."""
    found = [pathlib.Path(folder) for folder in folders if (pathlib.Path(folder) / "load.json").exists()]
    if not folders:
        raise Skip("no load was named (--load gpu-load-1): programs, model and clips of this machine are used")
    if not found:
        raise RuntimeError(f"no load.json in {', '.join(map(str, folders))}")
    about = {}
    for folder in found:
        about = json.loads((folder / "load.json").read_text())
        if (folder / "programs.tar.xz").exists():
            unpack_programs(machine, folder / "programs.tar.xz", about)
    mark = machine.load / "unpacked"
    if mark.exists() and mark.read_text() != about["programs_sha256"]:
        shutil.rmtree(machine.load)
        raise RuntimeError(f"the programs here came with another load than {found[-1].name} ({about['programs']}): bring its gpu-load-1 first")
    join_weights(machine, found, about)
    figure("loads", ", ".join(folder.name for folder in found))
    figure("programs", about["programs"])


def unpack_programs(machine, archive, about):
    mark = machine.load / "unpacked"
    if mark.exists() and mark.read_text() == about["programs_sha256"]:
        return note("programs were unpacked before")
    data = archive.read_bytes()
    if sha256(data) != about["programs_sha256"]:
        shutil.rmtree(machine.load, ignore_errors=True)  # older programs must not pass for these
        raise RuntimeError(f"{archive}: damaged")
    for folder in (machine.load, machine.scratch / "missing"):
        shutil.rmtree(folder, ignore_errors=True)
    machine.load.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:xz") as tar:
        tar.extractall(machine.load)
    mark.write_text(about["programs_sha256"])


def join_weights(machine, folders, about):
    weights = about["weights"]
    model = machine.scratch / "model"
    if (model / "model.bin").exists() and (model / "sha256").read_text() == weights["sha256"]:
        return note("the weights were joined before")
    parts = machine.scratch / "chunks"
    parts.mkdir(parents=True, exist_ok=True)
    wanted = [parts / sum_ for sum_ in weights["chunks"]]

    def open_chunk(path):
        data = path.read_bytes()
        if sha256(data) in weights["chunks"] and not (parts / sha256(data)).exists():
            staged = parts / f"{path.name}.part"
            staged.write_bytes(lzma.decompress(data))
            staged.rename(parts / sha256(data))

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(open_chunk, sorted(path for folder in folders for path in folder.glob("weights-*.xz"))))
    there = [path for path in wanted if path.exists()]
    figure("weights", f"{len(there)} of {len(wanted)} chunks")
    if len(there) < len(wanted) or not (machine.load / "model").exists():
        brought = {folder.name for folder in folders}
        others = [name for name in (f"gpu-load-{number + 1}" for number in range(about["loads"])) if name not in brought]
        return note(f"the weights are not whole yet: they came in {about['loads']} loads; not in this call: {', '.join(others)}")
    whole = b"".join(path.read_bytes() for path in wanted)
    if sha256(whole) != weights["sha256"]:
        raise RuntimeError("the joined weights have another checksum than those that were packed")
    staged = machine.scratch / "model.staged"
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(machine.load / "model", staged)
    (staged / "model.bin").write_bytes(whole)
    (staged / "sha256").write_text(weights["sha256"])
    shutil.rmtree(model, ignore_errors=True)
    staged.rename(model)
    shutil.rmtree(parts)
