#!/usr/bin/env python3
"""A classifier of Tutti in PyTorch: classifier.py OUT/model FILE.wav... (16-bit WAV at its rate), or --onnx FILE."""
import json
import pathlib
import sys
import wave

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file


def spectrogram(samples, g):
    """[n_mels, frames] decibels: magnitudes, HTK mels, 20 log10 above 1e-10 and above the loudest less top_db."""
    edges = torch.linspace(0, 2595 * np.log10(1 + g["sample_rate"] / 1400), g["n_mels"] + 2, dtype=torch.double)
    edges = 700 * (10 ** (edges / 2595) - 1)
    if g.get("linear"):
        edges = torch.linspace(0, g["sample_rate"] / 2, g["n_mels"] + 2, dtype=torch.double)
    bins = torch.linspace(0, g["sample_rate"] / 2, g["n_fft"] // 2 + 1, dtype=torch.double)[:, None]
    low, peak, high = edges[:-2], edges[1:-1], edges[2:]
    filters = torch.minimum((bins - low) / (peak - low), (high - bins) / (high - peak)).clamp_min(0)
    frames = samples.double().unfold(0, g["n_fft"], g["hop_length"]) * torch.hann_window(g["n_fft"], dtype=torch.double)
    mel = 20 * torch.log10((torch.fft.rfft(frames).abs() @ filters).clamp_min(1e-10)).T
    return mel.clamp_min(mel.max() - g["top_db"]) if g["top_db"] else mel


def baseline(weights, mel):
    """The same answer for all segments of a clip: [1, labels]."""
    x = torch.cat([mel.double().mean((0, 2)), mel.double().transpose(0, 1).flatten(1).std(1, correction=0)])
    return F.linear(x, *(weights[name].double() for name in ("baseline.weight", "baseline.bias"))).softmax(0)[None]


def answers(config, weights, mel):
    """[segments, n_mels, frames] decibels -> probability of each label, [segments, labels]."""
    if "baseline" in config:
        return baseline(weights, mel)
    shape = config["network"]
    mean, deviation = (torch.tensor(config["normalisation"][name])[:, None] for name in ("mean", "deviation"))
    normalised = (mel - mean) / deviation
    x = normalised.unsqueeze(1)
    for number, pool in enumerate(shape["pools"], 1):
        x = F.relu(F.conv2d(x, weights[f"conv{number}.weight"], weights[f"conv{number}.bias"], padding=1))
        x = F.max_pool2d(x, [min(pool[0], int(x.shape[2])), min(pool[1], int(x.shape[3]))])
    x = F.adaptive_avg_pool2d(x, shape["grid"]).flatten(1)
    x = F.relu(F.linear(x, weights["hidden.weight"], weights["hidden.bias"]))
    network = F.linear(x, weights["head.weight"], weights["head.bias"]).softmax(1)
    if not config.get("mixed"):
        return network
    both = network.clamp_min(1e-9).log() + baseline(weights, normalised).float().clamp_min(1e-9).log()
    return (0.5 * both).softmax(1)


def segments(samples, g):
    """[segments, n_mels, frames] of the first clip, in the half precision that sets have."""
    clip = F.pad(samples[: g["clip_samples"]], (0, max(0, g["clip_samples"] - len(samples))))
    starts = [i * g["long_hop"] + j * g["short_hop"] for i in range(g["longs"]) for j in range(g["shorts"])]
    return torch.stack([spectrogram(clip[at : at + g["short_window"]], g) for at in starts]).half().float()


folder = pathlib.Path(sys.argv[1])
config = json.loads((folder / "config.json").read_text())
weights = {name: weight.float() for name, weight in load_file(folder / "model.safetensors").items()}
g = config["geometry"]
if sys.argv[2] == "--onnx":  # needs the packages onnx and onnxscript; input "mel", output "probabilities"
    network, mel = torch.nn.Module(), segments(torch.zeros(g["clip_samples"]), g)
    network.forward = lambda mel: answers(config, weights, mel)
    names = {"input_names": ["mel"], "output_names": ["probabilities"]}
    torch.onnx.export(network.eval(), (mel.repeat(2, 1, 1),), sys.argv[3], dynamo=False,
                      dynamic_axes={"mel": {0: "segments"}, "probabilities": {0: "segments"}}, **names)
    sys.exit()
for name in sys.argv[2:]:
    with wave.open(name) as file:
        pcm = np.frombuffer(file.readframes(file.getnframes()), np.int16).reshape(-1, file.getnchannels())
    scores = answers(config, weights, segments(torch.from_numpy(pcm.mean(1) / 32768).float(), g)).mean(0)
    print(json.dumps({"file": name, "scores": dict(zip(config["labels"], scores.tolist()))}))
