#!/usr/bin/env python3
"""Runs openai-whisper 20250625's own transcribe() over scripted models -> tests/data/transcript/long_form.json.

Usage: long_form.py [OUTPUT] [--show N]. Needs openai-whisper and no weights: a fake model answers every decoding from a pool of
answers. Stored are the pool, and per scenario the options, which answers were given, and CRC-32 sums of the requests the loop
made and of its result as JSON; the first few scenarios also in clear. --show N prints scenario N in clear.
Scenarios in which the reference would not end, or hears beyond the end of the recording, are left out (docs/decoding.md says what we do).
"""
import importlib
import json
import pathlib
import random
import sys
import types
import zlib

import numpy as np
import torch
from whisper.decoding import DecodingResult, DecodingTask
from whisper.tokenizer import get_tokenizer
from whisper.utils import compression_ratio

reference = importlib.import_module("whisper.transcribe")  # whisper.transcribe is also a function

OUTPUT = pathlib.Path(__file__).parents[2] / "tests/data/transcript/long_form.json"
VOCABULARIES = {"english": (False, 99), "multilingual": (True, 99), "large-v3": (True, 100)}
SCENARIOS, IN_CLEAR, MOST_REQUESTS = 400, 6, 120

PROMPTS = [" Names: K\u00f6hler, \u674e\u96f7. ", "x", "\u3000\u65e5\u672c\u8a9e\u3067\u3059\u3002\n", "word " * 100, "word " * 31, "many words here " * 80]
FILLS_64 = 4  # 31 tokens: all the room for prompts in a text context of 64

# In the pool a timestamp of k steps is -1 - k and a special token eot + k is -10000 - k, whatever the vocabulary.
TIMESTAMP, SPECIAL = -1, -10000


class Unusable(Exception):
    """The reference left the ground that is compared."""


def real_tokens(tokens, tokenizer):
    return [t if t >= 0 else tokenizer.eot + SPECIAL - t if t <= SPECIAL else tokenizer.timestamp_begin + TIMESTAMP - t for t in tokens]


def words(rng):
    kind = rng.random()
    if kind < 0.08:
        return rng.choices([220], k=rng.randint(0, 3))  # nothing but spaces
    if kind < 0.2:
        return rng.choices(range(300, 50000), k=2) * rng.randint(20, 60)  # a loop, far above ratio 2.4
    text = rng.choices(range(256, 50000), k=rng.randint(1, 12))
    if rng.random() < 0.1:
        text.insert(rng.randint(0, len(text)), SPECIAL - rng.randint(2, 30))  # a language, never sot
    return text


def answer(rng):
    """Mostly what the timestamp rules allow; now and then an answer that a model without them gives."""
    at = rng.choice([0, 0, 0, rng.randint(0, 50)])
    tokens = []
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 5])):
        tokens += [TIMESTAMP - at, *words(rng)]
        at = min(at + rng.randint(0 if rng.random() < 0.1 else 1, 500), 1500)
        tokens.append(TIMESTAMP - at)
        at = min(at + rng.choice([0, 0, rng.randint(1, 100)]), 1500)
    ending = rng.random()
    if ending < 0.3:
        tokens += [TIMESTAMP - at, *words(rng)]  # cut off
    elif ending < 0.5:
        tokens += words(rng)
    elif ending < 0.6 and tokens:
        tokens.append(TIMESTAMP - at)
    return tokens


def pool(rng):
    made = []
    for _ in range(100):
        logprob = rng.choice([-0.2, -0.35, -0.5, -0.99, -1.0, -1.01, -1.5]) + rng.choice([0.0, rng.uniform(-0.01, 0.01)])
        silence = rng.choice([0.01, 0.01, 0.3, 0.6, 0.61, 0.95])
        made.append([answer(rng), logprob, silence])
    return made


def options(rng, frames):
    made = {}
    if rng.random() < 0.2:
        made["temperature"] = rng.choice([[0.0], [0.4], [0.0, 0.6], [0.2, 0.5, 0.6000000000000001], [1.0, 0.0]])
    for name, values in {"compression_ratio_threshold": [None, 1.3, 5.0], "logprob_threshold": [None, -0.4, -3.0], "no_speech_threshold": [None, 0.2, 1.0],
                         "condition_on_previous_text": [False], "without_timestamps": [True], "sample_len": [50], "carry_initial_prompt": [True]}.items():
        if rng.random() < 0.25:
            made[name] = rng.choice(values)
    if rng.random() < 0.4:
        made["initial_prompt"] = rng.randrange(len(PROMPTS))
    if rng.random() < 0.3:
        seconds = frames / 100
        points = sorted(round(rng.uniform(0, seconds), rng.choice([0, 1, 3])) for _ in range(rng.randint(0, 5)))
        if rng.random() < 0.2:
            rng.shuffle(points)
        made["clip_timestamps"] = points
    if rng.random() < 0.5:
        made["language"] = rng.choice(["en", "de", "zh"])
    if rng.random() < 0.2:
        made["task"] = "translate"
    return made


