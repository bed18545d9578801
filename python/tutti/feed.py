"""Training batches for PyTorch from the feed that `tutti train` has."""
from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import _tutti
from ._parquet import data_of
from ._tensors import Tensors
from .errors import UsageError
from .native import call

CHUNKINGS = ("sequential", "sliding", "random", "refused")
IGNORED = -100  # the label of padding, which PyTorch's cross-entropy leaves out


@dataclasses.dataclass(frozen=True)
class Augment:
    """What changes samples, drawn again in each epoch from seed, epoch and sample. Shares are of the samples, 0 to 1."""

    speed_share: float = 0  # played 0.9 to 1.1 times as fast
    gain_share: float = 0  # -12 to 6 dB
    noise_share: float = 0  # white or pink, at noise_db below the signal
    noise_db: tuple[float, float] = (5, 40)
    room_share: float = 0  # echoes of a simple room
    mask_bands: int = 0  # SpecAugment's bands of bins, each up to 27 wide
    mask_stretches: int = 0  # and stretches of frames, each up to 1 s and a fifth of the sample

    def native(self) -> _tutti.Augmentation:
        made = _tutti.Augmentation()
        for name in ("speed_share", "gain_share", "noise_share", "room_share"):
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise UsageError(f"{name}: expected 0 to 1, found {share}", "usage")
            setattr(made, name, share)
        if self.mask_bands < 0 or self.mask_stretches < 0:
            raise UsageError("mask_bands, mask_stretches: expected 0 or more", "usage")
        made.set_noise_db(*self.noise_db)
        made.set_masks(self.mask_bands, self.mask_stretches)
        return made


@dataclasses.dataclass(frozen=True)
class BadSample:
    """A sample that was left out, and why."""

    id: str
    reason: str


@dataclasses.dataclass
class FeedBatch:
    """A batch of log-mel features. Tensors are torch's, or NumPy's with `tensors="numpy"`."""

    index: int  # 0 for the first batch of the run
    epoch: int
    input_features: Any  # [samples, n_mels, frames] float32; padding is silence
    frames: list[int]  # real frames of each sample
    ids: list[str]
    texts: list[str]
    labels: Any = None  # [samples, tokens] int64, padded by -100; None without a tokenizer
    state: dict[str, Any] = dataclasses.field(default_factory=dict)  # for load_state_dict: goes on behind this batch

    def model_inputs(self) -> dict[str, Any]:
        """What a Whisper model of transformers takes: input_features, and labels where there are some."""
        inputs = {"input_features": self.input_features}
        return inputs if self.labels is None else {**inputs, "labels": self.labels}


