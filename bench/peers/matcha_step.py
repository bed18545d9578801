#!/usr/bin/env python3
"""Training steps of Matcha-TTS's own code (PyPI matcha-tts), its alignment in the training thread, as its trainer has it.

Usage: matcha_step.py ROWS SYMBOLS FRAMES STEPS
Its shape is Matcha's with fewer channels, so that it has as many parameters as a voice of nano's shape, 5.1 million: four encoder
layers of 192, a decoder of 80. Crops of 128 frames (out_size). Forward, backward, clipping, AdamW.
Prints {"seconds", "parameters"}: the median of the steps behind the third.
"""
import sys
from types import SimpleNamespace

import torch
from matcha.models.matcha_tts import MatchaTTS

from timed_steps import print_step_time

VOCABULARY, MELS, CROP, DECODER_WIDTH = 62, 80, 128, 80

ENCODER = SimpleNamespace(
    encoder_type="RoPE Encoder",
    encoder_params=SimpleNamespace(n_feats=MELS, n_channels=192, filter_channels=512, filter_channels_dp=192, n_heads=2, n_layers=4,
                                   kernel_size=3, p_dropout=0.1, spk_emb_dim=64, n_spks=1, prenet=True),
    duration_predictor_params=SimpleNamespace(filter_channels_dp=192, kernel_size=3, p_dropout=0.1))
DECODER = {"channels": [DECODER_WIDTH, DECODER_WIDTH], "dropout": 0.05, "attention_head_dim": 64, "n_blocks": 1, "num_mid_blocks": 2, "num_heads": 2,
           "act_fn": "snakebeta"}


def main():
    rows, length, frames, steps = map(int, sys.argv[1:5])
    torch.manual_seed(1)
    model = MatchaTTS(VOCABULARY, 1, 64, MELS, ENCODER, DECODER, SimpleNamespace(name="CFM", solver="euler", sigma_min=1e-4),
                      {"mel_mean": 0.0, "mel_std": 1.0}, CROP).train()
    symbols, mel = torch.randint(0, VOCABULARY, (rows, length)), torch.randn(rows, MELS, frames)
    lengths = torch.full((rows,), length), torch.full((rows,), frames)
    print_step_time(model, lambda: sum(model(symbols, lengths[0], mel, lengths[1], out_size=CROP)[:3]), steps)


if __name__ == "__main__":
    main()
