"""The extension module, as python/bindings makes it: the library's public headers."""
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Recording:
    @staticmethod
    def of_samples(samples: NDArray[np.float32], rate: int, name: str, /) -> Recording: ...
    @staticmethod
    def of_bytes(content: bytes, name: str, /) -> Recording: ...
    @staticmethod
    def of_file(path: str, /) -> Recording: ...

class VadOptions:
    threshold: float
    neg_threshold: float | None
    min_speech_duration_ms: int
    max_speech_duration_s: float
    min_silence_duration_ms: int
    speech_pad_ms: int

class WordRules:
    prepend_punctuations: str
    append_punctuations: str
    hallucination_silence_threshold: float | None

class LongFormOptions:
    language: str | None
    translate: bool
    temperatures: list[float]
    compression_ratio_threshold: float | None
    logprob_threshold: float | None
    no_speech_threshold: float | None
    condition_on_previous_text: bool
    initial_prompt: str
    carry_initial_prompt: bool
    clip_timestamps: list[float]
    without_timestamps: bool
    words: WordRules | None
    hot_words: str
    prefix: str
    sample_len: int | None

class DecodingOptions:
    best_of: int
    beam_size: int
    patience: float
    length_penalty: float
    suppress_tokens: list[int]
    suppress_blank: bool
    timestamps: bool
    max_initial_timestamp: int
    seed: int

class SpeechOptions:
    vad: VadOptions | None
    batched: bool
    @property
    def long_form(self) -> LongFormOptions: ...
    @property
    def decoding(self) -> DecodingOptions: ...

class Word:
    start: float
    end: float
    word: str
    probability: float

class Segment:
    id: int
    seek: int
    start: float
    end: float
    text: str
    tokens: list[int]
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    temperature: float
    words: list[Word]

class RecordingFacts:
    duration: float
    speech: float
    language: str
    probability: float
    languages: list[tuple[str, float]]

class Transcription:
    def facts(self) -> RecordingFacts: ...
    def next(self) -> Segment | None: ...
    def json(self) -> str: ...
    def close(self) -> None: ...

class Transcriber:
    @staticmethod
    def load(model: str, devices: str, compute_type: str, threads: int, batch_size: int, /) -> Transcriber: ...
    def languages(self) -> list[str]: ...
    def transcribe(self, recording: Recording, options: SpeechOptions, /) -> Transcription: ...
    def close(self) -> None: ...

class TextNormalizer:
    none: TextNormalizer
    english: TextNormalizer
    basic: TextNormalizer

class WordErrors:
    wer: float
    cer: float
    words: int
    substitutions: int
    insertions: int
    deletions: int

def load_audio(recording: Recording, /) -> NDArray[np.float32]: ...
def log_mel(samples: NDArray[np.float32], n_mels: int, padding: int, /) -> NDArray[np.float32]: ...
def speech_spans(samples: NDArray[np.float32], options: VadOptions, /) -> list[tuple[int, int]]: ...
def word_errors(references: list[str], hypotheses: list[str], normalizer: TextNormalizer, /) -> WordErrors: ...
def take_log() -> list[tuple[str, str]]: ...
def build_id() -> str: ...
def set_programs(folder: Any, /) -> None: ...

class Augmentation:
    speed_share: float
    gain_share: float
    noise_share: float
    room_share: float
    def set_noise_db(self, least: float, most: float, /) -> None: ...
    def set_masks(self, bands: int, stretches: int, /) -> None: ...

class Chunking:
    refused: Chunking
    sequential: Chunking
    sliding: Chunking
    random: Chunking

class FeedOptions:
    data: str
    split: str
    max_samples: int
    seed: int
    epochs: int
    shuffle: bool
    rank: int
    ranks: int
    n_mels: int
    frame_multiple: int
    batch_size: int
    look_ahead: int
    ready: int
    bad_samples: str
    def set_resume(self, position: bytes, /) -> None: ...
    def set_batch_audio(self, seconds: float, /) -> None: ...
    augmentation: Augmentation
    def set_bad_limits(self, count: int, share: float, /) -> None: ...
    def set_threads(self, computing: int, reading: int, /) -> None: ...
    def set_cache(self, folder: str, /) -> None: ...
    def set_chunking(self, how: Chunking, /) -> None: ...
    def pad_to_window(self) -> None: ...

class BatchSample:
    id: str
    text: str
    frames: int

class Batch:
    index: int
    epoch: int
    samples: list[BatchSample]
    position: bytes
    def features(self) -> NDArray[np.float32]: ...

class Feed:
    @staticmethod
    def open(options: FeedOptions, /) -> Feed: ...
    def next(self) -> Batch | None: ...
    def samples_per_epoch(self) -> int: ...
    def bad_samples(self) -> int: ...
    def close(self) -> None: ...

class SetFeedOptions:
    set: str
    part: str
    batch_size: int
    epochs: int
    seed: int
    rank: int
    ranks: int
    def set_resume(self, position: bytes, /) -> None: ...

class SetFacts:
    rows: int
    n_mels: int
    rate: int
    labels: list[str]
    format: str

class SetFeed:
    @staticmethod
    def open_labelled(options: SetFeedOptions, /) -> SetFeed: ...
    @staticmethod
    def open_voice(options: SetFeedOptions, /) -> SetFeed: ...
    def next(self) -> tuple[int, int, list[str], bytes, dict[str, Any]] | None: ...
    def facts(self) -> SetFacts: ...

class PredictedRate:
    change: str
    items_per_s: float
    low: float
    high: float

class RunProfile:
    @staticmethod
    def read(recording: Any, /) -> RunProfile: ...
    def unit(self) -> str: ...
    def items_per_s(self) -> float: ...
    def limit(self) -> str | None: ...
    def finding(self) -> str: ...
    def gains(self) -> list[PredictedRate]: ...
    def predict(self, change: str, /) -> PredictedRate: ...
    def text(self) -> str: ...
    def json(self) -> str: ...

class LoopProfile:
    def __init__(self, unit: str, /) -> None: ...
    def note(self, phase: str, start: float, end: float, /) -> None: ...
    def profile(self) -> RunProfile: ...