class Feed:
    """Batches of log-mel features from a set of recordings with text, in a reproducible random order.

    The batches follow from the set and the arguments, not from `threads` or timing. Bad samples are left out and listed.
    """

    def __init__(
        self,
        data: str | os.PathLike[str],
        *,
        split: str = "",
        batch_size: int = 16,
        batch_seconds: float = 0,
        padding: str = "bucket",
        chunking: str = "sequential",
        augment: Augment | Mapping[str, Any] | None = None,
        epochs: int = 1,
        shuffle: bool = True,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        n_mels: int = 80,
        frame_multiple: int = 2,
        look_ahead: int = 512,
        max_samples: int = 0,
        threads: int = 2,
        read_threads: int = 1,
        ready: int = 2,
        cache: str | os.PathLike[str] | None = None,
        bad_samples: str | os.PathLike[str] | None = None,
        bad_limit: int = 10_000,
        bad_share: float = 0.1,
        tokenizer: Callable[[str], Any] | None = None,
        tensors: str = "torch",
        device: Any = None,
        pin_memory: bool = False,
    ) -> None:
        """Reads nothing yet.

        Args:
          data: A folder, a manifest, or shards, as `tutti train --data` takes it (docs/feed.md). Parquet files with audio
            bytes, as Hugging Face's sets have them, become shards in the cache first; that needs pyarrow.
          split: "train", "validation" or "test" of a set that has them; "": all of it.
          batch_size: Most samples in a batch. batch_seconds: most audio in it, padding included; 0: no limit.
          padding: "bucket": to the longest sample of the batch; "window": to 30 s.
          chunking: How recordings of more than 30 s are cut where the times of their words are known: "sequential",
            "sliding", "random" or "refused" (docs/feed.md).
          augment: What changes the samples, `Augment` or its fields; None: nothing.
          epochs: Of one pass over the feed; 0: without an end.
          rank, world_size: This process takes every world_size-th sample.
          threads: Of each stage that computes. read_threads: files that are waited for at once.
          ready: Finished batches that may wait.
          cache: A folder that keeps features; they are then rounded to half precision.
          bad_samples: A file for their ids and reasons, as JSON lines; None: one that goes with the feed.
          bad_limit, bad_share: So many bad samples, or such a share of 200 and more, end the feed.
          tokenizer: Makes token ids of a text, or an object with `input_ids`, as those of transformers do.
          tensors: "torch" or "numpy", whose arrays speak DLPack; both have the feed's own memory.
          device: Where tensors of torch are put. pin_memory: they are pinned first.
        """
        if padding not in ("bucket", "window"):
            raise UsageError(f"padding: expected bucket or window, found '{padding}'", "usage")
        if chunking not in CHUNKINGS:
            raise UsageError(f"chunking: expected {', '.join(CHUNKINGS)}, found '{chunking}'", "usage")
        self._tensor = Tensors(tensors, device, pin_memory)
        options = _tutti.FeedOptions()
        options.set_chunking(getattr(_tutti.Chunking, chunking))
        options.split, options.max_samples = split, max_samples
        options.seed, options.epochs, options.shuffle = seed, epochs, shuffle
        options.rank, options.ranks = rank, world_size
        options.n_mels, options.frame_multiple = n_mels, frame_multiple
        options.batch_size, options.look_ahead, options.ready = batch_size, look_ahead, ready
        options.set_bad_limits(bad_limit, bad_share)
        options.set_batch_audio(batch_seconds)
        options.set_threads(threads, read_threads)
        if augment is not None:
            options.augmentation = _augment_of(augment).native()
        if cache:
            options.set_cache(os.fspath(cache))
        if padding == "window":
            options.pad_to_window()
        self._data = os.fspath(data)
        self._options, self._epochs, self._tokenizer = options, epochs, tokenizer
        self._bad_samples = os.fspath(bad_samples) if bad_samples else self._own_file()
        options.bad_samples = self._bad_samples
        self._native: _tutti.Feed | None = None
        self._position = b""

    def __iter__(self) -> Iterator[FeedBatch]:
        """The batches that are left of `epochs`. Behind the last one, another pass has those of the next epochs."""
        while (batch := self._draw()) is not None:
            made = self._made(batch)
            self._position = batch.position  # of the batch that the caller has
            yield made
        self.close()
        self._options.epochs += self._epochs

    def inputs(self) -> FeedInputs:
        """The same batches as dicts of what a model takes: a loader for Hugging Face's Trainer."""
        return FeedInputs(self)

    def state_dict(self) -> dict[str, Any]:
        """Where the feed is: behind the batch that was yielded last. A few kilobytes."""
        return {"position": self._position, "epochs": self._options.epochs}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on behind the batch of that state. The set and the arguments have to be those of the state."""
        self.close()
        self._position, self._options.epochs = position_of(state)

    @property
    def samples_per_epoch(self) -> int:
        """Of this rank, bad ones included."""
        return self._open().samples_per_epoch()

    @property
    def bad_samples(self) -> list[BadSample]:
        """The bad samples found so far, each once."""
        try:
            with open(self._bad_samples, encoding="utf-8", errors="replace") as lines:
                found = [json.loads(line) for line in lines if line.endswith("\n")]
        except FileNotFoundError:
            return []
        return [BadSample(sample["id"], sample["reason"]) for sample in found]

    def close(self) -> None:
        """Ends the feed's threads; the next use starts them again, behind the last batch."""
        if self._native is not None:
            self._native.close()
            self._native = None

    def _own_file(self) -> str:
        folder = tempfile.TemporaryDirectory(prefix="tutti-feed-")
        weakref.finalize(self, folder.cleanup)
        return os.path.join(folder.name, "bad_samples.jsonl")

    def _open(self) -> _tutti.Feed:
        if self._native is None:
            self._options.data = data_of(self._data)
            self._options.set_resume(self._position)
            self._native = call(_tutti.Feed.open, self._options)
            weakref.finalize(self, self._native.close)
        return self._native

    def _draw(self) -> _tutti.Batch | None:
        return call(self._open().next)

    def _made(self, batch: _tutti.Batch) -> FeedBatch:
        texts = [sample.text for sample in batch.samples]
        return FeedBatch(index=batch.index, epoch=batch.epoch, input_features=self._tensor(batch.features()),
                         frames=[sample.frames for sample in batch.samples], ids=[sample.id for sample in batch.samples],
                         texts=texts, labels=self._labels(texts),
                         state={"position": batch.position, "epochs": self._options.epochs})

    def _labels(self, texts: list[str]) -> Any:
        if self._tokenizer is None:
            return None
        import numpy as np

        tokens = [_ids(self._tokenizer(text)) for text in texts]
        labels = np.full((len(tokens), max(map(len, tokens), default=0)), IGNORED, np.int64)
        for row, ids in zip(labels, tokens, strict=True):
            row[: len(ids)] = ids
        return self._tensor(labels)


class FeedInputs:
    """A feed whose batches are dicts. Position and bad samples are the feed's."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (batch.model_inputs() for batch in self.feed)

    def state_dict(self) -> dict[str, Any]:
        return self.feed.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.feed.load_state_dict(state)


def position_of(state: Mapping[str, Any]) -> tuple[bytes, int]:
    """Position and epochs of a state_dict."""
    position, epochs = state.get("position"), state.get("epochs")
    if not isinstance(position, bytes) or not isinstance(epochs, int):
        raise UsageError("state: expected what state_dict returns, position and epochs, found " +
                         (", ".join(map(str, state)) or "nothing"), "usage")
    return position, epochs


def _augment_of(augment: Augment | Mapping[str, Any]) -> Augment:
    if isinstance(augment, Augment):
        return augment
    known = [field.name for field in dataclasses.fields(Augment)]
    for name in augment:
        if name not in known:
            raise UsageError(f"augment: expected {', '.join(known)}, found '{name}'", "usage")
    return Augment(**augment)


def _ids(tokens: Any) -> list[int]:
    return list(getattr(tokens, "input_ids", tokens))
