#!/usr/bin/env python3
"""Answers, losses and gradients of note 003's network by PyTorch, for tests/train/classifier_test.cpp.

Usage: classifier.py OUT.json (tests/data/train/classifier.json). Weights, features and labels follow from formulas that
the test repeats, so that the file holds nothing but what came out.
"""
import json
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

ROWS, MELS, LABELS, AGAINST = 6, 64, 5, 2
WEIGHTS = [0.5, 2.0, 1.5, 0.25, 0.75]


class LeakCnnMulti(nn.Module):
    """Note 003's network, as its code describes it."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.conv3 = nn.Conv2d(64, 128, 3, padding=1)
        self.hidden = nn.Linear(2048, 256)
        self.head = nn.Linear(256, LABELS)
        self.against = nn.Linear(256, 1)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), (2, 1))
        x = F.max_pool2d(F.relu(self.conv3(x)), (2, 1))
        x = F.adaptive_avg_pool2d(x, (16, 1)).flatten(1)
        x = F.relu(self.hidden(x))
        return self.head(x), self.against(x).squeeze(1)


def formula(count, phase, scale):
    return torch.from_numpy((scale * np.sin(0.37 * np.arange(count, dtype=np.float64) + phase)).astype(np.float32))


def losses_of(kind, model, x, y):
    logits, against = model(x)
    each = F.cross_entropy(logits, y, reduction="none")
    if kind == "focal":
        each = 0.75 * (1 - torch.exp(-each)) ** 2 * each
    each = each * torch.tensor(WEIGHTS)[y]
    return each.sum() + 0.3 * F.binary_cross_entropy_with_logits(against, (y == AGAINST).float(), reduction="sum")


def rounded(value):
    """Seven digits: what float32 has."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def main():
    torch.set_num_threads(1)
    model = LeakCnnMulti()
    parameters = [p for name in ("conv1", "conv2", "conv3", "hidden", "head", "against")
                  for p in getattr(model, name).parameters()]
    for place, parameter in enumerate(parameters):
        with torch.no_grad():
            parameter.copy_(formula(parameter.numel(), place, 0.05).view_as(parameter))
    x = formula(ROWS * MELS, 0.5, 1.0).view(ROWS, 1, MELS, 1)
    y = torch.tensor([row % LABELS for row in range(ROWS)])
    logits, against = model(x)
    out = {"torch": torch.__version__, "parameters": sum(p.numel() for p in parameters),
           "labels": logits.flatten().tolist(), "against": against.tolist(), "losses": {}, "gradient_norms": {}}
    for kind in ("cross-entropy", "focal"):
        model.zero_grad()
        loss = losses_of(kind, model, x, y)
        loss.backward()
        out["losses"][kind] = loss.item()
        out["gradient_norms"][kind] = [p.grad.norm().item() for p in parameters]
    with open(sys.argv[1], "w") as file:
        file.write(json.dumps(rounded(out)) + "\n")


if __name__ == "__main__":
    main()
