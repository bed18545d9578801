#!/usr/bin/env python3
"""Training steps of Hugging Face's Whisper in PyTorch eager: forward, backward, clipping, AdamW, on batches in memory.

Usage: train_step.py PRECISION BATCH STEPS      PRECISION: float32 or bfloat16 (autocast)
Prints {"seconds"}: the median of the steps behind the third. Shape, tokens and window are those of training.py.
"""
import contextlib
import json
import statistics
import sys
import time

from training import LAYERS, HEADS, TOKENS, VOCABULARY, WIDTH


def network():
    import transformers

    return transformers.WhisperForConditionalGeneration(transformers.WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=80, d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=LAYERS,
        encoder_attention_heads=HEADS, decoder_attention_heads=HEADS, encoder_ffn_dim=4 * WIDTH, decoder_ffn_dim=4 * WIDTH,
        max_source_positions=1500, max_target_positions=448, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0))


def main():
    import torch

    precision, rows, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    model = network().train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01, fused=True)
    rounding = torch.autocast("cpu", torch.bfloat16) if precision == "bfloat16" else contextlib.nullcontext()
    mel, tokens = torch.randn(rows, 80, 3000), torch.randint(0, 50000, (rows, TOKENS))
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        optimiser.zero_grad()
        with rounding:
            loss = model(input_features=mel, decoder_input_ids=tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": statistics.median(seconds[3:])}))


if __name__ == "__main__":
    main()
