"""The job of a peer, and the result that it returns."""
import dataclasses
import pathlib


@dataclasses.dataclass
class Job:
    model: pathlib.Path
    files: list
    compute_type: str
    way: str  # "sequential", "batched:N", "workers:N", "joined:N": see the engine
    beams: int  # 1: greedy
    natural: bool  # the engine's own thresholds and previous text, not the bare decoding at temperature 0


@dataclasses.dataclass
class Transcript:
    """What one file became. `tokens`: ids in the transcript, timestamps included, end-of-text not."""
    file: str
    text: str
    tokens: int


#: Bare decoding, by the names that openai-whisper and faster-whisper share but for one.
BARE = {"condition_on_previous_text": False, "compression_ratio_threshold": None, "no_speech_threshold": None}
