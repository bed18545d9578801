"""What a transcription yields, with faster-whisper's names and fields."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from . import _tutti
from .errors import UsageError

# A path, an open file, the bytes of one, or samples: a NumPy array or torch tensor [samples], floating point, 16 kHz, -1 to 1.
Audio = Any


@dataclasses.dataclass
class Word:
    """A word and when it was spoken, in seconds."""

    start: float
    end: float
    word: str
    probability: float


@dataclasses.dataclass
class Segment:
    """A stretch of text; times are seconds from the recording's start, `seek` mel frames of 10 ms."""

    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    words: list[Word] | None
    temperature: float | None


@dataclasses.dataclass
class VadOptions:
    """How speech is separated from the rest: faster-whisper's options and defaults."""

    threshold: float = 0.5
    neg_threshold: float | None = None
    min_speech_duration_ms: int = 0
    max_speech_duration_s: float = float("inf")
    min_silence_duration_ms: int = 2000
    speech_pad_ms: int = 400


@dataclasses.dataclass
class TranscriptionOptions:
    """The options that a transcription was begun with."""

    beam_size: int
    best_of: int
    patience: float
    length_penalty: float
    repetition_penalty: float
    no_repeat_ngram_size: int
    log_prob_threshold: float | None
    no_speech_threshold: float | None
    compression_ratio_threshold: float | None
    condition_on_previous_text: bool
    prompt_reset_on_temperature: float
    temperatures: list[float]
    initial_prompt: str | Iterable[int] | None
    prefix: str | None
    suppress_blank: bool
    suppress_tokens: list[int] | None
    without_timestamps: bool
    max_initial_timestamp: float
    word_timestamps: bool
    prepend_punctuations: str
    append_punctuations: str
    multilingual: bool
    max_new_tokens: int | None
    clip_timestamps: str | list[float]
    hallucination_silence_threshold: float | None
    hotwords: str | None


@dataclasses.dataclass
class TranscriptionInfo:
    """What is known of a recording before its first segment; durations are seconds."""

    language: str
    language_probability: float
    duration: float
    duration_after_vad: float
    all_language_probs: list[tuple[str, float]] | None
    transcription_options: TranscriptionOptions
    vad_options: VadOptions | None


def vad_options(parameters: dict[str, Any] | VadOptions | None, **defaults: Any) -> VadOptions:
    """The parameters as options; the error names one that there is not."""
    if isinstance(parameters, VadOptions):
        return parameters
    given = {**defaults, **(parameters or {})}
    known = [field.name for field in dataclasses.fields(VadOptions)]
    for name in given:
        if name not in known:
            raise UsageError(f"vad_parameters: expected {', '.join(known)}, found '{name}'", "usage")
    return VadOptions(**given)


def native_vad(options: VadOptions) -> _tutti.VadOptions:
    native = _tutti.VadOptions()
    given = dataclasses.asdict(options)
    set_fields(native, {name: int(value) if name.endswith("_ms") and isinstance(value, float) and value.is_integer() else value
                        for name, value in given.items()})
    return native


KINDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a text", list: "a list"}


def set_fields(native: Any, values: Mapping[str, Any], names: Mapping[str, str] | None = None) -> None:
    """Sets each field. The error for a value of another type has the caller's name of the field, where `names` has one."""
    for name, value in values.items():
        try:
            setattr(native, name, value)
        except TypeError:
            kind = KINDS.get(type(getattr(native, name)), "a value of another type")
            raise UsageError(f"{(names or {}).get(name, name)}: expected {kind}, found {value!r}", "usage") from None


def segment_of(native: _tutti.Segment, number: int, has_words: bool) -> Segment:
    words = [Word(word.start, word.end, word.word, word.probability) for word in native.words]
    return Segment(id=number, seek=native.seek, start=native.start, end=native.end, text=native.text, tokens=native.tokens,
                   avg_logprob=native.avg_logprob, compression_ratio=native.compression_ratio,
                   no_speech_prob=native.no_speech_prob, words=words if has_words else None, temperature=native.temperature)
