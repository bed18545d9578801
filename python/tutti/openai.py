"""openai-whisper's `load_model` and its transcribe(), which returns a dict."""
from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from . import _tutti
from .errors import UsageError
from .native import call
from .types import Audio
from .whisper_model import APPENDED, PREPENDED, TEMPERATURES, WhisperModel, clips_of, temperatures_of, word_rules


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
        rules = native.long_form
        rules.temperatures = temperatures_of(temperature)
        rules.compression_ratio_threshold = compression_ratio_threshold
        rules.logprob_threshold = logprob_threshold
        rules.no_speech_threshold = no_speech_threshold
        rules.condition_on_previous_text = condition_on_previous_text
        rules.initial_prompt = initial_prompt or ""
        rules.carry_initial_prompt = carry_initial_prompt
        rules.clip_timestamps = clips_of(clip_timestamps)
        if word_timestamps:
            rules.words = word_rules(prepend_punctuations, append_punctuations, hallucination_silence_threshold)
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
            rules.translate = value == "translate"
        elif name == "language":
            rules.language = value
        elif name == "sample_len":
            rules.sample_len = value
        elif name == "prefix":
            rules.prefix = value or ""
        elif name == "without_timestamps":
            rules.without_timestamps = value
            decoding.timestamps = not value
        elif name == "suppress_tokens":
            decoding.suppress_tokens = _tokens(value)
        elif name == "max_initial_timestamp":
            decoding.max_initial_timestamp = round(value / 0.02)
        elif name in ("beam_size", "best_of", "patience", "length_penalty", "suppress_blank"):
            if value is not None:
                setattr(decoding, name, value)
        elif name != "fp16":
            raise UsageError(f"transcribe: expected no argument '{name}'", "usage")


def _tokens(value: str | Iterable[int] | None) -> list[int]:
    if isinstance(value, str):
        return [int(token) for token in value.split(",") if token]
    return list(value or [])


def _time(seconds: float) -> str:
    hours, rest = divmod(round(seconds * 1000), 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02d}:".removeprefix("00:") + f"{minutes:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
