#!/usr/bin/env python3
"""Fine-tunes Whisper by Hugging Face's Trainer on tutti.Feed: huggingface_trainer.py SET [--model NAME] [--out DIR] [--steps N].

The loader is all that changes in a script: `get_train_dataloader` returns the feed. Its position is in each checkpoint, so that a
run that goes on (--resume CHECKPOINT) has the batches that the interrupted one would have had.
"""
import argparse
import os
import pathlib

import torch
import transformers
import tutti

POSITION = "feed.pt"  # in each checkpoint


class FeedTrainer(transformers.Trainer):
    """The Trainer with a feed for a loader."""

    def __init__(self, feed, **kwargs):
        super().__init__(callbacks=[KeepPosition(feed)], **kwargs)
        self.feed = feed

    def get_train_dataloader(self):
        return self.feed.inputs()


class KeepPosition(transformers.TrainerCallback):
    """Writes where the feed is into each checkpoint."""

    def __init__(self, feed):
        self.feed = feed

    def on_save(self, args, state, control, **kwargs):
        folder = pathlib.Path(args.output_dir) / f"checkpoint-{state.global_step}"
        torch.save(self.feed.state_dict(), folder / POSITION)


def pretrained(name):
    """A model, and a function that makes token ids of a text; the model itself puts the start token in front."""
    processor = transformers.WhisperProcessor.from_pretrained(name)
    return (transformers.WhisperForConditionalGeneration.from_pretrained(name),
            lambda text: processor.tokenizer(text).input_ids[1:])


def tiny_random():
    """The same of a network that has learned nothing: for a trial on any machine."""
    transformers.set_seed(0)
    config = transformers.WhisperConfig(vocab_size=260, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                                        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, pad_token_id=256,
                                        bos_token_id=257, eos_token_id=258, decoder_start_token_id=257)
    return transformers.WhisperForConditionalGeneration(config), lambda text: [*text.encode(), 258]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--model", default="openai/whisper-tiny.en", help="of the hub; 'random': a tiny one that knows nothing")
    parser.add_argument("--out", default="finetuned")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--save-steps", type=int, default=50)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--resume", type=pathlib.Path)
    args = parser.parse_args()

    model, tokenizer = tiny_random() if args.model == "random" else pretrained(args.model)
    feed = tutti.Feed(args.data, padding="window", batch_size=args.batch_size, epochs=0, seed=1, tokenizer=tokenizer,
                      rank=int(os.environ.get("RANK", "0")), world_size=int(os.environ.get("WORLD_SIZE", "1")))
    if args.resume:
        feed.load_state_dict(torch.load(args.resume / POSITION, weights_only=True))
    settings = transformers.TrainingArguments(
        output_dir=args.out, max_steps=args.steps, save_steps=args.save_steps, logging_steps=1, learning_rate=1e-5,
        per_device_train_batch_size=args.batch_size, report_to=[], ignore_data_skip=True)  # the feed finds its place itself
    trainer = FeedTrainer(feed, model=model, args=settings)
    with tutti.profile() as p:
        trainer.train(resume_from_checkpoint=str(args.resume) if args.resume else None)
    print(p.finding)
    for entry in trainer.state.log_history:
        if "loss" in entry:
            print(f"step {entry['step']} loss {float(entry['loss']):.6f}")


if __name__ == "__main__":
    main()
