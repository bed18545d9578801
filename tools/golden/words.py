#!/usr/bin/env python3
"""Runs openai-whisper 20250625's transcribe() with word times over scripted models -> tests/data/transcript/words.json.

Usage: words.py [OUTPUT] [--show N]. Needs openai-whisper, faster-whisper and no weights. As long_form.py; the scripted model also
answers alignments: every step of timing.py but attention and the path through it is the reference's own. Starts and probabilities
are drawn by a generator that the test draws from as well. The prompts that faster-whisper 1.2.1 makes of hot words are kept, too.
The reference writes 0 where it clamps a time to the start; here it is 0.0, as every other time.
"""
import importlib
import json
import pathlib
import random
import sys
import types
import zlib

import long_form
import numpy as np
import torch
from faster_whisper import WhisperModel
from long_form import PROMPTS, SPECIAL, TIMESTAMP, Unusable, reference
from tokenizer_strings import Lcg
from whisper.tokenizer import get_tokenizer

timing = importlib.import_module("whisper.timing")

OUTPUT = pathlib.Path(__file__).parents[2] / "tests/data/transcript/words.json"
SCENARIOS, IN_CLEAR = 400, 4
SIGNS = [0, 1, 6, 7, 8, 11, 12, 13, 25, 30, 58, 60, 220, 198, 357, 366, 320, 1373, 1783, 1543, 1231, 2109]  # ! " ' ( ) , - . : ? [ ] and spaces
PREFIXES = [" So, ", "\u3053\u3093\u306b\u3061\u306f", "prefix words " * 20]
STEPS = [[0, 5, 10, 15, 20, 30], [0, 1, 2, 3], [0, 10, 20, 150, 300], [10, 20, 40]]  # from token to token, 0.02 s
MOODS = [(0, 256), (200, 57), (0, 48)]  # probabilities are (least + less than range) / 256
FIRST = [0, 0, 0, 50, 120, 400]


