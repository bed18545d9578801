"""faster-whisper's WhisperModel, argument for argument. What acts otherwise is in docs/python.md."""
from __future__ import annotations

import numbers
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import _tutti
from .audio import recording_of
from .errors import MissingError, UsageError
from .native import LOGGER, PROGRAMS, call, check_torch
from .types import (
    Audio,
    Segment,
    TranscriptionInfo,
    TranscriptionOptions,
    VadOptions,
    native_vad,
    segment_of,
    set_fields,
    vad_options,
)

TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PREPENDED = "\"'“¿([{-"
WINDOW = 30  # seconds
SAME_TYPES = {"int8_float32": "int8", "int8_bfloat16": "int8"}  # names of CTranslate2 for what is int8 here
OUR_NAMES = {"temperatures": "temperature", "logprob_threshold": "log_prob_threshold", "hot_words": "hotwords",
             "sample_len": "max_new_tokens"}  # the library's fields that faster-whisper calls otherwise
APPENDED = "\"'.。,，!！?？:：”)]}、"


class WhisperModel:
    """A Whisper model on one or more devices, each in a process of its own. Any number of threads may transcribe at once."""

    def __init__(
        self,
        model_size_or_path: str,
        device: str = "auto",
        device_index: int | list[int] = 0,
        compute_type: str = "default",
        cpu_threads: int = 0,
        num_workers: int = 1,
        download_root: str | None = None,
        local_files_only: bool = False,
        files: dict[str, Any] | None = None,
        revision: str | None = None,
        use_auth_token: str | bool | None = None,
        **model_kwargs: Any,
    ) -> None:
        """Waits until the model is loaded.

        Args:
          model_size_or_path: A folder, a file, or a name that `tutti models` lists.
          device: "auto" (every GPU, else the CPU), "cpu", "cuda", or a list as `tutti batch --devices` takes it.
          device_index: With "cuda", the GPU's number or the numbers of several, which share the work.
          compute_type: "default" (float32 on a CPU, float16 on a GPU), "auto", "float32", "float16", "bfloat16", "int8", ...
          cpu_threads: Threads of a CPU's tensors; 0: one per core.
          local_files_only: A name that is not on this machine is an error; else `tutti pull` fetches it, as faster-whisper does.
          num_workers: Has no effect: threads that transcribe at once share the device's batches anyway.
        """
        refuse_unless_default(
            {"download_root": download_root, "files": files, "revision": revision, "use_auth_token": use_auth_token},
            {"download_root": "set TUTTI_CACHE", "files": "write them into a folder", "revision": "name the folder",
             "use_auth_token": "set HF_TOKEN for tutti pull"})
        if model_kwargs:
            raise UsageError(f"WhisperModel: expected no argument '{next(iter(model_kwargs))}'", "usage")
        if num_workers < 1:
            raise UsageError(f"num_workers: expected 1 or more, found {num_workers}", "usage")
        if compute_type == "int16":
            raise UsageError("compute_type: int16 is CTranslate2's alone. Take int8 or float32", "usage")
        compute_type = SAME_TYPES.get(compute_type, compute_type)
        devices = device_list(device, device_index)
        if not devices.startswith("emulated"):
            check_torch()
        self._native = load(str(model_size_or_path), devices, compute_type, cpu_threads, is_local=local_files_only)
        self._running: weakref.WeakSet[_tutti.Transcription] = weakref.WeakSet()
        self._end = weakref.finalize(self, _close, self._native, self._running)

    @property
    def supported_languages(self) -> list[str]:
        """Codes of the languages that the model knows."""
        return self._native.languages() or ["en"]

    @property
    def is_multilingual(self) -> bool:
        return bool(self._native.languages())

    def transcribe(
        self,
        audio: Audio,
        language: str | None = None,
        task: str = "transcribe",
        log_progress: bool = False,
        beam_size: int = 5,
        best_of: int = 5,
        patience: float = 1,
        length_penalty: float = 1,
        repetition_penalty: float = 1,
        no_repeat_ngram_size: int = 0,
        temperature: float | Sequence[float] = TEMPERATURES,
        compression_ratio_threshold: float | None = 2.4,
        log_prob_threshold: float | None = -1.0,
        no_speech_threshold: float | None = 0.6,
        condition_on_previous_text: bool = True,
        prompt_reset_on_temperature: float = 0.5,
        initial_prompt: str | Iterable[int] | None = None,
        prefix: str | None = None,
        suppress_blank: bool = True,
        suppress_tokens: list[int] | None = [-1],
        without_timestamps: bool = False,
        max_initial_timestamp: float = 1.0,
        word_timestamps: bool = False,
        prepend_punctuations: str = PREPENDED,
        append_punctuations: str = APPENDED,
        multilingual: bool = False,
        vad_filter: bool = False,
        vad_parameters: dict[str, Any] | VadOptions | None = None,
        max_new_tokens: int | None = None,
        chunk_length: int | None = None,
        clip_timestamps: str | list[float] = "0",
        hallucination_silence_threshold: float | None = None,
        hotwords: str | None = None,
        language_detection_threshold: float | None = 0.5,
        language_detection_segments: int = 1,
    ) -> tuple[Iterator[Segment], TranscriptionInfo]:
        """Begins a transcription; the arguments are faster-whisper's.

        Returns a generator of segments, each as soon as it is there, and what is known before the first one. Closing the generator,
        or dropping it, ends the work on the devices. The generator keeps the model.
        """
        if language_detection_segments != 1:
            raise UsageError(f"language_detection_segments: expected 1, found {language_detection_segments}", "usage")
        chosen = TranscriptionOptions(
            beam_size=beam_size, best_of=best_of, patience=patience, length_penalty=length_penalty,
            repetition_penalty=repetition_penalty, no_repeat_ngram_size=no_repeat_ngram_size,
            log_prob_threshold=log_prob_threshold, no_speech_threshold=no_speech_threshold,
            compression_ratio_threshold=compression_ratio_threshold, condition_on_previous_text=condition_on_previous_text,
            prompt_reset_on_temperature=prompt_reset_on_temperature, temperatures=temperatures_of(temperature),
            initial_prompt=initial_prompt, prefix=prefix, suppress_blank=suppress_blank, suppress_tokens=suppress_tokens,
            without_timestamps=without_timestamps, max_initial_timestamp=max_initial_timestamp, word_timestamps=word_timestamps,
            prepend_punctuations=prepend_punctuations, append_punctuations=append_punctuations, multilingual=multilingual,
            max_new_tokens=max_new_tokens, clip_timestamps=clip_timestamps,
            hallucination_silence_threshold=hallucination_silence_threshold, hotwords=hotwords)
        # As in faster-whisper, clips leave no work to the VAD.
        speech = vad_options(vad_parameters) if vad_filter and clip_timestamps == "0" else None
        return self.begin(audio, language, task, chosen, speech, chunk_length=chunk_length, log_progress=log_progress)

    def begin(
        self, audio: Audio, language: str | None, task: str, chosen: TranscriptionOptions, speech: VadOptions | None, *,
        chunk_length: int | None = None, log_progress: bool = False, batched: bool = False,
    ) -> tuple[Iterator[Segment], TranscriptionInfo]:
        """`transcribe`, and that of BatchedInferencePipeline, behind their arguments."""
        native = native_options(chosen, language, task, self.is_multilingual)
        if chunk_length not in (None, 30):
            raise UsageError(f"chunk_length: expected None or 30, found {chunk_length}", "usage")
        native.vad = native_vad(speech) if speech else None
        native.batched = batched
        running = self.run(audio, native)
        facts = call(running.facts)
        info = TranscriptionInfo(
            language=facts.language, language_probability=facts.probability, duration=facts.duration,
            duration_after_vad=facts.speech, all_language_probs=facts.languages or None, transcription_options=chosen,
            vad_options=speech)
        return _segments(self, running, chosen.word_timestamps, facts.duration if log_progress else None), info

    def detect_language(
        self,
        audio: Audio = None,
        features: None = None,
        vad_filter: bool = False,
        vad_parameters: dict[str, Any] | VadOptions | None = None,
        language_detection_segments: int = 1,
        language_detection_threshold: float = 0.5,
    ) -> tuple[str, float, list[tuple[str, float]]]:
        """The language of the first 30 s, its probability, and those of all languages, the most probable first."""
        if audio is None or features is not None:
            raise UsageError("detect_language: expected audio, found features. Pass the recording", "usage")
        if language_detection_segments != 1:
            raise UsageError(f"language_detection_segments: expected 1, found {language_detection_segments}", "usage")
        native = _tutti.SpeechOptions()
        native.vad = native_vad(vad_options(vad_parameters)) if vad_filter else None
        running = self.run(audio, native)
        try:
            facts = call(running.facts)
        finally:
            running.close()
        return facts.language, facts.probability, facts.languages

    def run(self, audio: Audio, options: _tutti.SpeechOptions) -> _tutti.Transcription:
        """A transcription in work. It ends with the model."""
        running = call(self._native.transcribe, recording_of(audio), options)
        self._running.add(running)
        return running

    def close(self) -> None:
        """Cancels what is in work, and ends the device's process; dropping the model does so, too."""
        self._end()


