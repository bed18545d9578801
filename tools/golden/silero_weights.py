#!/usr/bin/env python3
"""Silero VAD's 16 kHz weights from its TorchScript file: data/silero_vad.f32, which is built into tutti.

Usage: silero_weights.py SHARED_DATA, in an environment with torch. The file is float32, little-endian, each tensor row-major
in the order of NAMES, without a header. The Fourier basis is left out: it is a Hann window times sines and cosines, which
this program checks.
"""
import math
import pathlib
import sys

import torch

NAMES = [f"encoder.{i}.reparam_conv.{part}" for i in range(4) for part in ("weight", "bias")]
NAMES += ["decoder.rnn.weight_ih", "decoder.rnn.weight_hh", "decoder.rnn.bias_ih", "decoder.rnn.bias_hh"]
NAMES += ["decoder.decoder.2.weight", "decoder.decoder.2.bias"]


def fourier_basis():
    n = torch.arange(256, dtype=torch.float64)
    hann = 0.5 - 0.5 * torch.cos(2 * math.pi * n / 256)
    angle = 2 * math.pi * torch.outer(torch.arange(129, dtype=torch.float64), n) / 256
    return torch.cat([torch.cos(angle), -torch.sin(angle)]) * hann


def main():
    state = torch.jit.load(pathlib.Path(sys.argv[1]) / "vad/silero_vad.jit").state_dict()
    assert (state["_model.stft.forward_basis_buffer"][:, 0] - fourier_basis()).abs().max() < 1e-6
    out = pathlib.Path(__file__).resolve().parents[2] / "data/silero_vad.f32"
    out.write_bytes(b"".join(state["_model." + name].contiguous().numpy().astype("<f4").tobytes() for name in NAMES))


if __name__ == "__main__":
    main()