class FakeModel:
    """Looks like a Whisper to transcribe() and DecodingTask. The mel it gets holds each frame's number plus one."""

    device = torch.device("cpu")

    def __init__(self, vocabulary, n_text_ctx, frames, rng, answers):
        self.is_multilingual, self.num_languages = VOCABULARIES[vocabulary]
        self.dims = types.SimpleNamespace(n_mels=1, n_audio_ctx=1500, n_text_ctx=n_text_ctx)
        self.decoder = types.SimpleNamespace(blocks=[])
        self.tokenizer = get_tokenizer(self.is_multilingual, num_languages=self.num_languages, language="en", task="transcribe")
        self.rng, self.answers, self.frames = rng, answers, frames
        self.requests, self.given, self.seen = [], [], None

    def span(self, mel):
        frames = int((mel[0] > 0).sum())
        if frames == 0:
            raise Unusable
        return int(mel[0, 0]) - 1, frames

    def detect_language(self, mel):
        seek, frames = self.span(mel)
        self.requests.append(f"language {seek} {frames}")
        heard = self.rng.choice(["de", "ja", "en"])
        self.heard = heard
        return None, {"en": 0.25, heard: 0.75}

    def decode(self, mel, options):
        if len(self.requests) >= MOST_REQUESTS:
            raise Unusable
        seek, frames = self.span(mel)
        task = DecodingTask(self, options)
        prompt = " ".join(map(str, task.initial_tokens))
        self.requests.append(f"decode {seek} {frames} {json.dumps(float(options.temperature))} {task.sample_len} {task.sot_index} [{prompt}]")
        if self.seen and self.seen == (seek, options.temperature):
            raise Unusable  # the same window again: it did not get on
        self.seen = (seek, options.temperature)
        number = self.rng.randrange(len(self.answers))
        self.given.append(number)
        tokens, logprob, silence = self.answers[number]
        tokens = real_tokens(tokens, self.tokenizer)
        text = self.tokenizer.decode(tokens).strip()
        return DecodingResult(audio_features=None, language="en", tokens=tokens, text=text, avg_logprob=logprob, no_speech_prob=silence,
                              temperature=options.temperature, compression_ratio=compression_ratio(text))


def numbered_frames(frames):
    return lambda audio, n_mels, padding: torch.arange(1.0, frames + 3001.0)[None, :]


def scenario(seed, answers):
    rng = random.Random(seed)
    frames = rng.choice([0, 1, rng.randint(2, 3000), 3000, rng.randint(3001, 9000), rng.randint(9000, 60000)])
    made = {"vocabulary": rng.choice(list(VOCABULARIES)), "n_text_ctx": rng.choice([448, 448, 448, 64]), "frames": frames}
    asked = options(rng, frames)
    if made["n_text_ctx"] == 64 and rng.random() < 0.3:
        asked.update(initial_prompt=FILLS_64, carry_initial_prompt=True)
    model = FakeModel(made["vocabulary"], made["n_text_ctx"], frames, rng, answers)
    reference.log_mel_spectrogram = numbered_frames(frames)
    prompt = {"initial_prompt": PROMPTS[asked["initial_prompt"]]} if "initial_prompt" in asked else {}
    result = reference.transcribe(model, None, fp16=False, **{**asked, **prompt})
    if any(s["start"] < 0 or s["end"] < s["start"] for s in result["segments"]):
        raise Unusable  # a slice that begins with text
    return {**made, "options": asked, "heard": getattr(model, "heard", None), "answers": model.given}, "\n".join(model.requests), json.dumps(result)


def ladders():
    """Temperatures as the command line makes them from --temperature and --temperature_increment_on_fallback."""
    steps = [(0, 0.2), (0, 0.1), (0.3, 0.2), (0, 0.3), (0.1, 0.05), (1, 0.2), (0, 1), (0.5, 0.15), (0.2, 0.4), (0.7, 0.001)]
    return [[first, step, json.dumps(list(np.arange(first, 1.0 + 1e-6, step)))] for first, step in steps]


def usable(answers):
    seed = 0
    while True:
        try:
            yield scenario(seed, answers)
        except Unusable:
            pass
        seed += 1


def main():
    arguments = sys.argv[1:]
    shown = int(arguments.pop(arguments.index("--show") + 1)) if "--show" in arguments else None
    output = pathlib.Path(arguments[0]) if arguments and not arguments[0].startswith("--") else OUTPUT
    answers = pool(random.Random(20250625))
    made = []
    for number, (row, requests, result) in zip(range(SCENARIOS), usable(answers)):
        if number == shown:
            print(json.dumps(row), requests, result, sep="\n")
            return
        row["requests"], row["result"] = (zlib.crc32(text.encode()) for text in (requests, result))
        if number < IN_CLEAR:
            row["in_clear"] = [requests, result]
        made.append(row)
    document = {"made_by": "tools/golden/long_form.py, openai-whisper 20250625", "prompts": PROMPTS, "temperatures": ladders(), "answers": answers, "scenarios": made}
    output.write_text(json.dumps(document, indent=0, separators=(",", ":")).replace(",\n", ",") + "\n")
    decodings = sum(len(row["answers"]) for row in made)
    print(f"{output}: {output.stat().st_size} bytes, {len(made)} scenarios, {decodings} decodings")


if __name__ == "__main__":
    main()
