#!/usr/bin/env python3
"""Training steps of a voice of nano's shape in PyTorch eager, with the alignment in the training thread, as Matcha-TTS has it.

Usage: voice_step.py ROWS SYMBOLS FRAMES STEPS
Text encoder with rotary positions, durations, a flow-matching decoder of ConvNeXt blocks on crops of 128 frames; monotonic
alignment over whole clips by Glow-TTS's recursion, compiled by numba, a thread a clip. Forward, backward, clipping, AdamW.
Prints {"seconds", "parameters"}: the median of the steps behind the third.
"""
import sys

import numba
import numpy as np
import torch
from torch import nn
from torch.nn import functional

from timed_steps import print_step_time

VOCABULARY, MELS, WIDTH, LAYERS, HEADS, INNER = 62, 80, 192, 4, 2, 512
DURATIONS, DECODER, BLOCKS, DECODER_INNER, TIME, CROP = 192, 192, 6, 576, 64, 128


@numba.njit(parallel=True)
def alignments(values, symbols, frames):
    """values [rows, symbols, frames], overwritten -> [rows, symbols, frames] of ones on the paths (Glow-TTS's core.pyx)."""
    paths = np.zeros(values.shape, np.int32)
    for row in numba.prange(values.shape[0]):
        value, path, n, m = values[row], paths[row], symbols[row], frames[row]
        for y in range(m):
            for x in range(max(0, n + y - m), min(n, y + 1)):
                current = -1e9 if x == y else value[x, y - 1]
                previous = (0.0 if y == 0 else -1e9) if x == 0 else value[x - 1, y - 1]
                value[x, y] += max(current, previous)
        index = n - 1
        for y in range(m - 1, -1, -1):
            path[index, y] = 1
            if index != 0 and (index == y or value[index, y - 1] < value[index - 1, y - 1]):
                index -= 1
    return paths


class Conv(nn.Module):
    """A convolution over time of [rows, length, channels]."""

    def __init__(self, into, out, taps):
        super().__init__()
        self.conv = nn.Conv1d(into, out, taps, padding=taps // 2)

    def forward(self, x):
        return self.conv(x.transpose(1, 2)).transpose(1, 2)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.joined, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.expand, self.contract = Conv(WIDTH, INNER, 3), Conv(INNER, WIDTH, 3)

    def forward(self, x):
        rows, length, _ = x.shape
        q, k, v = self.joined(self.first(x)).view(rows, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        half = q.shape[-1] // 2
        angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(half) / half)
        turned = [torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)
                  for a, b in (t.chunk(2, -1) for t in (q, k))]
        mixed = functional.scaled_dot_product_attention(*turned, v)
        x = x + self.out(mixed.transpose(1, 2).reshape(rows, length, -1))
        return x + self.contract(torch.relu(self.expand(self.second(x))))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.film, self.norm = nn.Linear(TIME, 2 * DECODER), nn.LayerNorm(DECODER)
        self.depthwise = nn.Conv1d(DECODER, DECODER, 7, padding=3, groups=DECODER)
        self.expand, self.contract = nn.Linear(DECODER, DECODER_INNER), nn.Linear(DECODER_INNER, DECODER)

    def forward(self, x, time):
        scale, shift = self.film(time).unsqueeze(1).chunk(2, 2)
        y = self.norm(self.depthwise(x.transpose(1, 2)).transpose(1, 2)) * (1 + scale) + shift
        return x + self.contract(functional.gelu(self.expand(y)))


class Voice(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbols = nn.Embedding(VOCABULARY, WIDTH)
        self.prenet = nn.ModuleList(nn.Sequential(Conv(WIDTH, WIDTH, 5), nn.ReLU(), nn.LayerNorm(WIDTH)) for _ in range(2))
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.mean = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, MELS)
        self.durations = nn.Sequential(Conv(WIDTH, DURATIONS, 3), nn.ReLU(), nn.LayerNorm(DURATIONS),
                                       Conv(DURATIONS, DURATIONS, 3), nn.ReLU(), nn.LayerNorm(DURATIONS), nn.Linear(DURATIONS, 1))
        self.condition, self.noisy, self.time = nn.Linear(WIDTH + MELS, DECODER), nn.Linear(MELS, DECODER), nn.Linear(TIME, TIME)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.last, self.velocity = nn.LayerNorm(DECODER), nn.Linear(DECODER, MELS)

    def forward(self, symbols, mel):
        rows, frames = mel.shape[:2]
        x = self.symbols(symbols)
        for conv in self.prenet:
            x = x + conv(x)
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        mean = self.mean(x)
        with torch.no_grad():
            scores = torch.bmm(mean, mel.transpose(1, 2)) - 0.5 * mean.square().sum(2, keepdim=True)
            lengths = np.full(rows, symbols.shape[1]), np.full(rows, frames)
            path = torch.from_numpy(alignments(scores.contiguous().numpy(), *lengths)).float()
        logs = self.durations(x.detach()).squeeze(2)
        duration = (logs - path.sum(2).clamp_min(1).log()).square().mean()
        prior = 0.5 * (mel - torch.bmm(path.transpose(1, 2), mean)).square().mean()
        first = torch.randint(0, max(1, frames - CROP), ()).item()
        target, crop = mel[:, first:first + CROP], path[:, :, first:first + CROP].transpose(1, 2)
        noise, time = torch.randn_like(target), torch.rand(rows, 1, 1)
        angles = 1000 * time[:, 0] * 10000.0 ** (-torch.arange(TIME // 2) / (TIME // 2 - 1))
        features = functional.silu(self.time(torch.cat([angles.sin(), angles.cos()], 1)))
        y = self.noisy((1 - time) * noise + time * target) + torch.bmm(crop, self.condition(torch.cat([mean, x], 2)))
        for block in self.blocks:
            y = block(y, features)
        return prior + duration + (self.velocity(self.last(y)) - (target - noise)).square().mean()


def main():
    rows, length, frames, steps = map(int, sys.argv[1:5])
    torch.manual_seed(1)
    model = Voice().train()
    symbols, mel = torch.randint(0, VOCABULARY, (rows, length)), torch.randn(rows, frames, MELS)
    print_step_time(model, lambda: model(symbols, mel), steps)


if __name__ == "__main__":
    main()
