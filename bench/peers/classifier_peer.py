#!/usr/bin/env python3
"""Field note 003's training in PyTorch: 400,000 segments of 64 mels x 1 frame in memory, batches of 8,192.

Usage: classifier_peer.py loader WORKERS | index_select | step
loader: batches of a TensorDataset by the DataLoader; index_select: the same rows gathered by index; step: index_select, forward,
backward, clipping and AdamW of the note's network, eager. Prints {"rate"}: segments a second.
"""
import json
import sys
import time

SEGMENTS, MELS, LABELS, BATCH, SECONDS = 400_000, 64, 5, 8192, 5.0


def data():
    import torch

    generator = torch.Generator().manual_seed(7)
    mel = torch.rand(SEGMENTS, MELS, 1, generator=generator).half()
    return mel, torch.randint(0, LABELS, (SEGMENTS,), generator=generator)


def loaded(workers):
    """Batches of the loader, epoch after epoch."""
    import torch

    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data()), batch_size=BATCH, shuffle=True,
                                         num_workers=workers, drop_last=True, persistent_workers=workers > 0)
    while True:
        yield from loader


def gathered():
    import torch

    mel, labels = data()
    while True:
        order = torch.randperm(SEGMENTS)
        for first in range(0, SEGMENTS - BATCH + 1, BATCH):
            rows = order[first:first + BATCH]
            yield mel.index_select(0, rows), labels.index_select(0, rows)


def network():
    """LeakCNNMulti's layers, with 3 x 3 kernels, and both heads."""
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.trunk = nn.Sequential(
                nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d((2, 1)),
                nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.MaxPool2d((2, 1)), nn.AdaptiveAvgPool2d((16, 1)), nn.Flatten(),
                nn.Dropout(0.25), nn.Linear(2048, 256), nn.ReLU(), nn.Dropout(0.25))
            self.labels, self.leak = nn.Linear(256, LABELS), nn.Linear(256, 1)

        def forward(self, rows):
            hidden = self.trunk(rows)
            return self.labels(hidden), self.leak(hidden).squeeze(1)

    found = sum(weight.numel() for weight in Network().parameters())
    assert found == 618_758, found
    return Network().train()


def stepped():
    import torch
    from torch.nn import functional

    model = network()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
    for mel, labels in gathered():
        optimiser.zero_grad()
        logits, leak = model(mel.float().unsqueeze(1))
        loss = functional.cross_entropy(logits, labels) + 0.3 * functional.binary_cross_entropy_with_logits(
            leak, labels.eq(2).float())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        yield mel, labels


def main():
    what = sys.argv[1]
    batches = {"loader": lambda: loaded(int(sys.argv[2])), "index_select": gathered, "step": stepped}[what]()
    next(batches)  # starts workers, chooses kernels
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        mel, _ = next(batches)
        count += len(mel)
    print(json.dumps({"rate": count / (time.perf_counter() - start)}))


if __name__ == "__main__":
    main()
