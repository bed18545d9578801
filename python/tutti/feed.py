"""Training batches for PyTorch from the feed that `tutti train` has."""
from __future__ import annotations

import dataclasses
import os
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from . import _tutti
from .errors import UsageError
from .native import call

IGNORED = -100  # the label of padding, which PyTorch's cross-entropy leaves out


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

    def model_inputs(self) -> dict[str, Any]:
        """What a Whisper model of transformers takes: input_features, and labels where there are some."""
        inputs = {"input_features": self.input_features}
        return inputs if self.labels is None else {**inputs, "labels": self.labels}


class Feed:
    """Batches of log-mel features from a set of recordings with text, in a reproducible random order.

    The batches follow from the set and the arguments, not from `threads` or timing. Bad samples are left out and counted.
    """

    def __init__(
        self,
        data: str | os.PathLike[str],
        *,
        split: str = "",
        batch_size: int = 16,
        batch_seconds: float = 0,
        padding: str = "bucket",
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
        ready: int = 2,
        bad_samples: str | os.PathLike[str] | None = None,
        tokenizer: Callable[[str], Any] | None = None,
        tensors: str = "torch",
        device: Any = None,
        pin_memory: bool = False,
    ) -> None:
        """Reads nothing yet.

        Args:
          data: A folder or a manifest, as `tutti train --data` takes it.
          batch_size: Most samples in a batch. batch_seconds: most audio in it, padding included; 0: no limit.
          padding: "bucket": to the longest sample of the batch; "window": to 30 s.
          epochs: Of one pass over the feed; 0: without an end.
          rank, world_size: This process takes every world_size-th sample.
          threads: Of each stage that computes.
          ready: Finished batches that may wait.
          bad_samples: A file for their ids and reasons, as JSON lines.
          tokenizer: Makes token ids of a text, or an object with `input_ids`, as those of transformers do.
          tensors: "torch" or "numpy"; both have the feed's own memory.
          device: Where tensors of torch are put. pin_memory: they are pinned first.
        """
        if padding not in ("bucket", "window"):
            raise UsageError(f"padding: expected bucket or window, found '{padding}'", "usage")
        if tensors not in ("torch", "numpy"):
            raise UsageError(f"tensors: expected torch or numpy, found '{tensors}'", "usage")
        if tensors == "numpy" and (device is not None or pin_memory):
            raise UsageError("device, pin_memory: expected none with tensors='numpy'", "usage")
        options = _tutti.FeedOptions()
        options.data = os.fspath(data)
        options.split, options.max_samples = split, max_samples
        options.seed, options.epochs, options.shuffle = seed, epochs, shuffle
        options.rank, options.ranks = rank, world_size
        options.n_mels, options.frame_multiple = n_mels, frame_multiple
        options.batch_size, options.look_ahead, options.ready = batch_size, look_ahead, ready
        options.bad_samples = os.fspath(bad_samples) if bad_samples else ""
        options.set_batch_audio(batch_seconds)
        options.set_threads(threads)
        if padding == "window":
            options.pad_to_window()
        self._options, self._epochs = options, epochs
        self._tokenizer, self._tensors, self._device, self._pins = tokenizer, tensors, device, pin_memory
        self._native: _tutti.Feed | None = None
        self._position = b""

    def __iter__(self) -> Iterator[FeedBatch]:
        """The batches that are left of `epochs`. Behind the last one, another pass has those of the next epochs."""
        while (batch := call(self._open().next)) is not None:
            made = self._made(batch)
            self._position = batch.position  # of the batch that the caller has
            yield made
        self.close()
        self._options.epochs += self._epochs

    def state_dict(self) -> dict[str, Any]:
        """Where the feed is: behind the batch that was yielded last. A few kilobytes."""
        return {"position": self._position, "epochs": self._options.epochs}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on behind the batch of that state. The set and the arguments have to be those of the state."""
        self.close()
        self._position, self._options.epochs = state["position"], state["epochs"]

    @property
    def samples_per_epoch(self) -> int:
        """Of this rank, bad ones included."""
        return self._open().samples_per_epoch()

    @property
    def bad_samples(self) -> int:
        """Bad samples found so far."""
        return self._open().bad_samples()

    def close(self) -> None:
        """Ends the feed's threads; the next use starts them again, behind the last batch."""
        if self._native is not None:
            self._native.close()
            self._native = None

    def _open(self) -> _tutti.Feed:
        if self._native is None:
            self._options.set_resume(self._position)
            self._native = call(_tutti.Feed.open, self._options)
            weakref.finalize(self, self._native.close)
        return self._native

    def _made(self, batch: _tutti.Batch) -> FeedBatch:
        texts = [sample.text for sample in batch.samples]
        return FeedBatch(index=batch.index, epoch=batch.epoch, input_features=self._tensor(batch.features()),
                         frames=[sample.frames for sample in batch.samples], ids=[sample.id for sample in batch.samples],
                         texts=texts, labels=self._labels(texts))

    def _labels(self, texts: list[str]) -> Any:
        if self._tokenizer is None:
            return None
        import numpy as np

        tokens = [_ids(self._tokenizer(text)) for text in texts]
        labels = np.full((len(tokens), max(map(len, tokens), default=0)), IGNORED, np.int64)
        for row, ids in zip(labels, tokens, strict=True):
            row[: len(ids)] = ids
        return self._tensor(labels)

    def _tensor(self, array: Any) -> Any:
        if self._tensors == "numpy":
            return array
        import torch

        tensor = torch.from_numpy(array)
        if self._pins:
            tensor = tensor.pin_memory()
        return tensor if self._device is None else tensor.to(self._device, non_blocking=self._pins)


def _ids(tokens: Any) -> list[int]:
    return list(getattr(tokens, "input_ids", tokens))
