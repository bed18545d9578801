"""Word error rates, as jiwer counts them. No torch is needed."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from . import _tutti
from .errors import UsageError
from .native import call

NORMALIZERS = {"none": _tutti.TextNormalizer.none, "english": _tutti.TextNormalizer.english, "basic": _tutti.TextNormalizer.basic}


@dataclasses.dataclass(frozen=True)
class WordErrors:
    """Errors of texts against their references: `wer` per word, `cer` per character of the references."""

    wer: float
    cer: float
    words: int
    substitutions: int
    insertions: int
    deletions: int


def wer(reference: str | Sequence[str], hypothesis: str | Sequence[str], normalizer: str = "none") -> WordErrors:
    """The errors of a text, or of each of several. `normalizer`, for both: "none", or Whisper's "english" or "basic"."""
    if normalizer not in NORMALIZERS:
        raise UsageError(f"normalizer: expected {', '.join(NORMALIZERS)}, found '{normalizer}'", "usage")
    references = [reference] if isinstance(reference, str) else list(reference)
    hypotheses = [hypothesis] if isinstance(hypothesis, str) else list(hypothesis)
    found = call(_tutti.word_errors, references, hypotheses, NORMALIZERS[normalizer])
    return WordErrors(found.wer, found.cer, found.words, found.substitutions, found.insertions, found.deletions)