def alignment(seed, count, frames):
    """Starts of `count` tokens and of what follows, and probabilities; the test draws the same."""
    lcg = Lcg(seed)
    steps, (least, range_), at, limit = STEPS[lcg.pick(len(STEPS))], MOODS[lcg.pick(3)], FIRST[lcg.pick(len(FIRST))], max(frames // 2 - 1, 0)
    starts, probabilities = [min(at, limit)], []
    for _ in range(count):
        at += steps[lcg.pick(len(steps))]
        starts.append(min(at, limit))
        probabilities.append((least + lcg.pick(range_)) / 256)
    return starts, probabilities


def words(rng):
    if rng.random() < 0.1:
        return rng.choices(range(256, 50000), k=2) * rng.randint(10, 30)
    return [rng.choice(SIGNS) if rng.random() < 0.35 else SPECIAL - rng.randint(2, 30) if rng.random() < 0.02 else rng.randrange(256, 50000)
            for _ in range(rng.randint(1, 14))]


def pool(rng):
    long_form.words = words
    return long_form.pool(rng)


def begins_with_text(tokens, zero):
    """Does a slice? The reference then starts it minutes early (docs/decoding.md)."""
    pairs = [i for i in range(1, len(tokens)) if tokens[i - 1] >= zero and tokens[i] >= zero]
    return bool(pairs) and any(tokens[i] < zero for i in [0, *pairs[:-1]])


class Probabilities:
    """Stands for logits and what is made of them."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, _):
        return self

    def softmax(self, dim):
        return self

    def tolist(self):
        return self.values


class CrossAttention(torch.nn.Module):
    def forward(self, tokens):
        return None, torch.zeros(1, 1, tokens, 8)


class FakeModel(long_form.FakeModel):
    def __init__(self, *given, seed):
        super().__init__(*given)
        self.seed, self.aligned = seed, 0
        self.dims.n_text_layer = 1
        self.attention = CrossAttention()
        self.decoder.blocks = [types.SimpleNamespace(cross_attn=self.attention, attn=types.SimpleNamespace(key=None, value=None))]
        self.alignment_heads = types.SimpleNamespace(indices=lambda: torch.zeros(2, 1, dtype=torch.int64))

    def decode(self, mel, options):
        result = super().decode(mel, options)
        if begins_with_text(result.tokens, self.tokenizer.timestamp_begin):
            raise Unusable
        return result

    def __call__(self, mel, tokens):
        seek, frames = self.span(mel[0])
        if frames < 2:
            raise Unusable  # no place for a word (docs/decoding.md)
        tokens = tokens[0].tolist()
        begin = tokens.index(self.tokenizer.no_timestamps)
        text = tokens[begin + 1 : -1]
        assert tokens[-1] == self.tokenizer.eot
        self.requests.append(f"align {seek} {frames} [{' '.join(map(str, tokens[:begin]))}] [{' '.join(map(str, text))}]")
        starts, probabilities = alignment(self.seed * 1000 + self.aligned, len(text), frames)
        self.aligned += 1
        self.attention(len(tokens))
        timing.dtw = lambda matrix: (np.arange(matrix.shape[0]), np.array(starts))
        return [Probabilities(probabilities)]


def options(rng, frames):
    made = long_form.options(rng, frames)
    made["word_timestamps"] = True
    if rng.random() < 0.6:
        made["hallucination_silence_threshold"] = rng.choice([0.1, 0.5, 2.0, 8.0])
    if rng.random() < 0.15:
        made["prepend_punctuations"] = rng.choice(["", "(", "\"'\u201c\u00bf([{-.,"])
    if rng.random() < 0.15:
        made["append_punctuations"] = rng.choice(["", ".", "!?"])
    if rng.random() < 0.15:
        made["prefix"] = rng.choice(PREFIXES)
    if rng.random() < 0.3:
        made["language"] = rng.choice(["ja", "zh", "th"])
    return made


def with_float_times(result):
    for segment in result["segments"]:
        for timed in [segment, *segment["words"]]:
            timed["start"], timed["end"] = float(timed["start"]), float(timed["end"])
    return result


def scenario(seed, answers):
    rng = random.Random(seed)
    frames = rng.choice([1, rng.randint(2, 3000), 3000, rng.randint(3001, 9000), rng.randint(9000, 60000)])
    made = {"vocabulary": rng.choice(list(long_form.VOCABULARIES)), "n_text_ctx": rng.choice([448, 448, 448, 64]), "frames": frames, "seed": seed}
    asked = options(rng, frames)
    if made["n_text_ctx"] == 64 and len(asked.get("prefix", "")) > 30:
        raise Unusable  # longer than the text context
    model = FakeModel(made["vocabulary"], made["n_text_ctx"], frames, rng, answers, seed=seed)
    reference.log_mel_spectrogram = long_form.numbered_frames(frames)
    prompt = {"initial_prompt": PROMPTS[asked["initial_prompt"]]} if "initial_prompt" in asked else {}
    result = with_float_times(reference.transcribe(model, None, fp16=False, **{**asked, **prompt}))
    return {**made, "options": asked, "heard": getattr(model, "heard", None), "answers": model.given}, "\n".join(model.requests), json.dumps(result)


def usable(answers):
    seed = 0
    while True:
        try:
            yield scenario(seed, answers)
        except Unusable:
            pass
        seed += 1


def hot_word_prompts():
    """Previous text as the tokens of an initial prompt."""
    model = types.SimpleNamespace(max_length=448)
    tokenizer = get_tokenizer(True, language="en", task="transcribe")
    made = []
    for hot in ["Tutti", "  K\u00f6hler, \u674e\u96f7 ", "many hot words " * 100]:
        for previous in ["", "What was said. ", "a word and another " * 40]:
            for without_timestamps in (False, True):
                said = tokenizer.encode(" " + previous.strip()) if previous else []
                prompt = WhisperModel.get_prompt(model, tokenizer, said, without_timestamps, None, hot)
                if len(prompt) < 448:  # else the model fails
                    made.append([hot, previous, without_timestamps, zlib.crc32(" ".join(map(str, prompt)).encode())])
    return made


def main():
    arguments = sys.argv[1:]
    shown = int(arguments.pop(arguments.index("--show") + 1)) if "--show" in arguments else None
    output = pathlib.Path(arguments[0]) if arguments and not arguments[0].startswith("--") else OUTPUT
    long_form.MOST_REQUESTS = 200
    answers = pool(random.Random(20250626))
    made = []
    for number, (row, requests, result) in zip(range(SCENARIOS), usable(answers)):
        if number == shown:
            print(json.dumps(row), requests, result, sep="\n")
            return
        row["requests"], row["result"] = (zlib.crc32(text.encode()) for text in (requests, result))
        if number < IN_CLEAR:
            row["in_clear"] = [requests, result]
        made.append(row)
    document = {"made_by": "tools/golden/words.py, openai-whisper 20250625, faster-whisper 1.2.1", "prompts": PROMPTS, "hot_words": hot_word_prompts(),
                "answers": answers, "scenarios": made}
    output.write_text(json.dumps(document, indent=0, separators=(",", ":")).replace(",\n", ",") + "\n")
    decodings = sum(len(row["answers"]) for row in made)
    print(f"{output}: {output.stat().st_size} bytes, {len(made)} scenarios, {decodings} decodings")


if __name__ == "__main__":
    main()
