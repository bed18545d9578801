"""Where the time of a training loop goes: `with tutti.profile() as p: ...; print(p.finding)`."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from . import _tutti
from .errors import UsageError
from .native import call

T = TypeVar("T")

STEP = "step"  # what a loop does between two batches


@dataclasses.dataclass(frozen=True)
class Gain:
    """A change and the rate that is predicted for it: in 19 of 20 cases from `low` to `high`."""

    change: str  # "DataLoader.speed=2"
    items_per_s: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Wait:
    """How long the loop waited for the batches of a loader."""

    batches: int
    seconds: float
    share: float  # of the loop's time, 0 to 1
    longest: float  # seconds
    workers: int | None  # of a DataLoader; None: it is another loader


class LoopProfile:
    """A context around any training loop on this thread. The waits for batches of torch's DataLoader and of this package's
    feeds are noticed; other loaders go through `batches`. What the loop does in between is its step."""

    def __init__(self, unit: str = "batches") -> None:
        self._native = _tutti.LoopProfile(unit)
        self._thread = (0, 0)  # process and thread of the loop
        self._waits: dict[str, list[float]] = {}
        self._workers: dict[str, int] = {}
        self._step_since: float | None = None
        self._depth = 0
        self._patches = contextlib.ExitStack()
        self._start = self._end = 0.0
        self._run: _tutti.RunProfile | None = None

    def __enter__(self) -> LoopProfile:
        self._thread = os.getpid(), threading.get_ident()
        for owner, method, name_of in _loaders():
            self._patches.callback(setattr, owner, method, getattr(owner, method))
            setattr(owner, method, self._timed(getattr(owner, method), name_of))
        self._start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()
        self._end = time.monotonic()
        self._end_step(self._end)

    def batches(self, loader: Iterable[T], name: str = "loader") -> Iterator[T]:
        """The batches of any loader, whose waits are counted under `name`."""
        following = self._timed(lambda iterator: next(iterator), lambda _: (name, None))
        iterator = iter(loader)
        with contextlib.suppress(StopIteration):
            while True:
                yield following(iterator)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """A part of the step under a name of its own, such as "forward"; what no part has is then the "rest"."""
        self._step_since = None
        start = time.monotonic()
        try:
            yield
        finally:
            self._native.note(name, start, time.monotonic())

    @property
    def finding(self) -> str:
        """One sentence: what limits the loop, and what would change that."""
        if not self._waits:
            return ("No loader was seen: the loop drew no batch of a DataLoader or a tutti feed. "
                    "Draw them through `p.batches(loader)`.")
        text = self._recorded().finding()
        wait = self.waits.get(self.limit or "")
        if wait is None or wait.workers is None:
            return text
        if wait.workers == 0:
            return text + " It has no workers (num_workers=0), so that the loop itself loads each batch."
        return text + f" Its {wait.workers} workers do not keep up with the steps."

    @property
    def limit(self) -> str | None:
        """The loader or the phase that limits the loop; None: none does by itself."""
        return self._recorded().limit()

    @property
    def waits(self) -> dict[str, Wait]:
        """The waits for batches, by loader."""
        whole = max(self._end - self._start, 1e-9)
        return {name: Wait(batches=len(all_waits), seconds=sum(all_waits), share=sum(all_waits) / whole,
                           longest=max(all_waits), workers=self._workers.get(name)) for name, all_waits in self._waits.items()}

    @property
    def items_per_s(self) -> float:
        return self._recorded().items_per_s()

    @property
    def gains(self) -> list[Gain]:
        """The changes that gain 2 % or more."""
        return [_gain(one) for one in self._recorded().gains()]

    def predict(self, change: str) -> Gain:
        """The rate of the loop with a change, such as "DataLoader.speed=2"."""
        return _gain(call(self._recorded().predict, change))

    def text(self) -> str:
        """The page that `tutti profile` prints."""
        return self._recorded().text()

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._recorded().json())
        return found

    def _recorded(self) -> _tutti.RunProfile:
        if not self._end:
            raise UsageError("profile: expected the end of its `with` block first", "usage")
        if self._run is None:
            self._run = call(self._native.profile)
        return self._run

    def _end_step(self, now: float) -> None:
        if self._step_since is not None:
            self._native.note(STEP, self._step_since, now)
            self._step_since = None

    def _timed(self, following: Callable[[Any], T], name_of: Callable[[Any], tuple[str, int | None]]) -> Callable[[Any], T]:
        """`following`, which draws a batch, with its waits counted; of this thread, and not of one within another."""

        def timed(loader: Any) -> T:
            if (os.getpid(), threading.get_ident()) != self._thread or self._depth > 0 or self._end:
                return following(loader)
            start = time.monotonic()
            self._end_step(start)
            self._depth += 1
            try:
                batch = following(loader)
            finally:
                self._depth -= 1
            if batch is not None:
                self._note_wait(name_of(loader), start)
            return batch

        return timed

    def _note_wait(self, loader: tuple[str, int | None], start: float) -> None:
        name, workers = loader
        end = time.monotonic()
        self._native.note(name, start, end)
        self._waits.setdefault(name, []).append(end - start)
        if workers is not None:
            self._workers[name] = workers
        self._step_since = end


def profile(unit: str = "batches") -> LoopProfile:
    """Times the loop in a `with` block. `unit`: what one turn of the loop does, in the plural."""
    return LoopProfile(unit)


def _loaders() -> list[tuple[Any, str, Callable[[Any], tuple[str, int | None]]]]:
    """The classes whose batches a loop may draw, the method that draws one, and how it is named."""
    from .feed import Feed
    from .set_feed import SetFeed

    found: list[tuple[Any, str, Callable[[Any], tuple[str, int | None]]]] = [
        (Feed, "_draw", lambda feed: (type(feed).__name__, None)),
        (SetFeed, "_draw", lambda feed: (type(feed).__name__, None)),
    ]
    torch_data = sys.modules.get("torch.utils.data.dataloader")
    if torch_data is not None:  # where torch is not loaded, the loop has none
        found.append((torch_data._BaseDataLoaderIter, "__next__",
                      lambda iterator: ("DataLoader", int(getattr(iterator, "_num_workers", 0)))))
    return found


def _gain(rate: _tutti.PredictedRate) -> Gain:
    return Gain(change=rate.change, items_per_s=rate.items_per_s, low=rate.low, high=rate.high)
