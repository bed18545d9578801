"""Training batches of sets that `tutti prepare` has made: clips with labels, and a voice's."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import _tutti
from ._tensors import Tensors
from .feed import position_of
from .native import call


@dataclasses.dataclass
class SetBatch:
    """A batch of a prepared set: tensors by name, as they go into a model."""

    index: int  # 0 for the first batch of the run
    epoch: int
    ids: list[str]
    inputs: dict[str, Any]
    state: dict[str, Any]  # for load_state_dict: goes on behind this batch


class SetFeed:
    """Batches of a prepared set, each epoch in a random order of its own. They follow from the set and the arguments."""

    def __init__(
        self,
        data: str | os.PathLike[str],
        *,
        batch_size: int = 32,
        part: str = "training",
        epochs: int = 1,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
        tensors: str = "torch",
        device: Any = None,
        pin_memory: bool = False,
    ) -> None:
        """Reads nothing yet.

        Args:
          data: The folder of the set.
          batch_size: Clips in a batch of this rank; of a voice, as many frames as so many clips of mean length have.
          part: "training"; of labelled clips also "validation" or "testing".
          epochs: Of one pass over the feed; 0: without an end.
          rank, world_size: This process takes every world_size-th row of each batch.
          tensors: "torch" or "numpy", whose arrays speak DLPack.
          device: Where tensors of torch are put. pin_memory: they are pinned first.
        """
        self._tensor = Tensors(tensors, device, pin_memory)
        options = _tutti.SetFeedOptions()
        options.set, options.part = os.fspath(data), part
        options.batch_size, options.epochs, options.seed = batch_size, epochs, seed
        options.rank, options.ranks = rank, world_size
        self._options, self._epochs, self._position = options, epochs, b""
        self._native: _tutti.SetFeed | None = None

    def __iter__(self) -> Iterator[SetBatch]:
        """The batches that are left of `epochs`. Behind the last one, another pass has those of the next epochs."""
        while (drawn := self._draw()) is not None:
            index, epoch, ids, position, arrays = drawn
            self._position = position
            yield SetBatch(index=index, epoch=epoch, ids=ids, inputs={name: self._tensor(it) for name, it in arrays.items()},
                           state=self.state_dict())
        self._native = None
        self._options.epochs += self._epochs

    def state_dict(self) -> dict[str, Any]:
        """Where the feed is: behind the batch that was yielded last."""
        return {"position": self._position, "epochs": self._options.epochs}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on behind the batch of that state. The set and the arguments have to be those of the state."""
        self._native = None
        self._position, self._options.epochs = position_of(state)

    @property
    def rows(self) -> int:
        """Rows of the set's part, those of other ranks included."""
        return self._open().facts().rows

    @property
    def n_mels(self) -> int:
        return self._open().facts().n_mels

    @property
    def rate(self) -> int:
        """Hz of the audio that features were made of."""
        return self._open().facts().rate

    def _opener(self) -> Callable[[_tutti.SetFeedOptions], _tutti.SetFeed]:
        raise NotImplementedError

    def _open(self) -> _tutti.SetFeed:
        if self._native is None:
            self._options.set_resume(self._position)
            self._native = call(self._opener(), self._options)
        return self._native

    def _draw(self) -> tuple[int, int, list[str], bytes, dict[str, Any]] | None:
        return call(self._open().next)


class ClipFeed(SetFeed):
    """Of labelled clips (`tutti prepare classifier`).

    Inputs: input_features [rows, n_mels, frames] float32 in decibels, labels [rows] int64.
    """

    @property
    def labels(self) -> list[str]:
        """The labels by their numbers."""
        return self._open().facts().labels

    def _opener(self) -> Callable[[_tutti.SetFeedOptions], _tutti.SetFeed]:
        return _tutti.SetFeed.open_labelled


class VoiceFeed(SetFeed):
    """Of a voice (`tutti prepare tts`); clips of like length share a batch, and a bucket's batches have one shape.

    Inputs: symbols [rows, symbols] and symbol_lengths [rows]; mel [rows, frames, n_mels], the natural logarithm, and
    mel_lengths [rows]; pitch [rows, frames] in Hz, 0 where nothing is voiced; energy [rows, frames]; speakers [rows].
    """

    @property
    def format(self) -> dict[str, Any]:
        """What all clips have in common: symbols and speakers by number, mean and deviation of the spectrograms."""
        import json

        found: dict[str, Any] = json.loads(self._open().facts().format)
        return found

    def _opener(self) -> Callable[[_tutti.SetFeedOptions], _tutti.SetFeed]:
        return _tutti.SetFeed.open_voice
