#!/usr/bin/env python3
"""What a small voice network computes by PyTorch's modules, for tests/train/voice_test.cpp.

Usage: voice.py OUT.json (tests/data/train/voice.json). Weights and inputs follow from formulas that the test repeats, so
that the file holds nothing but what came out: means, log durations, velocities, losses, norms of gradients.
"""
import json
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

from classifier import formula, rounded

SHAPE = dict(symbols=7, speakers=2, mels=8, width=16, layers=2, heads=2, inner=24, duration_width=12, decoder_width=20,
             decoder_layers=2, decoder_inner=28, positions=6)
ROWS, LENGTH, FRAMES, CROP, TIME_WIDTH = 2, 5, 150, 128, 64
COUNTS, FRAME_COUNTS = [5, 3], [150, 140]


def slots(s):
    """Names and shapes in the order of the network."""
    def linear(name, out, in_):
        return [(name + ".weight", (out, in_)), (name + ".bias", (out,))]

    def norm(name, size):
        return [(name + ".weight", (size,)), (name + ".bias", (size,))]

    all_ = [("encoder.symbols", (s["symbols"], s["width"])), ("encoder.speakers", (s["speakers"], s["width"]))]
    w, d = s["width"], s["decoder_width"]
    for i in range(2):
        all_ += linear(f"encoder.prenet.{i}", w, 5 * w) + norm(f"encoder.prenet.{i}_norm", w)
    for i in range(s["layers"]):
        n = f"encoder.layers.{i}."
        all_ += norm(n + "attention_norm", w) + linear(n + "query_key_value", 3 * w, w) + linear(n + "out", w, w)
        all_ += norm(n + "inner_norm", w) + linear(n + "expand", s["inner"], 3 * w) + linear(n + "contract", w, 3 * s["inner"])
    all_ += norm("encoder.norm", w) + linear("encoder.mean", s["mels"], w)
    for i in range(2):
        all_ += linear(f"durations.{i}", s["duration_width"], 3 * (w if i == 0 else s["duration_width"]))
        all_ += norm(f"durations.{i}_norm", s["duration_width"])
    all_ += linear("durations.out", 1, s["duration_width"])
    all_ += linear("decoder.condition", d, w + s["mels"]) + [("decoder.position", (d, s["positions"]))]
    all_ += linear("decoder.noisy", d, s["mels"])
    all_ += linear("decoder.time", TIME_WIDTH, TIME_WIDTH)
    for i in range(s["decoder_layers"]):
        n = f"decoder.blocks.{i}."
        all_ += linear(n + "film", 2 * d, TIME_WIDTH) + [(n + "depthwise.weight", (d, 1, 7)), (n + "depthwise.bias", (d,))]
        all_ += norm(n + "norm", d) + linear(n + "expand", s["decoder_inner"], d) + linear(n + "contract", d, s["decoder_inner"])
    return all_ + norm("decoder.norm", d) + linear("decoder.velocity", s["mels"], d)


class Net:
    """The forward pass, for one row of true length: no masks, no padding."""

    def __init__(self, weights):
        self.w = weights

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".weight"], self.w[name + ".bias"])

    def conv(self, x, name, taps):
        """x [length, in]; the weight [out, taps * in] as torch's [out, in, taps]."""
        weight = self.w[name + ".weight"]
        kernel = weight.view(weight.shape[0], taps, x.shape[1]).transpose(1, 2)
        return F.conv1d(x.T.unsqueeze(0), kernel, self.w[name + ".bias"], padding=taps // 2)[0].T

    def rotated(self, x):
        """x [heads, length, width]: complex numbers turned by their position."""
        half = x.shape[2] // 2
        speeds = 10000.0 ** (-torch.arange(half) / half)
        turns = torch.polar(torch.ones(x.shape[1], half), torch.arange(x.shape[1])[:, None] * speeds)
        turned = torch.complex(x[..., :half], x[..., half:]) * turns
        return torch.cat([turned.real, turned.imag], 2)

    def encode(self, symbols, speaker):
        s = SHAPE
        x = self.w["encoder.symbols"][symbols]
        for i in range(2):
            x = x + self.norm(F.relu(self.conv(x, f"encoder.prenet.{i}", 5)), f"encoder.prenet.{i}_norm")
        x = x + self.w["encoder.speakers"][speaker]
        for i in range(s["layers"]):
            n = f"encoder.layers.{i}."
            qkv = self.linear(self.norm(x, n + "attention_norm"), n + "query_key_value")
            q, k, v = (part.view(len(symbols), s["heads"], -1).transpose(0, 1) for part in qkv.chunk(3, 1))
            q, k = self.rotated(q), self.rotated(k)
            seen = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[2]), 2) @ v
            x = x + self.linear(seen.transpose(0, 1).reshape(len(symbols), -1), n + "out")
            inner = F.relu(self.conv(self.norm(x, n + "inner_norm"), n + "expand", 3))
            x = x + self.conv(inner, n + "contract", 3)
        x = self.norm(x, "encoder.norm")
        mean = self.linear(x, "encoder.mean")
        y = x.detach()
        for i in range(2):
            y = self.norm(F.relu(self.conv(y, f"durations.{i}", 3)), f"durations.{i}_norm")
        return mean, self.linear(torch.cat([mean, x], 1), "decoder.condition"), self.linear(y, "durations.out")[:, 0]

    def placed(self, durations):
        """What the decoder adds to each frame of a row: where within its symbol the frame lies."""
        rows = [[math.log(lasting)] + [math.cos(math.pi * k * (i + 0.5) / lasting) for k in range(1, SHAPE["positions"])]
                for lasting in durations.tolist() for i in range(lasting)]
        return F.linear(torch.tensor(rows), self.w["decoder.position"])

    def velocity(self, noisy, time, condition):
        half = TIME_WIDTH // 2
        speeds = 10000.0 ** (-torch.arange(half) / (half - 1))
        angles = 1000 * time * speeds
        features = F.silu(self.linear(torch.cat([torch.sin(angles), torch.cos(angles)]), "decoder.time"))
        x = self.linear(noisy, "decoder.noisy") + condition
        for i in range(SHAPE["decoder_layers"]):
            n = f"decoder.blocks.{i}."
            y = F.conv1d(x.T.unsqueeze(0), self.w[n + "depthwise.weight"], self.w[n + "depthwise.bias"], padding=3,
                         groups=x.shape[1])[0].T
            factor, shift = self.linear(features, n + "film").chunk(2)
            y = self.norm(y, n + "norm") * (1 + factor) + shift
            x = x + self.linear(F.gelu(self.linear(y, n + "expand")), n + "contract")
        return self.linear(self.norm(x, "decoder.norm"), "decoder.velocity")


