"""openai-whisper's `load_model` and its transcribe(), which returns a dict."""
from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from . import _tutti
from .errors import UsageError
from .native import call
from .types import Audio, set_fields
from .whisper_model import (
    APPENDED,
    PREPENDED,
    TEMPERATURES,
    WhisperModel,
    clips_of,
    temperatures_of,
    timestamp_index,
    word_rules,
)


def load_model(name: str, device: str | None = None, download_root: str | None = None, in_memory: bool = False) -> Whisper:
    """A model by the name or path that `tutti transcribe --model` takes, on `device`: "cpu", "cuda", or the best there is.

    `in_memory` has no effect: a model is loaded once.
    """
    return Whisper(WhisperModel(name, device=device or "auto", download_root=download_root))


class Whisper:
    """openai-whisper's model, as far as transcribe() goes."""

    def __init__(self, model: WhisperModel) -> None:
        self.model = model

    @property
    def is_multilingual(self) -> bool:
        return self.model.is_multilingual

    def transcribe(
        self,
        audio: Audio,
        *,
        verbose: bool | None = None,
        temperature: float | Sequence[float] = TEMPERATURES,
        compression_ratio_threshold: float | None = 2.4,
        logprob_threshold: float | None = -1.0,
        no_speech_threshold: float | None = 0.6,
        condition_on_previous_text: bool = True,
        initial_prompt: str | None = None,
        carry_initial_prompt: bool = False,
        word_timestamps: bool = False,
        prepend_punctuations: str = PREPENDED,
        append_punctuations: str = APPENDED,
        clip_timestamps: str | list[float] = "0",
        hallucination_silence_threshold: float | None = None,
        **decode_options: Any,
    ) -> dict[str, Any]:
        """The transcript with the keys "text", "segments" and "language"; the arguments are openai-whisper's.

        `verbose=True` prints the segments as they come. `fp16` has no effect: load_model has chosen.
        """
        native = _tutti.SpeechOptions()
        set_fields(native.long_form, {
            "temperatures": temperatures_of(temperature),
            "compression_ratio_threshold": compression_ratio_threshold,
            "logprob_threshold": logprob_threshold,
            "no_speech_threshold": no_speech_threshold,
            "condition_on_previous_text": condition_on_previous_text,
            "initial_prompt": initial_prompt or "",
            "carry_initial_prompt": carry_initial_prompt,
            "clip_timestamps": clips_of(clip_timestamps),
        }, {"temperatures": "temperature"})
        if word_timestamps:
            native.long_form.words = word_rules(prepend_punctuations, append_punctuations, hallucination_silence_threshold)
        _set_decoding(native, decode_options)
        running = self.model.run(audio, native)
        try:
            if verbose:
                while (segment := call(running.next)) is not None:
                    print(f"[{_time(segment.start)} --> {_time(segment.end)}] {segment.text}", flush=True)
            result: dict[str, Any] = json.loads(call(running.json))
            return result
        finally:
            running.close()


def _set_decoding(native: _tutti.SpeechOptions, options: dict[str, Any]) -> None:
    """openai-whisper's DecodingOptions; the error names one that there is not."""
    rules, decoding = native.long_form, native.decoding
    for name, value in options.items():
        if name == "task":
            if value not in ("transcribe", "translate"):
                raise UsageError(f"task: expected transcribe or translate, found {value!r}", "usage")
            rules.translate = value == "translate"
        elif name in ("language", "sample_len"):
            set_fields(rules, {name: value})
        elif name == "prefix":
            set_fields(rules, {name: value or ""})
        elif name == "without_timestamps":
            set_fields(rules, {name: value})
            decoding.timestamps = not value
        elif name == "suppress_tokens":
            decoding.suppress_tokens = _tokens(value)
        elif name == "max_initial_timestamp":
            decoding.max_initial_timestamp = timestamp_index(value)
        elif name in ("beam_size", "best_of", "patience", "length_penalty", "suppress_blank"):
            if value is not None:
                set_fields(decoding, {name: value})
        elif name != "fp16":
            raise UsageError(f"transcribe: expected no argument '{name}'", "usage")


def _tokens(value: str | Iterable[int] | None) -> list[int]:
    try:
        return [int(token) for token in (value.split(",") if isinstance(value, str) else value or []) if token != ""]
    except (TypeError, ValueError):
        raise UsageError(f"suppress_tokens: expected token ids, or a text of them with commas, found {value!r}", "usage") from None


def _time(seconds: float) -> str:
    hours, rest = divmod(round(seconds * 1000), 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02d}:".removeprefix("00:") + f"{minutes:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