def load(model: str, devices: str, compute_type: str, threads: int, *, is_local: bool) -> _tutti.Transcriber:
    try:
        return call(_tutti.Transcriber.load, model, devices, compute_type, threads, 0)
    except MissingError as error:
        if is_local or not str(error).endswith(f"tutti pull {model}"):
            raise
        import subprocess

        pulled = subprocess.run([PROGRAMS / "tutti", "pull", model], stderr=subprocess.PIPE, text=True, check=False)
        if pulled.returncode != 0:
            raise MissingError(pulled.stderr.strip().removeprefix("tutti: "), "missing") from error
    return call(_tutti.Transcriber.load, model, devices, compute_type, threads, 0)


def _close(native: _tutti.Transcriber, running: weakref.WeakSet[_tutti.Transcription]) -> None:
    for transcription in list(running):
        transcription.close()
    native.close()


def _segments(model: WhisperModel, running: _tutti.Transcription, has_words: bool, length: float | None) -> Iterator[Segment]:
    """As faster-whisper, numbers segments from 1, leaves out those without text or length, and keeps `model` from its end."""
    number = 0
    try:
        while (native := call(running.next)) is not None:
            if length is not None:
                LOGGER.info("%.1f of %.1f s", native.end, length)
            if native.start == native.end or not native.text.strip():
                continue
            number += 1
            yield segment_of(native, number, has_words)
    finally:
        running.close()


