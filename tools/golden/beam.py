#!/usr/bin/env python3
"""Golden values of beam search, from openai-whisper's BeamSearchDecoder and MaximumLikelihoodRanker.

Usage: beam.py DATA TESTS_DATA   (a virtual environment with openai-whisper==20250625, torch, safetensors)
DATA is the shared data folder, TESTS_DATA this project's tests/data. Writes decode/beam.json: searches over logits that both
sides compute from a formula over the whole history of a beam (tests/decode/formula_stepper.h), and searches over the shared
clips with DATA/whisper-tiny.en in float32; and system/beam.json: whole transcripts with five beams.
"""
import json
import pathlib
import sys
import types

import numpy as np
import torch
import whisper
from whisper.audio import N_FRAMES, N_SAMPLES, load_audio, log_mel_spectrogram, pad_or_trim
from whisper.decoding import DecodingOptions, DecodingTask
from whisper.tokenizer import get_tokenizer

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from formula import formula_logits  # noqa: E402
from transcribe import kept, load  # noqa: E402

MASK = (1 << 64) - 1
N_VOCAB = 51864
CLIPS = ["mixed-2.wav", "string-george.wav", "string-lucas.wav"]
SEARCHES = [{}, {"patience": 2.0}, {"length_penalty": 0.6}, {"length_penalty": 1.0}, {"patience": 2.0, "length_penalty": 0.8}]


class FormulaModel:
    """What DecodingTask touches of a Whisper model. Logits depend on every token a beam holds."""

    def __init__(self, seed):
        self.dims = types.SimpleNamespace(n_text_ctx=448, n_audio_ctx=1500, n_audio_state=8, n_vocab=N_VOCAB)
        self.is_multilingual, self.num_languages, self.seed = False, 99, seed
        self.tokenizer = get_tokenizer(False)
        self.decoder = types.SimpleNamespace(blocks=[])
        self.encoder = lambda mel: torch.zeros(1, 1500, 8)
        self.first = True

    def row(self, held):
        seed = self.seed
        for token in held:
            seed = (seed * 1000003 + token) & MASK
        return formula_logits(seed, len(held) - 1, held[-1], N_VOCAB, self.tokenizer.timestamp_begin, self.tokenizer.eot)

    def logits(self, tokens, _):
        """As PyTorchInference.logits: the whole prompt first, then the newest token."""
        beams = tokens.tolist()
        if self.first:
            self.first = False
            rows = np.stack([self.row(beams[0][: i + 1]) for i in range(len(beams[0]))])
            return torch.from_numpy(rows)[None].repeat(len(beams), 1, 1)
        return torch.from_numpy(np.stack([self.row(beam) for beam in beams]))[:, None]


def options_of(task):
    options = task.options
    return {"prompt": list(task.initial_tokens), "sot_index": task.sot_index, "max_tokens": task.sample_len,
            "timestamps": not options.without_timestamps, "suppress": list(task._get_suppress_tokens()),
            "beam_size": options.beam_size, "patience": options.patience or 1.0,
            "length_penalty": -1 if options.length_penalty is None else options.length_penalty}


def run_formula(seed, **options):
    model = FormulaModel(seed)
    task = DecodingTask(model, DecodingOptions(language="en", fp16=False, **options))
    task.inference = types.SimpleNamespace(logits=model.logits, cleanup_caching=lambda: None,
                                           rearrange_kv_cache=lambda sources: None)
    task.decoder.inference = task.inference
    [result] = task.run(torch.zeros(1, 80, 3000))
    return {"seed": seed, **options_of(task), "tokens": result.tokens, "avg_logprob": result.avg_logprob}


def formula_searches():
    yield run_formula(1, beam_size=5)
    yield run_formula(2, beam_size=1)
    yield run_formula(2, beam_size=1, patience=3.0, sample_len=60)
    yield run_formula(3, beam_size=2, patience=1.25)  # round(2.5) is 2
    yield run_formula(3, beam_size=2, patience=1.75)  # round(3.5) is 4
    yield run_formula(4, beam_size=4, patience=0.5)
    yield run_formula(5, beam_size=5, patience=2.0)
    yield run_formula(6, beam_size=5, length_penalty=0.0)
    yield run_formula(7, beam_size=5, length_penalty=0.6, patience=2.0)
    yield run_formula(8, beam_size=3, length_penalty=1.0)
    yield run_formula(9, beam_size=5, sample_len=6)  # nothing finishes: live beams fill up
    yield run_formula(10, beam_size=3, without_timestamps=True)
    yield run_formula(11, beam_size=4, prompt=list(range(300, 340)))


def search_clips(model, folder):
    for name in CLIPS:
        mel = log_mel_spectrogram(load_audio(str(folder / name)), 80, padding=N_SAMPLES)
        frames = min(mel.shape[-1] - N_FRAMES, N_FRAMES)
        features = model.encoder(pad_or_trim(mel[:, :frames], N_FRAMES)[None])
        for search in SEARCHES:
            task = DecodingTask(model, DecodingOptions(language="en", fp16=False, beam_size=5, **search))
            with torch.no_grad():
                [result] = task.run(features)
            yield {"path": f"whisper-tiny.en/clips/{name}", "frames": frames, **options_of(task), "tokens": result.tokens,
                   "avg_logprob": result.avg_logprob, "no_speech_prob": result.no_speech_prob}
        print(name, flush=True)


def transcripts(model, data):
    for path in ("whisper-tiny.en/clips/mixed-1.wav", "whisper-tiny.en/clips/string-lucas.wav", "speech/jfk.flac"):
        for search in ({}, {"patience": 2.0, "length_penalty": 0.6}):
            plain = whisper.transcribe(model, str(data / path), language="en", temperature=0.0, fp16=False, beam_size=5, **search)
            yield {"path": path, "search": search, "text": plain["text"], "segments": [kept(s) for s in plain["segments"]]}


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    torch.set_num_threads(1)
    made_by = "tools/golden/beam.py, openai-whisper 20250625"
    formula = list(formula_searches())
    print("formula", flush=True)
    model = load(data / "whisper-tiny.en")
    with torch.no_grad():
        clips = list(search_clips(model, data / "whisper-tiny.en/clips"))
        whole = list(transcripts(model, data))
    # One list of suppressed tokens for all.
    suppress = formula[0]["suppress"]
    for search in formula + clips:
        assert search.pop("suppress") == suppress
    (out / "decode/beam.json").write_text(json.dumps(
        {"made_by": made_by, "suppress": suppress, "formula": formula, "clips": clips}, separators=(",", ":")) + "\n")
    (out / "system/beam.json").write_text(json.dumps({"made_by": made_by, "clips": whole}, indent=0) + "\n")


if __name__ == "__main__":
    main()
