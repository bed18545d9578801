"""Audio in, arrays out: decoding, features and speech, as transcription has them. None of it needs torch."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _tutti
from .errors import UsageError
from .native import call
from .types import Audio, VadOptions, native_vad, vad_options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE = 16000  # Hz, of all samples here
LOUDEST = 16  # far above what any decoder yields for samples of -1 to 1; integers as floats are louder


def load_audio(file: Audio, sr: int = RATE) -> NDArray[np.float32]:
    """The audio of a file of any format: [samples] float32 of -1 to 1, mono, 16 kHz."""
    if sr != RATE:
        raise UsageError(f"sr: expected {RATE} Hz, which Whisper models take, found {sr}", "usage")
    return call(_tutti.load_audio, recording_of(file))


def decode_audio(input_file: Audio, sampling_rate: int = RATE, split_stereo: bool = False) -> NDArray[np.float32]:
    """faster-whisper's name for `load_audio`."""
    if split_stereo:
        raise UsageError("split_stereo: expected False, because channels are mixed here, found True", "usage")
    return load_audio(input_file, sampling_rate)


def log_mel(audio: Audio, n_mels: int = 80, padding: int = 0) -> NDArray[np.float32]:
    """Whisper's log-mel features, [n_mels, frames] float32, of a file or of samples with `padding` zeros behind them.

    frames is (samples + padding) / 160, rounded down: 100 a second.
    """
    return call(_tutti.log_mel, samples_of(audio), n_mels, padding)


def vad(audio: Audio, options: VadOptions | None = None, sampling_rate: int = RATE, **parameters: Any) -> list[dict[str, int]]:
    """The speech in a file or in samples, as faster-whisper's get_speech_timestamps: {"start": sample, "end": sample}."""
    if sampling_rate != RATE:
        raise UsageError(f"sampling_rate: expected {RATE} Hz, found {sampling_rate}", "usage")
    chosen = options if options is not None else vad_options(parameters)
    spans = call(_tutti.speech_spans, samples_of(audio), native_vad(chosen))
    return [{"start": start, "end": end} for start, end in spans]


def recording_of(audio: Audio) -> _tutti.Recording:
    """A recording of whatever a caller has: see `Audio`."""
    if isinstance(audio, (str, os.PathLike)):
        return call(_tutti.Recording.of_file, os.fspath(audio))
    if hasattr(audio, "read"):
        content, name = audio.read(), str(getattr(audio, "name", "the file"))
        if not isinstance(content, bytes):
            raise UsageError(f"{name}: expected a file that was opened for bytes, found one of text", "usage")
        return call(_tutti.Recording.of_bytes, content, name)
    if isinstance(audio, (bytes, bytearray)):
        return call(_tutti.Recording.of_bytes, bytes(audio), "the file")
    return call(_tutti.Recording.of_samples, _samples(audio), RATE, "audio")


def samples_of(audio: Audio) -> NDArray[np.float32]:
    """The samples of whatever a caller has: see `Audio`."""
    is_file = isinstance(audio, (str, os.PathLike, bytes, bytearray)) or hasattr(audio, "read")
    return load_audio(audio) if is_file else _samples(audio)


def _samples(audio: Audio) -> NDArray[np.float32]:
    import numpy as np

    if hasattr(audio, "detach"):  # a tensor, of any device
        audio = audio.detach().cpu()
    array = np.asarray(audio)
    if array.dtype.kind != "f":
        hint = ". Divide by 32768" if array.dtype == np.int16 else ""
        raise UsageError(f"audio: expected floating-point samples of -1 to 1, found {array.dtype}{hint}", "usage")
    if array.ndim != 1:
        raise UsageError(f"audio: expected one channel, [samples], found the shape {array.shape}. "
                         "Take the mean of the channels", "usage")
    if array.size == 0:
        raise UsageError("audio: expected one sample or more, found none", "usage")
    loudest = max(float(array.max()), -float(array.min()))
    if loudest > LOUDEST:
        raise UsageError(f"audio: expected samples of -1 to 1, found {loudest:g}. Divide by the largest that there can be: "
                         "32768 of 16 bits", "usage")
    return np.ascontiguousarray(array, dtype=np.float32)
