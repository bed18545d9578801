"""The lines of the contract: what is measured, on which audio, and who may come as the peer."""
import dataclasses

MODES = ("sequential", "batched", "short40")
SIZES = ("tiny", "base", "small")
SEARCHES = {"greedy": 1, "beam5": 5}


@dataclasses.dataclass(frozen=True)
class Line:
    mode: str
    size: str
    search: str

    @property
    def name(self):
        return f"transcribe/{self.mode}/{self.size}/{self.search}"

    @property
    def beams(self):
        return SEARCHES[self.search]


LINES = [Line(mode, size, search) for size in SIZES for mode in MODES for search in SEARCHES]


#: Where our --deterministic is set beside our own default (fixed_shapes.py).
FIXED_SHAPES = [Line(mode, "tiny", search) for mode in MODES for search in SEARCHES]


@dataclasses.dataclass(frozen=True)
class Setting:
    """One way to run a peer. `form`: the weights it reads (convert.py)."""
    engine: str
    compute_type: str
    way: str
    form: str

    @property
    def name(self):
        return f"{self.engine} {self.compute_type} {self.way}"


def faster_whisper(way):
    return Setting("faster-whisper", "int8", way, "ctranslate2-int8")


OPENVINO = Setting("openvino", "int8", "sequential", "openvino-int8")
PYWHISPERCPP = Setting("pywhispercpp", "q8_0", "sequential", "bindings")
OPENAI = Setting("openai-whisper", "float32", "sequential", "openai")
WHISPER_CPP = Setting("whisper.cpp", "q8_0", "sequential", "ggml")


def transformers(way):
    return Setting("transformers", "bfloat16", way, "hugging-face")


#: Who may be the best, the likeliest first: the others are stopped as soon as they have lost to it.
CANDIDATES = {
    "sequential": [OPENVINO, faster_whisper("sequential"), PYWHISPERCPP, WHISPER_CPP, transformers("batched:1"), OPENAI],
    "batched": [faster_whisper("batched:8"), faster_whisper("batched:4"), transformers("batched:8"), WHISPER_CPP, OPENAI],
    "short40": [faster_whisper("joined:8"), faster_whisper("joined:4"), faster_whisper("workers:2"),
                faster_whisper("sequential"), OPENVINO, transformers("batched:8"), PYWHISPERCPP, WHISPER_CPP, OPENAI],
}

#: Peers whose peak memory is shown beside ours, even if another is the fastest: faster-whisper at our own usual batch, and whisper.cpp.
MEMORY_BESIDE = {
    "sequential": [faster_whisper("sequential"), WHISPER_CPP],
    "batched": [faster_whisper("batched:8"), WHISPER_CPP],
    "short40": [],
}

#: Where real words are decoded: the complete tiny.en on the clips LJ003-*, type against the same type.
NATURAL = [
    ("transcribe/sequential/tiny/greedy/float32", "float32", OPENAI),
    ("transcribe/sequential/tiny/greedy/bfloat16", "bfloat16", transformers("batched:8")),
    ("transcribe/sequential/tiny/greedy/float32-ctranslate2", "float32",
     Setting("faster-whisper", "float32", "sequential", "ctranslate2-float32")),
    ("transcribe/sequential/tiny/greedy/fastest", "auto", faster_whisper("sequential")),
    ("transcribe/sequential/tiny/greedy/openvino", "auto", OPENVINO),
    ("transcribe/sequential/tiny/greedy/pywhispercpp", "auto", PYWHISPERCPP),
]