def best_durations(scores):
    """[frames, symbols] by the plain recursion over all prefixes."""
    frames, symbols = scores.shape
    best = np.full((frames, symbols), -np.inf)
    best[0, 0] = scores[0, 0]
    for f in range(1, frames):
        for t in range(symbols):
            best[f, t] = scores[f, t] + max(best[f - 1, t], best[f - 1, t - 1] if t else -np.inf)
    durations, t = [0] * symbols, symbols - 1
    for f in range(frames - 1, -1, -1):
        durations[t] += 1
        if f and t and (t == f or best[f - 1, t - 1] > best[f - 1, t]):
            t -= 1
    return durations


def main():
    weights = {}
    for i, (name, shape) in enumerate(slots(SHAPE)):
        values = formula(math.prod(shape), float(i), 0.3).reshape(shape)
        if "norm.weight" in name:
            values = values + 1
        weights[name] = values.requires_grad_(True)
    net = Net(weights)
    symbols = (torch.arange(ROWS * LENGTH) * 3 % SHAPE["symbols"]).view(ROWS, LENGTH)
    mel = formula(ROWS * FRAMES * SHAPE["mels"], 0.5, 1.0).view(ROWS, FRAMES, -1)
    noise = formula(ROWS * CROP * SHAPE["mels"], 0.9, 1.0).view(ROWS, CROP, -1)
    crop, time = [0.75, 0.25], [0.3, 0.8]
    out = dict(means=[], log_durations=[], durations=[], velocities=[], prior=[], duration_losses=[], flow=[])
    total = 0
    for row in range(ROWS):
        count, frames = COUNTS[row], FRAME_COUNTS[row]
        mean, condition, logs = net.encode(symbols[row, :count], row)
        y = mel[row, :frames]
        scores = -0.5 * ((y[:, None] - mean[None].detach()) ** 2).sum(2)
        durations = torch.tensor(best_durations(scores.numpy()))
        index = torch.repeat_interleave(torch.arange(count), durations)
        prior = 0.5 * F.mse_loss(y, mean[index])
        duration = 2 * F.poisson_nll_loss(logs, durations.float()) / durations.float().mean()
        duration = duration + 2 * (durations * (durations.float().log() - 1)).mean() / durations.float().mean()
        spare = max(0, frames - CROP)
        first = min(int(crop[row] * (spare + 1)), spare)
        target, aligned = y[first:first + CROP], (condition[index] + net.placed(durations))[first:first + CROP]
        noisy = (1 - time[row]) * noise[row] + time[row] * target
        velocity = net.velocity(noisy, time[row], aligned)
        flow = F.mse_loss(velocity, target - noise[row])
        total = total + prior + duration + flow
        out["means"].append(mean.flatten().tolist())
        out["log_durations"].append(logs.tolist())
        out["durations"].append(durations.tolist())
        out["velocities"].append(velocity[::16].flatten().tolist())
        out["prior"].append(prior.item())
        out["duration_losses"].append(duration.item())
        out["flow"].append(flow.item())
    total.backward()
    out["gradient_norms"] = [weights[name].grad.norm().item() for name, _ in slots(SHAPE)]
    with open(sys.argv[1], "w") as file:
        json.dump(rounded(out), file)
        file.write("\n")


if __name__ == "__main__":
    main()
