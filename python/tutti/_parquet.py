"""Parquet files with audio bytes, as Hugging Face's sets have them, as shards that the feed reads."""
from __future__ import annotations

import hashlib
import io
import json
import math
import os
import pathlib
import shutil
import tarfile
import tempfile
from typing import Any

from .errors import CorruptError, MissingError

ENDING = ".parquet"
TEXTS = ("text", "transcript", "transcription", "sentence", "normalized_text")
ROWS = 64  # of a file that are read at once
MARKS = {b"RIFF": "wav", b"fLaC": "flac", b"OggS": "ogg", b"FORM": "aiff"}  # what files begin with; others are MP3


def data_of(data: str) -> str:
    """`data` itself; or where it is a Parquet file or a folder of them, a folder of shards with their samples.

    The shards are written once into the cache's folder `parquet`, so that samples are read in any order and a training goes on
    exactly; other content of the files, other shards. `tutti train` takes that folder, too.
    """
    path = pathlib.Path(data)
    files = [path] if path.suffix == ENDING and path.is_file() else _files_in(path) or _files_in(path / "data")
    if not files:
        return data
    stamps = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    folder = _cache() / "parquet" / hashlib.sha256(repr(stamps).encode()).hexdigest()[:32]
    if not folder.exists():
        _write_whole(files, folder)
    return str(folder)


def _files_in(folder: pathlib.Path) -> list[pathlib.Path]:
    """Those of Hugging Face's sets are in the folder `data`."""
    return sorted(folder.glob("*" + ENDING)) if folder.is_dir() else []


def _cache() -> pathlib.Path:
    """As the command line finds it."""
    own, shared = os.environ.get("TUTTI_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return pathlib.Path(own) if own else (pathlib.Path(shared) if shared else pathlib.Path.home() / ".cache") / "tutti"


def _write_whole(files: list[pathlib.Path], folder: pathlib.Path) -> None:
    """The folder appears with all of its shards; of several processes one's are kept."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    half = pathlib.Path(tempfile.mkdtemp(prefix=folder.name + ".", dir=folder.parent))
    try:
        for at, file in enumerate(files):
            _write_shard(file, half / (file.stem if len({one.stem for one in files}) == len(files) else f"{at:05}-{file.stem}"))
        try:
            half.rename(folder)
        except OSError:
            if not folder.exists():
                raise
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _write_shard(file: pathlib.Path, stem: pathlib.Path) -> None:
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingError(f"{file}: Parquet is read by pyarrow, found none. Install it: pip install pyarrow", "missing") from None
    row = 0
    with tarfile.open(f"{stem}.tar", "w") as tar:
        for batch in ParquetFile(file).iter_batches(batch_size=ROWS):
            for record in batch.to_pylist():
                _add(tar, f"{row:08}", record, file)
                row += 1


def _add(tar: tarfile.TarFile, key: str, record: dict[str, Any], file: pathlib.Path) -> None:
    """A sample's files. Without audio bytes it has a text alone, which the feed lists as a bad sample."""
    audio = next((value for value in record.values() if isinstance(value, dict) and "bytes" in value), None)
    if audio is None:
        raise CorruptError(f"{file}: expected a column of audio, {{bytes, path}}, found {', '.join(record)}", "corrupt")
    content = audio["bytes"]
    if content:
        _put(tar, f"{key}.{MARKS.get(content[:4], 'mp3')}", content)
    plain = {name: value for name, value in record.items()
             if isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))}
    text = next((plain[name] for name in TEXTS if isinstance(plain.get(name), str)), None)
    if text is not None:
        plain["text"] = text
    _put(tar, f"{key}.json", json.dumps(plain).encode())


def _put(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))
