"""whisper.cpp by its Python bindings, as PyPI has them built: one file after the other. It does not report its decoder steps."""
import os

from .job import Transcript
from .sound import load_sound


def load(job):
    from pywhispercpp.model import Model

    search = {"beam_search": {"beam_size": job.beams, "patience": -1.0}} if job.beams > 1 else {"greedy": {"best_of": 1}}
    return Model(str(job.model), params_sampling_strategy=int(job.beams > 1), redirect_whispercpp_logs_to=None,
                 n_threads=os.cpu_count(), language="en", temperature_inc=0.0, no_context=not job.natural,
                 print_progress=False, print_timestamps=False, **search)


def tokens_of(model):
    """Text tokens, and two for the times of each segment, as the transcripts of others have them."""
    import _pywhispercpp as bindings

    segments = range(bindings.whisper_full_n_segments(model._ctx))
    texts = [bindings.whisper_full_get_token_text(model._ctx, segment, token) for segment in segments
             for token in range(bindings.whisper_full_n_tokens(model._ctx, segment))]
    return sum(not text.startswith(("[_", b"[_")[isinstance(text, bytes)]) for text in texts) + 2 * len(segments)


def run(model, job, _count):
    for file in job.files:
        segments = model.transcribe(load_sound(file))
        yield Transcript(file, " ".join(segment.text for segment in segments), tokens_of(model))
