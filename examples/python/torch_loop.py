#!/usr/bin/env python3
"""A training loop of PyTorch on tutti.Feed: torch_loop.py SET [--steps N] [--checkpoint FILE].

Predicts each sample's loudness from its features, which any set has. A second run with the same file goes on exactly where the
first one ended. At the end it prints what limits the loop.
"""
import argparse
import pathlib

import torch
import tutti


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="a folder, a manifest or shards, as `tutti train whisper --data` takes them")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--checkpoint", type=pathlib.Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Conv1d(80, 16, 3, padding=1), torch.nn.GELU(), torch.nn.Conv1d(16, 1, 1)).to(args.device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)
    feed = tutti.Feed(args.data, batch_seconds=60, batch_size=16, padding="bucket", epochs=0, seed=1,
                      augment=tutti.Augment(noise_share=0.3, mask_bands=2), device=args.device,
                      pin_memory=args.device != "cpu")
    if args.checkpoint and args.checkpoint.exists():
        saved = torch.load(args.checkpoint, weights_only=True)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        feed.load_state_dict(saved["feed"])

    with tutti.profile() as p:
        for _, batch in zip(range(args.steps), feed):
            features = batch.input_features  # [samples, 80, frames] on the device
            loss = torch.nn.functional.mse_loss(network(features).mean((1, 2)), features.mean((1, 2)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"batch {batch.index}: {len(batch.ids)} samples, loss {loss.item():.4f}")
    print(p.finding)

    if args.checkpoint:
        torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(), "feed": feed.state_dict()},
                   args.checkpoint)


if __name__ == "__main__":
    main()
