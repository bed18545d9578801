#!/usr/bin/env python3
"""Losses of 50 training steps by PyTorch and Hugging Face's Whisper, for tests/train/step_parity_test.cpp.

Usage: train_steps.py OUT.json (tests/data/train/steps.json). Weights, sounds and tokens follow from formulas that the
test repeats, so that the file holds nothing but what came out.
"""
import json
import math
import sys

import numpy as np
import torch
import transformers

STEPS, ROWS, TOKENS, VOCABULARY, FRAMES = 50, 4, 9, 1765, 200


def formula(count, phase, scale):
    return scale * np.sin(0.37 * np.arange(count, dtype=np.float64) + phase)


def fill(model):
    named = dict(model.named_parameters())
    for place, name in enumerate(sorted(named)):
        parameter = named[name]
        values = formula(parameter.numel(), place, 0.1)
        if "layer_norm.weight" in name:
            values += 1
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(values.astype(np.float32)).view_as(parameter))


def batch_of(step):
    mel = formula(ROWS * 80 * FRAMES, step, 1.0).astype(np.float32).reshape(ROWS, 80, FRAMES)
    told = [[(7 * row + 3 * at + step) % 256 for at in range(TOKENS)] for row in range(ROWS)]
    # Rows end one token apart; behind their ends nothing is asked.
    asked = [[(told[row][at] * 5 + 1) % 256 if at < TOKENS - row else -100 for at in range(TOKENS)]
             for row in range(ROWS)]
    return torch.from_numpy(mel), torch.tensor(told), torch.tensor(asked)


def rate_of(step):
    """Warm-up over 5 steps to 2e-3, then half a cosine to the end."""
    if step <= 5:
        return 2e-3 * step / 5
    return 2e-3 * 0.5 * (1 + math.cos(math.pi * (step - 6) / (STEPS - 5)))


def main():
    torch.set_num_threads(1)
    config = transformers.WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=80, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64,
        max_source_positions=100, max_target_positions=32, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0,
        pad_token_id=0, bos_token_id=0, eos_token_id=0, decoder_start_token_id=0, attn_implementation="eager")
    model = transformers.WhisperForConditionalGeneration(config)
    model.train()
    fill(model)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.01},
         {"params": [p for p in trained if p.dim() <= 1], "weight_decay": 0.0}], lr=1.0)
    losses, norms = [], []
    for step in range(1, STEPS + 1):
        for group in optimiser.param_groups:
            group["lr"] = rate_of(step)
        mel, told, asked = batch_of(step)
        optimiser.zero_grad()
        loss = model(input_features=mel, decoder_input_ids=told, labels=asked).loss
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(trained, 1.0).item())
        optimiser.step()
        losses.append(loss.item())
    with open(sys.argv[1], "w") as out:
        json.dump({"torch": torch.__version__, "transformers": transformers.__version__, "losses": losses,
                   "gradient_norms": norms}, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
