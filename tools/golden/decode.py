#!/usr/bin/env python3
"""Writes tests/data/decode/filters.json and decodings.json: what openai-whisper's logit filters and DecodingTask make of
logits that both sides compute from a formula (tests/decode/formula_logits.h), so that no logits need storing.

Usage: decode.py OUTPUT_FOLDER, in an environment with openai-whisper 20250625.
"""
import json
import pathlib
import sys
import types

import numpy as np
import torch
from whisper.decoding import ApplyTimestampRules, DecodingOptions, DecodingTask, SuppressBlank, SuppressTokens
from whisper.tokenizer import get_tokenizer

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from formula import formula_logits  # noqa: E402

VOCABULARIES = {"english": (False, 99, 51864), "multilingual": (True, 99, 51865), "large-v3": (True, 100, 51866)}


def tokenizer_of(name):
    multilingual, languages, _ = VOCABULARIES[name]
    return get_tokenizer(multilingual, num_languages=languages, language="en", task="transcribe")


def ids_of(tokenizer, n_vocab):
    return {"n_vocab": n_vocab, "eot": tokenizer.eot, "timestamp_begin": tokenizer.timestamp_begin,
            "no_timestamps": tokenizer.no_timestamps, "no_speech": tokenizer.no_speech,
            "blank": tokenizer.encode(" ")}


def filter_cases():
    for name, (_, _, n_vocab) in VOCABULARIES.items():
        tokenizer = tokenizer_of(name)
        t, end = tokenizer.timestamp_begin, tokenizer.eot
        histories = [[], [t], [t, 500], [t, 500, 600], [t, 500, t + 40], [t, 500, t + 40, t + 40], [t, 500, t + 40, t + 50],
                     [t + 3, 500, t + 40, t + 40, 700], [t, 500, t + 1500], [500], [t, 500, t + 1500, t + 1500], [t, end - 1]]
        for number, history in enumerate(histories):
            for limit in (50, 0, None):
                for position in (5, 7):  # with heavy and with light timestamps
                    yield tokenizer, n_vocab, history, limit, 1000 + number, position


def run_filters(tokenizer, n_vocab, history, limit, seed, position):
    row = formula_logits(seed, position, 11, n_vocab, tokenizer.timestamp_begin, tokenizer.eot)
    logits = torch.from_numpy(row)[None]
    tokens = torch.tensor([[tokenizer.sot] + history])
    suppress = sorted(set(tokenizer.non_speech_tokens) | {tokenizer.sot, tokenizer.no_speech})
    for rule in (SuppressBlank(tokenizer, 1), SuppressTokens(suppress), ApplyTimestampRules(tokenizer, 1, limit)):
        rule.apply(logits, tokens)
    allowed = torch.isfinite(logits[0]).nonzero()[:, 0]
    best = int(logits[0].argmax())
    return {"history": history, "max_initial_timestamp": -1 if limit is None else limit, "seed": seed, "position": position,
            "suppress": suppress, "allowed": len(allowed), "allowed_sum": int(allowed.sum()), "best": best,
            "logprob": float(torch.log_softmax(logits[0], -1)[best]),
            "logsumexp": float(torch.logsumexp(logits[0].double(), -1))}


class FormulaModel:
    """What DecodingTask touches of a Whisper model; the decoder's logits come from the formula."""

    def __init__(self, name, seed):
        multilingual, languages, n_vocab = VOCABULARIES[name]
        self.dims = types.SimpleNamespace(n_text_ctx=448, n_audio_ctx=1500, n_audio_state=8, n_vocab=n_vocab)
        self.is_multilingual, self.num_languages = multilingual, languages
        self.tokenizer, self.seed, self.position = tokenizer_of(name), seed, 0
        self.decoder = types.SimpleNamespace(blocks=[])
        self.encoder = lambda mel: torch.zeros(1, 1500, 8)

    def logits(self, tokens, _):
        """As PyTorchInference.logits: the whole prompt first, then the newest token."""
        fresh = tokens[0].tolist()[self.position:]
        rows = []
        for token in fresh:
            rows.append(formula_logits(self.seed, self.position, token, self.dims.n_vocab,
                                       self.tokenizer.timestamp_begin, self.tokenizer.eot))
            self.position += 1
        return torch.from_numpy(np.stack(rows))[None]


def run_decoding(name, seed, **options):
    model = FormulaModel(name, seed)
    task = DecodingTask(model, DecodingOptions(language="en", fp16=False, **options))
    task.inference = types.SimpleNamespace(logits=model.logits, cleanup_caching=lambda: None)
    [result] = task.run(torch.zeros(1, 80, 3000))
    n_ts = None if task.options.max_initial_timestamp is None else round(task.options.max_initial_timestamp / 0.02)
    return {"vocabulary": name, "seed": seed, "prompt": list(task.initial_tokens), "sot_index": task.sot_index,
            "max_tokens": task.sample_len, "timestamps": not task.options.without_timestamps,
            "suppress_blank": task.options.suppress_blank, "suppress": list(task._get_suppress_tokens()),
            "max_initial_timestamp": -1 if not n_ts else n_ts,
            "tokens": result.tokens, "avg_logprob": result.avg_logprob, "no_speech_prob": result.no_speech_prob}


def decodings():
    for name in VOCABULARIES:
        for seed in range(3):
            yield run_decoding(name, seed)
        yield run_decoding(name, 10, prompt=list(range(300, 340)))
        yield run_decoding(name, 11, without_timestamps=True)
        yield run_decoding(name, 12, max_initial_timestamp=None)
        yield run_decoding(name, 13, suppress_blank=False, suppress_tokens=[500])
        yield run_decoding(name, 14, sample_len=5)
        # Ends at the text context: 224 prompt tokens, and nothing lets it end before.
        yield run_decoding(name, 15, prompt=list(range(300, 530)), sample_len=440, suppress_tokens=f"-1,{tokenizer_of(name).eot}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    vocabularies = {name: ids_of(tokenizer_of(name), n_vocab) for name, (_, _, n_vocab) in VOCABULARIES.items()}
    cases = {name: [] for name in VOCABULARIES}
    suppress = {}
    for tokenizer, n_vocab, *rest in filter_cases():
        name = next(n for n, (_, _, size) in VOCABULARIES.items() if size == n_vocab)
        case = run_filters(tokenizer, n_vocab, *rest)
        suppress[name] = case.pop("suppress")
        cases[name].append(case)
    (folder / "filters.json").write_text(
        json.dumps({"vocabularies": vocabularies, "suppress": suppress, "cases": cases}, separators=(",", ":")) + "\n")
    (folder / "decodings.json").write_text(
        json.dumps({"vocabularies": vocabularies, "decodings": list(decodings())}, separators=(",", ":")) + "\n")


main()
