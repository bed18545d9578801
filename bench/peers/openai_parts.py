#!/usr/bin/env python3
"""The network alone, side by side with openai-whisper: encoder per window, decoder per token, in one run.

Usage: openai_parts.py BUILD/bin/model_whisper_bench [ROUNDS]
Runs in a Python that has openai-whisper (and transformers, for bfloat16). Interleaves both in every round, takes each side's
best of all rounds (the machine may be shared), and prints one line per part: ratio > 1 means Tutti is faster. Random weights
in the shape of tiny.en on both sides. With OMP_NUM_THREADS=1 it compares CPU time, which a busy machine does not change.
"""
import json
import subprocess
import sys
import time

import torch
import transformers
from whisper.model import ModelDimensions, Whisper

TINY = ModelDimensions(80, 1500, 384, 6, 4, 51864, 448, 384, 6, 4)


def best(fn, seconds=1.5):
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    fn()
    times, end = [], clock() + seconds
    while clock() < end or len(times) < 3:
        start = clock()
        fn()
        times.append(clock() - start)
    return min(times) * 1e3


def openai_parts(model):
    mel = torch.randn(1, 80, 3000)
    encoded = model.encoder(mel)
    found = {"encode/0": best(lambda: model.encoder(mel))}
    for batch in (1, 5, 8):
        cache, hooks = model.install_kv_cache_hooks()
        windows = encoded.expand(batch, -1, -1)
        model.decoder(torch.full((batch, 100), 440), windows, kv_cache=cache)
        token = torch.full((batch, 1), 440)
        kept = dict(cache)

        def step():
            cache.update(kept)
            model.decoder(token, windows, kv_cache=cache)

        found[f"step/0/{batch}"] = best(step)
        for hook in hooks:
            hook.remove()
    return found


def transformers_parts(model):
    mel = torch.randn(1, 80, 3000, dtype=torch.bfloat16)
    encoder, decoder = model.get_encoder(), model.get_decoder()
    encoded = encoder(mel).last_hidden_state
    found = {"encode/1": best(lambda: encoder(mel))}
    for batch in (1, 5, 8):
        windows = encoded.expand(batch, -1, -1).contiguous()
        past = decoder(torch.full((batch, 100), 440), encoder_hidden_states=windows, use_cache=True).past_key_values
        token = torch.full((batch, 1), 440)

        def step():
            hidden = decoder(token, encoder_hidden_states=windows, past_key_values=past, use_cache=True)
            model.proj_out(hidden.last_hidden_state).float()
            past.self_attention_cache.crop(-1)

        found[f"step/1/{batch}"] = best(step)
    return found


def tutti_parts(program):
    out = subprocess.run([program, "--benchmark_format=json", "--benchmark_min_time=0.5"], check=True, capture_output=True)
    return {run["name"].removesuffix("/real_time"): run["cpu_time" if torch.get_num_threads() == 1 else "real_time"] for run in json.loads(out.stdout)["benchmarks"]}


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ours, theirs = {}, {}
    openai = Whisper(TINY).eval()
    config = transformers.WhisperConfig(vocab_size=51864, d_model=384, encoder_layers=4, decoder_layers=4,
                                        encoder_attention_heads=6, decoder_attention_heads=6, encoder_ffn_dim=1536,
                                        decoder_ffn_dim=1536, max_target_positions=448)
    hugging_face = transformers.WhisperForConditionalGeneration(config).eval().bfloat16()
    for _ in range(rounds):
        with torch.inference_mode():
            parts = [(theirs, openai_parts(openai)), (theirs, transformers_parts(hugging_face)),
                     (ours, tutti_parts(sys.argv[1]))]
        for kept, found in parts:
            for name, value in found.items():
                kept[name] = min(value, kept.get(name, value))
    for name, value in ours.items():
        peer = theirs.get(name)
        against = "" if peer is None else f"  peer {peer:8.2f} ms  ratio {peer / value:5.2f}"
        print(f"{name:14} {value:8.2f} ms{against}")


if __name__ == "__main__":
    main()
