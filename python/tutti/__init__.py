"""Whisper transcription that keeps every device busy.

WhisperModel is faster-whisper's class, load_model openai-whisper's function. Feed has training batches. load_audio, log_mel, vad,
wer, plan and profile need no torch. Messages go to the logger "tutti".
"""
from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing's own costs more than all else here
if TYPE_CHECKING:
    from typing import Any

    from ._plan import Plan, plan
    from ._profile import LoopProfile, profile
    from ._scores import WordErrors, wer
    from .audio import decode_audio, load_audio, log_mel, vad
    from .batched import BatchedInferencePipeline
    from .errors import CancelledError, CorruptError, DeviceError, MissingError, TuttiError, UnsupportedError, UsageError
    from .feed import Augment, BadSample, Feed, FeedBatch
    from .native import __version__
    from .openai import Whisper, load_model
    from .set_feed import ClipFeed, SetBatch, VoiceFeed
    from .types import Segment, TranscriptionInfo, TranscriptionOptions, VadOptions, Word
    from .whisper_model import WhisperModel

# Where each name is, so that a program loads no more than it uses.
_MODULES = {
    "_plan": ("Plan", "plan"),
    "_profile": ("LoopProfile", "profile"),
    "_scores": ("WordErrors", "wer"),
    "audio": ("decode_audio", "load_audio", "log_mel", "vad"),
    "batched": ("BatchedInferencePipeline",),
    "errors": ("CancelledError", "CorruptError", "DeviceError", "MissingError", "TuttiError", "UnsupportedError", "UsageError"),
    "feed": ("Augment", "BadSample", "Feed", "FeedBatch"),
    "native": ("__version__",),
    "openai": ("Whisper", "load_model"),
    "set_feed": ("ClipFeed", "SetBatch", "VoiceFeed"),
    "types": ("Segment", "TranscriptionInfo", "TranscriptionOptions", "VadOptions", "Word"),
    "whisper_model": ("WhisperModel",),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Augment",
    "BadSample",
    "BatchedInferencePipeline",
    "CancelledError",
    "ClipFeed",
    "CorruptError",
    "DeviceError",
    "Feed",
    "FeedBatch",
    "LoopProfile",
    "MissingError",
    "Plan",
    "Segment",
    "SetBatch",
    "TranscriptionInfo",
    "TranscriptionOptions",
    "TuttiError",
    "UnsupportedError",
    "UsageError",
    "VadOptions",
    "VoiceFeed",
    "Whisper",
    "WhisperModel",
    "Word",
    "WordErrors",
    "__version__",
    "decode_audio",
    "load_audio",
    "load_model",
    "log_mel",
    "plan",
    "profile",
    "vad",
    "wer",
]


def __getattr__(name: str) -> Any:
    module = _PLACES.get(name)
    if module is None:
        raise AttributeError(f"module 'tutti' has no attribute '{name}'")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
