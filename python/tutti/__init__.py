"""Whisper transcription that keeps every device busy.

WhisperModel is faster-whisper's class, load_model openai-whisper's function. load_audio, log_mel, vad and wer need no torch.
Messages go to the logger "tutti".
"""
from ._scores import WordErrors, wer
from .audio import decode_audio, load_audio, log_mel, vad
from .batched import BatchedInferencePipeline
from .errors import CancelledError, CorruptError, DeviceError, MissingError, TuttiError, UnsupportedError, UsageError
from .feed import Feed, FeedBatch
from .native import __version__
from .openai import Whisper, load_model
from .types import Segment, TranscriptionInfo, TranscriptionOptions, VadOptions, Word
from .whisper_model import WhisperModel

__all__ = [
    "BatchedInferencePipeline",
    "CancelledError",
    "CorruptError",
    "DeviceError",
    "Feed",
    "FeedBatch",
    "MissingError",
    "Segment",
    "TranscriptionInfo",
    "TranscriptionOptions",
    "TuttiError",
    "UnsupportedError",
    "UsageError",
    "VadOptions",
    "Whisper",
    "WhisperModel",
    "Word",
    "WordErrors",
    "__version__",
    "decode_audio",
    "load_audio",
    "load_model",
    "log_mel",
    "vad",
    "wer",
]