def device_list(device: str, index: int | Sequence[int]) -> str:
    """faster-whisper's device and device_index as `tutti batch --devices` takes them."""
    numbers = [index] if isinstance(index, int) else list(index)
    if device == "cuda":
        return ",".join(f"cuda:{number}" for number in numbers)
    if device == "auto" and numbers != [0]:
        raise UsageError(f"device_index: expected 0 with device 'auto', found {index}. Name device='cuda'", "usage")
    return device


def temperatures_of(temperature: float | Sequence[float]) -> list[float]:
    try:
        return [float(one) for one in temperature] if isinstance(temperature, Iterable) else [float(temperature)]
    except (TypeError, ValueError):
        raise UsageError(f"temperature: expected a number or several, found {temperature!r}", "usage") from None


def timestamp_index(seconds: float | None) -> int:
    """A time of a window in steps of 0.02 s, None is the window's end."""
    if seconds is None:
        seconds = WINDOW
    if not isinstance(seconds, numbers.Real) or not 0 <= seconds <= WINDOW:
        raise UsageError(f"max_initial_timestamp: expected 0 to {WINDOW} seconds, found {seconds!r}", "usage")
    return round(seconds / 0.02)


def refuse_unless_default(given: dict[str, Any], instead: dict[str, str]) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"{name}: expected None, found {value!r}. Tutti has no such option: {instead[name]}", "usage")


