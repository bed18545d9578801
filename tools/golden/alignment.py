#!/usr/bin/env python3
"""Golden values of word alignment: what openai-whisper's find_alignment makes of the shared clips, token by token.

Usage: alignment.py DATA OUT.json   (a virtual environment with openai-whisper==20250625, torch, safetensors)
DATA is the shared data folder. The weights are DATA/whisper-tiny.en, float32 on the CPU, with the alignment heads that its
generation_config.json lists. Every window of every clip is aligned as transcribe(word_timestamps=True) does.

Also writes what dtw_cpu and median_filter make of random matrices, ties among them.
"""
import json
import pathlib
import sys

import numpy as np
import torch
import whisper
import whisper.timing as timing

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from transcribe import load  # noqa: E402

CLIPS = ["mixed-1.wav", "mixed-2.wav", "string-george.wav", "string-lucas.wav", "string-theo.wav"]


def set_heads(model, folder):
    mask = torch.zeros(model.dims.n_text_layer, model.dims.n_text_head, dtype=torch.bool)
    for layer, head in json.loads((folder / "generation_config.json").read_text())["alignment_heads"]:
        mask[layer, head] = True
    model.register_buffer("alignment_heads", mask.to_sparse(), persistent=False)


def align_clip(model, path):
    """The calls of find_alignment during one transcription, each with its own answer per token."""
    calls = []
    seen = {}
    dtw, find, softmax = timing.dtw, timing.find_alignment, torch.Tensor.softmax

    def spy_dtw(matrix):
        text_indices, time_indices = dtw(matrix)
        jumps = np.pad(np.diff(text_indices), (1, 0), constant_values=1).astype(bool)
        seen["starts"] = [int(t) for t in time_indices[jumps]]
        return text_indices, time_indices

    def spy_softmax(self, dim):
        result = softmax(self, dim=dim)
        if self.ndim == 2:
            seen["token_probs"] = result
        return result

    def spy_find(model, tokenizer, text_tokens, mel, num_frames, **kwargs):
        torch.Tensor.softmax = spy_softmax
        words = find(model, tokenizer, text_tokens, mel, num_frames, **kwargs)
        torch.Tensor.softmax = softmax
        probabilities = seen["token_probs"][np.arange(len(text_tokens)), text_tokens] if text_tokens else []
        calls.append({"frames": int(num_frames), "sot_sequence": list(tokenizer.sot_sequence), "text": list(text_tokens),
                      "starts": seen["starts"], "probabilities": [round(float(p), 7) for p in probabilities],
                      "words": [{"word": w.word, "start": round(float(w.start), 2), "end": round(float(w.end), 2)} for w in words]})
        return words

    timing.dtw, timing.find_alignment = spy_dtw, spy_find
    try:
        result = whisper.transcribe(model, str(path), language="en", temperature=0.0, fp16=False, word_timestamps=True)
    finally:
        timing.dtw, timing.find_alignment, torch.Tensor.softmax = dtw, find, softmax
    seeks = sorted({s["seek"] for s in result["segments"] if s["tokens"]})
    assert len(seeks) == len(calls), (path, len(seeks), len(calls))
    return [{"seek": seek, **call} for seek, call in zip(seeks, calls)]


def random_cases():
    rng = np.random.default_rng(7)
    cases = []
    for rows, columns in ((1, 1), (1, 9), (9, 1), (2, 2), (5, 5), (7, 40), (40, 7), (30, 90)):
        for steps in (2, 5, 1000):  # few different values: many ties
            costs = (rng.integers(0, steps, (rows, columns)) / np.float32(4)).astype(np.float32)
            text, time = timing.dtw(torch.from_numpy(costs))
            jumps = np.pad(np.diff(text), (1, 0), constant_values=1).astype(bool)
            cases.append({"rows": rows, "columns": columns, "costs": [round(float(c) * 4) for c in costs.flatten()],
                          "starts": [int(t) for t in time[jumps]]})
    return cases


def median_cases():
    rng = np.random.default_rng(8)
    cases = []
    for length in (1, 3, 4, 5, 7, 63, 64, 65, 200):
        row = rng.integers(-50, 50, length)
        filtered = timing.median_filter(torch.from_numpy(row.astype(np.float32))[None, None], 7)[0, 0]
        cases.append({"row": [int(v) for v in row], "filtered": [int(v) for v in filtered]})
    return cases


def main():
    data, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    torch.set_num_threads(1)
    model = load(data / "whisper-tiny.en")
    set_heads(model, data / "whisper-tiny.en")
    clips = []
    for name in CLIPS:
        path = data / "whisper-tiny.en/clips" / name
        windows = align_clip(model, path)
        clips.append({"path": f"whisper-tiny.en/clips/{name}", "windows": windows})
        print(name, len(windows), "windows", flush=True)
    out.write_text(json.dumps({"made_by": "tools/golden/alignment.py, openai-whisper 20250625", "clips": clips,
                               "time_warps": random_cases(), "medians": median_cases()}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
