"""faster-whisper's BatchedInferencePipeline: speech is cut into windows, which are decoded side by side."""
from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from .errors import UsageError
from .types import Audio, Segment, TranscriptionInfo, TranscriptionOptions, VadOptions, vad_options
from .whisper_model import WhisperModel, temperatures_of

CHUNK_SECONDS = 30
SILENCE_MS = 160  # that ends a piece of speech here


class BatchedInferencePipeline:
    """Transcribes recordings of much speech faster than the model alone; no window sees the text before it."""

    def __init__(self, model: WhisperModel) -> None:
        self.model = model

    def transcribe(
        self, audio: Audio, language: str | None = None, task: str = "transcribe", log_progress: bool = False, beam_size: int = 5,
        best_of: int = 5, patience: float = 1, length_penalty: float = 1, temperature: float | Sequence[float] = 0.0,
        without_timestamps: bool = True, vad_filter: bool = True, vad_parameters: dict[str, Any] | VadOptions | None = None,
        batch_size: int = 8, **options: Any,
    ) -> tuple[Iterator[Segment], TranscriptionInfo]:
        """As WhisperModel.transcribe, whose other arguments it takes, too.

        `batch_size` has no effect: the device chooses. Of several temperatures the first is used.
        """
        if not vad_filter:
            raise UsageError("vad_filter: expected True, found False. Use WhisperModel for recordings without VAD", "usage")
        if batch_size < 1:
            raise UsageError(f"batch_size: expected 1 or more, found {batch_size}", "usage")
        if options.pop("language_detection_segments", 1) != 1:
            raise UsageError("language_detection_segments: expected 1, found more", "usage")
        chunk_length = options.pop("chunk_length", None)
        if options.pop("clip_timestamps", None) is not None:
            raise UsageError("clip_timestamps: expected None, found clips. Cut the audio, or use WhisperModel", "usage")
        defaults = {name: parameter.default for name, parameter in inspect.signature(WhisperModel.transcribe).parameters.items()}
        for name in options:
            if name not in defaults:
                raise UsageError(f"transcribe: expected no argument '{name}'", "usage")
        chosen = {name: defaults[name] for name in _fields() if name in defaults} | {
            "beam_size": beam_size, "best_of": best_of, "patience": patience, "length_penalty": length_penalty,
            "temperatures": temperatures_of(temperature)[:1], "without_timestamps": without_timestamps,
            "condition_on_previous_text": False} | {name: options[name] for name in options if name in _fields()}
        speech = vad_options(vad_parameters, min_silence_duration_ms=SILENCE_MS, max_speech_duration_s=CHUNK_SECONDS)
        return self.model.begin(audio, language, task, TranscriptionOptions(**chosen), speech, chunk_length=chunk_length,
                                log_progress=log_progress, batched=True)


def _fields() -> list[str]:
    return list(TranscriptionOptions.__dataclass_fields__)
