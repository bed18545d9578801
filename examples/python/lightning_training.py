#!/usr/bin/env python3
"""A training of Lightning on tutti.Feed: lightning_training.py SET [--steps N] [--checkpoint FILE] [--resume FILE].

The feed is the trainer's loader as it is. Lightning draws a batch ahead, so that the position belongs to the batch that the step
has used: each batch carries its own.
"""
import argparse

import lightning
import torch
import tutti


class Unlisted:
    """A feed without the names by which Lightning would keep a position of its own, which is a batch ahead."""

    def __init__(self, feed):
        self.feed = feed

    def __iter__(self):
        return iter(self.feed)


class Loudness(lightning.LightningModule):
    """Predicts each sample's loudness from its features, which any set has."""

    def __init__(self, feed):
        super().__init__()
        self.feed, self.position = feed, feed.state_dict()
        self.network = torch.nn.Sequential(torch.nn.Conv1d(80, 16, 3, padding=1), torch.nn.GELU(), torch.nn.Conv1d(16, 1, 1))

    def train_dataloader(self):
        return Unlisted(self.feed)

    def training_step(self, batch, _):
        features = batch.input_features
        loss = torch.nn.functional.mse_loss(self.network(features).mean((1, 2)), features.mean((1, 2)))
        self.position = batch.state
        print(f"batch {batch.index}: {len(batch.ids)} samples, loss {loss.item():.6f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)

    def on_save_checkpoint(self, checkpoint):
        checkpoint["feed"] = self.position

    def on_load_checkpoint(self, checkpoint):
        self.feed.load_state_dict(checkpoint["feed"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--checkpoint", default="training.ckpt")
    parser.add_argument("--resume")
    args = parser.parse_args()
    lightning.seed_everything(0)
    feed = tutti.Feed(args.data, batch_seconds=60, batch_size=16, epochs=0, seed=1)
    trainer = lightning.Trainer(max_steps=args.steps, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    with tutti.profile() as p:
        trainer.fit(Loudness(feed), ckpt_path=args.resume)
    trainer.save_checkpoint(args.checkpoint)
    print(p.finding)


if __name__ == "__main__":
    main()