def refuse_unlike(chosen: TranscriptionOptions, is_multilingual: bool) -> None:
    """What acts in faster-whisper, and here only with its default."""
    expected: dict[str, float] = {"repetition_penalty": 1, "no_repeat_ngram_size": 0, "multilingual": False}
    if chosen.condition_on_previous_text:
        expected["prompt_reset_on_temperature"] = 0.5
    for name, value in expected.items():
        found = getattr(chosen, name)
        if found != value and not (name == "multilingual" and not is_multilingual):
            raise UsageError(f"{name}: expected {value}, found {found!r}. Tutti has no other", "usage")
    if chosen.length_penalty not in (0, 1):
        raise UsageError(f"length_penalty: expected 1 or 0, found {chosen.length_penalty}. Tutti has no other", "usage")
    if chosen.initial_prompt is not None and not isinstance(chosen.initial_prompt, str):
        raise UsageError("initial_prompt: expected a text, found token ids. Pass their text", "usage")
    if isinstance(chosen.max_new_tokens, int) and chosen.max_new_tokens < 1:
        raise UsageError(f"max_new_tokens: expected 1 or more, found {chosen.max_new_tokens}", "usage")


def native_options(chosen: TranscriptionOptions, language: str | None, task: str, is_multilingual: bool) -> _tutti.SpeechOptions:
    """faster-whisper's options as the library's."""
    refuse_unlike(chosen, is_multilingual)
    if task not in ("transcribe", "translate"):
        raise UsageError(f"task: expected transcribe or translate, found '{task}'", "usage")
    native = _tutti.SpeechOptions()
    set_fields(native.long_form, {
        "language": language,
        "translate": task == "translate",
        "temperatures": chosen.temperatures,
        "compression_ratio_threshold": chosen.compression_ratio_threshold,
        "logprob_threshold": chosen.log_prob_threshold,
        "no_speech_threshold": chosen.no_speech_threshold,
        "condition_on_previous_text": chosen.condition_on_previous_text,
        "initial_prompt": chosen.initial_prompt or "",
        "clip_timestamps": clips_of(chosen.clip_timestamps),
        "without_timestamps": chosen.without_timestamps,
        "hot_words": chosen.hotwords or "",
        "prefix": chosen.prefix or "",
        "sample_len": chosen.max_new_tokens,
    }, OUR_NAMES)
    if chosen.word_timestamps:
        native.long_form.words = word_rules(chosen.prepend_punctuations, chosen.append_punctuations,
                                            chosen.hallucination_silence_threshold)
    set_fields(native.decoding, {
        "beam_size": 0 if chosen.beam_size == 1 else chosen.beam_size,
        "best_of": chosen.best_of,
        "patience": chosen.patience,
        "length_penalty": -1 if chosen.length_penalty == 1 else chosen.length_penalty,  # -1: per token
        "suppress_tokens": list(chosen.suppress_tokens or []),
        "suppress_blank": chosen.suppress_blank,
        "timestamps": not chosen.without_timestamps,
        "max_initial_timestamp": timestamp_index(chosen.max_initial_timestamp),
    })
    return native


def word_rules(prepended: str, appended: str, silence: float | None) -> _tutti.WordRules:
    words = _tutti.WordRules()
    set_fields(words, {"prepend_punctuations": prepended, "append_punctuations": appended,
                       "hallucination_silence_threshold": silence})
    return words


def clips_of(clips: str | Sequence[float]) -> list[float]:
    """Starts and ends in seconds, of "0,5.5" or a list of them."""
    try:
        return [float(second) for second in (clips.split(",") if isinstance(clips, str) else clips)] or [0.0]
    except (TypeError, ValueError):
        raise UsageError(f"clip_timestamps: expected seconds, start, end, ..., found {clips!r}", "usage") from None
